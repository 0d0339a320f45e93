/** Where a Service that an API object names can be dialled: at its endpoints, since addresses of Services need not be routed where the server runs. */
import type { Service } from "../../api/core-v1/types.ts";
import type { EndpointSlice } from "../../api/discovery-v1/types.ts";
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { findObject, findObjects } from "../registry/rule-context.ts";
import type { ServerState } from "../server-state.ts";

export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Ready endpoints of the Service, at least one, or the name that it stands for. Throws an Error that says why there is none. */
export function serviceAddresses(server: ServerState, { namespace, name, port }: ServicePort): Address[] {
  const { spec } = (findObject(server, "/services", namespace, name) ?? missing(`service ${goQuote(name)} not found`)) as unknown as Service;
  if (spec?.type === "ExternalName") return [{ host: spec.externalName ?? "", port }];
  const servicePort = (spec?.ports ?? []).find((candidate) => candidate.port === port) ?? missing(`no service port ${port} found for service ${goQuote(name)}`);
  const found = slicesOf(server, namespace, name).flatMap(({ endpoints, ports }) => {
    const targetPort = (ports ?? []).find((candidate) => (candidate.name ?? "") === (servicePort.name ?? ""))?.port;
    if (targetPort === undefined) return [];
    return (endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses }) => (addresses?.[0] === undefined ? [] : [{ host: addresses[0], port: targetPort }]));
  });
  return found.length > 0 ? found : missing(`no endpoints available for service ${goQuote(name)}`);
}

export function slicesOf(server: ServerState, namespace: string, name: string): EndpointSlice[] {
  const slices = findObjects(server, "discovery.k8s.io/endpointslices", namespace) as unknown as EndpointSlice[];
  return slices.filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === name);
}

function missing(text: string): never {
  throw new Error(text);
}

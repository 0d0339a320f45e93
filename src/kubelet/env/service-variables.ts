/** Variables that tell a container of the Services of its namespace (documentation page "Service", "Environment variables"). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Service, ServicePort } from "../../api/core-v1/types.ts";

/** `kubernetes` of namespace `default` is told everywhere; the others only with `enableServiceLinks`. Names have the Services' own ports. */
export function serviceVariables(
  services: readonly DeepReadonly<Service>[],
  { namespace, isLinked, placeOf = clusterPlace }: { namespace: string; isLinked: boolean; placeOf?: ServicePlace },
): Map<string, string> {
  const chosen = new Map<string, DeepReadonly<Service>>();
  for (const service of services) {
    const { name = "", namespace: home = "" } = service.metadata;
    const address = service.spec?.clusterIP ?? "";
    if (address === "" || address === "None") continue;
    if (home === "default" && name === "kubernetes") {
      if (!chosen.has(name)) chosen.set(name, service);
    } else if (isLinked && home === namespace) chosen.set(name, service);
  }
  const variables = new Map<string, string>();
  for (const service of chosen.values()) addService(variables, service, placeOf);
  return variables;
}

/** Where a port of a Service answers. */
export type ServicePlace = (service: DeepReadonly<Service>, port: DeepReadonly<ServicePort>) => { readonly address: string; readonly port: number };

const clusterPlace: ServicePlace = ({ spec }, { port }) => ({ address: spec?.clusterIP ?? "", port });

function addService(variables: Map<string, string>, service: DeepReadonly<Service>, placeOf: ServicePlace): void {
  const prefix = variableName(service.metadata.name ?? "");
  const ports = service.spec?.ports ?? [];
  const [first] = ports;
  if (first === undefined) return;
  const firstPlace = placeOf(service, first);
  variables.set(`${prefix}_SERVICE_HOST`, firstPlace.address);
  variables.set(`${prefix}_SERVICE_PORT`, String(firstPlace.port));
  for (const port of ports) {
    if (port.name !== undefined && port.name !== "") variables.set(`${prefix}_SERVICE_PORT_${variableName(port.name)}`, String(placeOf(service, port).port));
  }
  ports.forEach((port, index) => {
    const { protocol = "TCP" } = port;
    const place = placeOf(service, port);
    const lower = protocol.toLowerCase();
    const url = `${lower}://${place.address.includes(":") ? `[${place.address}]` : place.address}:${place.port}`;
    const portPrefix = `${prefix}_PORT_${port.port}_${protocol.toUpperCase()}`;
    if (index === 0) variables.set(`${prefix}_PORT`, url);
    variables.set(portPrefix, url);
    variables.set(`${portPrefix}_PROTO`, lower);
    variables.set(`${portPrefix}_PORT`, String(place.port));
    variables.set(`${portPrefix}_ADDR`, place.address);
  });
}

const variableName = (name: string) => name.toUpperCase().replaceAll("-", "_");

/** `pods/proxy`, `services/proxy`, `nodes/proxy`: an HTTP request passed on (documentation page "Access Services Running on Clusters"). */
import { BlockList, isIP } from "node:net";
import type { EndpointSlice } from "../../../api/discovery-v1/types.ts";
import type { Node, Pod } from "../../../api/core-v1/types.ts";
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { goQuote } from "../../../apimachinery/go/go-quote.ts";
import { StatusError, badRequestError, notFoundError } from "../../../apimachinery/status.ts";
import { requireCreate } from "../../authz/create-right.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { findObject, findObjects } from "../../registry/rule-context.ts";
import type { RequestContext } from "../../request-context.ts";
import type { ForwardTarget } from "../../streaming/node-connector.ts";

export async function handleProxy(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const { namespace, name } = context.info;
  await context.server.admission.connect({ context, definition, subresource: "proxy", namespace, name });
  const target = targetOf(context, definition);
  if (!isAllowedAddress(target.address)) throw badRequestError("address not allowed");
  if (target.isNode && context.request.method === "GET" && actsOnContainers.test(decodeURIComponent(pathBehind(context)))) await requireCreate(context);
  const { method, headers, query, body, signal } = context.request;
  const request = { method, path: pathBehind(context), query, headers: forwarded(headers), body, signal };
  try {
    return await context.server.nodes.forward(target, request);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw new StatusError(
      { message: `error trying to reach service: ${error instanceof Error ? error.message : String(error)}`, reason: "ServiceUnavailable", code: 503 },
      error,
    );
  }
}

/** Paths of a kubelet that run commands and open connections, by WebSockets too. */
const actsOnContainers = /^\/+(exec|attach|run|portForward)(\/|$)/i;

function targetOf(context: RequestContext, definition: ResourceDefinition): ForwardTarget {
  const asked = parseName(context.info.name, definition.resource.slice(0, -1));
  switch (definition.resource) {
    case "pods":
      return podTarget(context, asked);
    case "services":
      return serviceTarget(context, asked);
    default:
      return nodeTarget(context, asked);
  }
}

interface AskedTarget {
  readonly scheme: "http" | "https";
  readonly name: string;
  /** Number or name; empty when the request does not say. */
  readonly port: string;
}

/** `[scheme:]name[:port]`. Throws 400. */
function parseName(text: string, what: string): AskedTarget {
  const parts = text.split(":");
  const [scheme, name, port] = parts.length === 3 ? (parts as [string, string, string]) : ["", parts[0]!, parts[1] ?? ""];
  if (parts.length > 3 || !["", "http", "https"].includes(scheme)) throw badRequestError(`invalid ${what} request ${goQuote(text)}`);
  return { scheme: scheme === "https" ? "https" : "http", name, port };
}

function podTarget(context: RequestContext, { scheme, name, port }: AskedTarget): ForwardTarget {
  const pod = findObject(context.server, "/pods", context.info.namespace, name) as unknown as Pod | undefined;
  if (pod === undefined) throw notFoundError({ group: "", resource: "pods" }, name);
  const ports = (pod.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  const chosen = port === "" ? ports[0]?.containerPort : /^\d+$/.test(port) ? Number(port) : ports.find((candidate) => candidate.name === port)?.containerPort;
  return { scheme, address: pod.status?.podIP ?? "", port: chosen ?? (scheme === "https" ? 443 : 80), isNode: false };
}

/** One of the Service's ready endpoints, by chance. */
function serviceTarget(context: RequestContext, { scheme, name, port }: AskedTarget): ForwardTarget {
  const { server, info } = context;
  const slices = (findObjects(server, "discovery.k8s.io/endpointslices", info.namespace) as unknown as EndpointSlice[]).filter(
    (slice) => slice.metadata.labels?.["kubernetes.io/service-name"] === name,
  );
  const service = findObject(server, "/services", info.namespace, name) as { spec?: { ports?: { name?: string; port?: number }[] } } | undefined;
  const byNumber = /^\d+$/.test(port) ? service?.spec?.ports?.find((candidate) => candidate.port === Number(port)) : undefined;
  const wanted = byNumber === undefined ? port : (byNumber.name ?? "");
  const found = slices.flatMap((slice) => {
    const chosen = (slice.ports ?? []).find((candidate) => (candidate.name ?? "") === wanted || (port === "" && (slice.ports ?? []).length === 1));
    if (chosen?.port === undefined) return [];
    return (slice.endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses = [] }) => addresses.map((address) => ({ address, port: chosen.port! })));
  });
  if (found.length === 0) throw new StatusError({ message: `no endpoints available for service ${goQuote(name)}`, reason: "ServiceUnavailable", code: 503 });
  return { scheme, ...found[server.random.integer(found.length)]!, isNode: false };
}

function nodeTarget(context: RequestContext, { scheme, name, port }: AskedTarget): ForwardTarget {
  const node = findObject(context.server, "/nodes", "", name) as unknown as Node | undefined;
  if (node === undefined) throw notFoundError({ group: "", resource: "nodes" }, name);
  const address = (node.status?.addresses ?? []).find((candidate) => candidate.type === "InternalIP")?.address ?? "";
  const kubeletPort = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 10_250;
  const isKubelet = port === "" || port === String(kubeletPort);
  return { scheme: isKubelet ? "https" : scheme, address, port: isKubelet ? kubeletPort : Number(port), isNode: isKubelet };
}

const forbiddenRanges = new BlockList();
forbiddenRanges.addSubnet("127.0.0.0", 8, "ipv4");
forbiddenRanges.addSubnet("169.254.0.0", 16, "ipv4");
forbiddenRanges.addSubnet("224.0.0.0", 4, "ipv4");
forbiddenRanges.addAddress("0.0.0.0", "ipv4");
forbiddenRanges.addAddress("::1", "ipv6");
forbiddenRanges.addAddress("::", "ipv6");
forbiddenRanges.addSubnet("fe80::", 10, "ipv6");
forbiddenRanges.addSubnet("ff00::", 8, "ipv6");

/** A client may not make the server talk to the server's own machine or to its link. */
export function isAllowedAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !forbiddenRanges.check(address, family === 6 ? "ipv6" : "ipv4");
}

/** The path behind `/proxy`, as it was sent. */
function pathBehind(context: RequestContext): string {
  const { path } = context.request;
  // The old form puts the word in front: `/api/v1/proxy/nodes/NAME/…`.
  const rest =
    /^\/api\/v1\/proxy\/(?:namespaces\/[^/]+\/)?[^/]+\/[^/]+(.*)$/s.exec(path)?.[1] ??
    path.slice(path.indexOf("/proxy", path.indexOf(`/${context.info.resource}/`)) + "/proxy".length);
  return rest === "" ? "/" : rest;
}

/** Credentials and hop-by-hop headers stay here. */
function forwarded(headers: Readonly<Record<string, string>>): Record<string, string> {
  const dropped = new Set(["authorization", "cookie", "host", "content-length", "transfer-encoding", "te"]);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !dropped.has(name) && !name.startsWith("impersonate-") && !name.startsWith("x-remote-")),
  );
}

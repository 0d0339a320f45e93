/** Pod subresources that reach into the node: log, exec, attach, port-forward. The request is passed to the pod's kubelet. */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import type { Node, Pod } from "../../../api/core-v1/types.ts";
import { StatusError, badRequestError, internalServerError, notFoundError } from "../../../apimachinery/status.ts";
import { requireCreate } from "../../authz/create-right.ts";
import { readVersion } from "../../registry/versions/convert.ts";
import { checkedLogAnswer, validateLogOptions } from "./pod-log.ts";
import { commandQuery, logQuery, portForwardQuery } from "./pod-connect-query.ts";
import { relativeKey } from "../../registry/resource-definition.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { RequestContext } from "../../request-context.ts";

type Connection = "log" | "exec" | "attach" | "portforward";

const kubeletPaths: Readonly<Record<Connection, string>> = { log: "containerLogs", exec: "exec", attach: "attach", portforward: "portForward" };

export async function handlePodConnect(context: RequestContext, definition: ResourceDefinition, connection: Connection): Promise<ApiResponse> {
  const { namespace, name } = context.info;
  if (connection !== "log") {
    if (context.request.method === "GET" && context.server.isEnabled("AuthorizePodWebsocketUpgradeCreatePermission")) await requireCreate(context);
    await context.server.admission.connect({ context, definition, subresource: connection, namespace, name });
  }
  const stored = definition.storage!.cache.get(relativeKey(definition, namespace, name));
  if (stored === undefined) throw notFoundError(definition, name);
  const pod = readVersion(definition, stored) as unknown as Pod;
  // Numbers are read with the options, before anything else is looked at; commands only when they are to be sent.
  const early = connection === "log" || connection === "portforward" ? kubeletQuery(context, connection) : undefined;
  const container = connection === "portforward" ? undefined : chooseContainer(pod, context.query.get("container") ?? "");
  if (connection === "log") validateLogOptions(context.query, name);
  const nodeName = pod.spec?.nodeName ?? "";
  if (nodeName === "") {
    // A pod without a node has no output yet.
    if (connection === "log") return { status: 204, headers: {}, body: { kind: "bytes", bytes: new Uint8Array() } };
    throw badRequestError(`pod ${name} does not have a host assigned`);
  }
  const target = kubeletOf(context, nodeName);
  if (connection !== "log" && !isUpgrade(context.request.headers)) throw badRequestError("Upgrade request required");
  const query = early ?? kubeletQuery(context, connection);
  const path = [kubeletPaths[connection], namespace, name, ...(container === undefined ? [] : [container])].map(encodeURIComponent).join("/");
  try {
    const answer = await context.server.nodes.send(target, {
      method: context.request.method,
      path: `/${path}`,
      query,
      headers: withoutCredentials(context.request.headers),
      body: context.request.body,
      signal: context.request.signal,
    });
    return connection === "log" ? await checkedLogAnswer(answer, name) : answer;
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw internalServerError(`error dialing backend: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

/** The container asked for, or the only regular one. */
function chooseContainer(pod: Pod, asked: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name);
  const podName = pod.metadata.name!;
  if (asked !== "") {
    if (names.includes(asked)) return asked;
    throw badRequestError(`container ${asked} is not valid for pod ${podName}`);
  }
  if (containers.length === 1) return containers[0]!.name;
  throw badRequestError(`a container name must be specified for pod ${podName}, choose one of: [${names.join(" ")}]`);
}

function kubeletOf(context: RequestContext, nodeName: string): { node: string; address: string; port: number } {
  const node = findObject(context.server, "/nodes", "", nodeName) as unknown as Node | undefined;
  if (node === undefined) throw notFoundError({ group: "", resource: "pods" }, nodeName);
  const address = (node.status?.addresses ?? []).find((candidate) => candidate.type === "InternalIP")?.address;
  if (address === undefined) throw internalServerError(`no preferred addresses found; known addresses: []`);
  return { node: nodeName, address, port: node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 10250 };
}

function kubeletQuery({ query, request }: RequestContext, connection: Connection): string {
  if (connection === "log") return logQuery(query);
  return connection === "portforward" ? portForwardQuery(query) : commandQuery(request.query);
}

function isUpgrade(headers: Readonly<Record<string, string>>): boolean {
  return (headers["upgrade"] ?? "") !== "" && (headers["connection"] ?? "").toLowerCase().includes("upgrade");
}

function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "authorization" && name !== "cookie" && !name.startsWith("impersonate-")));
}

/** `nodes/NAME/proxy/…`: any request to a node's kubelet (API reference "Node", proxy operations). */
import type { ApiResponse } from "../../apimachinery/request.ts";
import type { Node } from "../../api/core-v1/types.ts";
import { StatusError, internalServerError, notFoundError } from "../../apimachinery/status.ts";
import { findObject } from "../registry/rule-context.ts";
import type { RequestContext } from "../request-context.ts";

export async function handleNodeProxy(context: RequestContext): Promise<ApiResponse> {
  const { info, request, server } = context;
  const { name, port } = splitName(info.name);
  const node = findObject(server, "/nodes", "", name) as unknown as Node | undefined;
  if (node === undefined) throw notFoundError({ group: "", resource: "nodes" }, name);
  const address = (node.status?.addresses ?? []).find(({ type }) => type === "InternalIP")?.address;
  if (address === undefined) throw internalServerError("no preferred addresses found; known addresses: []");
  const target = { node: name, address, port: port ?? node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 10_250 };
  const isUpgrade = request.headers["upgrade"] !== undefined;
  try {
    return await server.nodes.send(target, {
      method: request.method,
      path: pathBelow(request.path),
      // An upgrade loses its query on this way; clients rely on neither.
      query: isUpgrade ? "" : request.query,
      headers: Object.fromEntries(Object.entries(request.headers).filter(([header]) => header !== "authorization" && header !== "cookie")),
      body: request.body,
      signal: request.signal,
    });
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw internalServerError(`error trying to reach service: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

/** `NAME`, `NAME:PORT`, `https:NAME:PORT`. */
function splitName(text: string): { name: string; port: number | undefined } {
  const [name = "", port = ""] = text.replace(/^https?:/, "").split(":");
  return { name, port: /^\d+$/.test(port) ? Number(port) : undefined };
}

/** What stands behind `/proxy`. */
function pathBelow(path: string): string {
  const rest = /^\/api\/v1\/(?:proxy\/nodes\/[^/]+|nodes\/[^/]+\/proxy)(.*)$/.exec(path)?.[1] ?? "";
  return rest === "" ? "/" : rest;
}

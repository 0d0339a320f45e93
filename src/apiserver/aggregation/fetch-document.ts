/** Documents that extension API servers publish of themselves: read whole, within a time and a size. */
import { deadline } from "../../base/clock.ts";
import { decodeUntyped } from "../../apimachinery/decode/decode-object.ts";
import { isObject } from "../../apimachinery/json.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { headerOf } from "../../apimachinery/request.ts";
import type { ResponseBody, UserInfo } from "../../apimachinery/request.ts";
import type { ServerState } from "../server-state.ts";
import type { RemoteVersion } from "./api-service-index.ts";
import { forwardingHeaders, identityHeaders } from "./forwarded-headers.ts";
import { targetsOf } from "./remote-target.ts";

const timeoutMs = 10_000;
const maxBytes = 16 * 1024 * 1024;

export interface AskedDocument {
  readonly path: string;
  readonly accept: string;
  readonly user: UserInfo;
}

/** The document and its media type; undefined when the server has none. Rejects when it cannot be reached, or answers with something else than JSON. */
export async function fetchDocument(
  server: ServerState,
  remote: RemoteVersion,
  { path, accept, user }: AskedDocument,
): Promise<{ readonly document: JsonObject; readonly mediaType: string } | undefined> {
  const [target] = targetsOf(server, remote);
  const limit = deadline(server.clock, timeoutMs, server.tasks.signal);
  try {
    const headers = { accept, ...forwardingHeaders({ path, host: target!.host, clientAddress: "" }), ...identityHeaders(user) };
    const answer = await server.extensions.send(target!, { method: "GET", path, query: "", headers, body: new Uint8Array(), signal: limit.signal });
    const bytes = await readWhole(answer.body, maxBytes);
    if (answer.status === 404 || answer.status === 406) return undefined;
    if (answer.status !== 200) throw new Error(`${path} was answered with status ${answer.status}`);
    const { value } = decodeUntyped(bytes, { mediaType: "json" });
    if (!isObject(value)) throw new Error(`${path} was answered with JSON that is no object`);
    return { document: value, mediaType: headerOf(answer.headers, "content-type") ?? "" };
  } finally {
    limit.cancel();
  }
}

async function readWhole(body: ResponseBody, limit: number): Promise<Buffer> {
  if (body.kind === "bytes") return Buffer.from(body.bytes);
  if (body.kind === "upgrade") throw new Error("the connection changed its protocol");
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body.chunks) {
    size += chunk.length;
    if (size > limit) throw new Error(`the answer is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Answers `/openapi/v2`, `/openapi/v3` and the documents below it (KEP-2896). Methods do not matter. */
import type { ApiResponse } from "../../apimachinery/request.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import { jsonText } from "../http/write-response.ts";
import type { RequestContext } from "../request-context.ts";
import type { OpenApiDocument, OpenApiDocuments } from "./documents.ts";

/** The answer to an OpenAPI path, or undefined when the path is none. */
export async function handleOpenApi(context: RequestContext, documents: OpenApiDocuments): Promise<ApiResponse | undefined> {
  const { path } = context.info;
  if (path === "/openapi/v2")
    return answer(context, { version: "v2", vary: "Accept-Encoding, Accept", hash: documents.hash(""), document: () => documents.v2() });
  if (path === "/openapi/v3") return index(documents);
  if (!path.startsWith(root)) return undefined;
  const name = path.slice(root.length);
  if (!documents.paths().includes(name)) return empty(404);
  return groupVersion(context, documents, name);
}

const root = "/openapi/v3/";
const yearMs = 365 * 24 * 3600 * 1000;

function index(documents: OpenApiDocuments): ApiResponse {
  const urls = new Map([...documents.paths().map((name) => [name, urlOf(documents, name)] as const), ...documents.remoteUrls()]);
  const paths = Object.fromEntries([...urls].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, serverRelativeURL]) => [name, { serverRelativeURL }]));
  return bytesResponse(200, "text/plain; charset=utf-8", jsonText({ paths }));
}

/** A document under its right hash never changes; under a wrong one the client is sent to the right one. */
async function groupVersion(context: RequestContext, documents: OpenApiDocuments, name: string): Promise<ApiResponse> {
  const hash = documents.hash(name);
  const asked = context.query.get("hash") ?? "";
  const response = await answer(
    context,
    { version: "v3", vary: "Accept", hash, document: () => documents.v3(name)! },
    asked !== "" && asked !== hash ? urlOf(documents, name) : undefined,
  );
  if (asked !== hash || response.status === 406) return response;
  const expires = new Date(context.server.clock.nowMs() + yearMs).toUTCString();
  return { ...response, headers: { ...response.headers, "cache-control": "public, immutable", expires } };
}

function urlOf(documents: OpenApiDocuments, name: string): string {
  return `${root}${name}?hash=${documents.hash(name)}`;
}

interface Answerable {
  readonly version: "v2" | "v3";
  readonly vary: string;
  readonly hash: string;
  readonly document: () => Promise<OpenApiDocument>;
}

async function answer(context: RequestContext, { version, vary, hash, document }: Answerable, redirect?: string): Promise<ApiResponse> {
  const protobuf = `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`;
  const mediaType = acceptedType(context.request.headers["accept"], protobuf);
  if (mediaType === undefined) return empty(406, { vary });
  if (redirect !== undefined) return empty(301, { vary, "content-type": mediaType, location: redirect });
  const headers = { vary, etag: `"${hash}"` };
  if (matches(context.request.headers["if-none-match"], headers.etag)) return empty(304, headers);
  const made = await document();
  return bytesResponse(200, mediaType, mediaType === protobuf ? await made.protobuf() : made.json, headers);
}

/** The first type of Accept that there is; `@` and `.` before the protobuf version mean the same. */
function acceptedType(accept: string | undefined, protobuf: string): string | undefined {
  if (accept === undefined || accept.trim() === "") return json;
  for (const clause of accept.split(",")) {
    const type = clause.split(";")[0]!.trim();
    if (type === json || type === "*/*" || type === "application/*") return json;
    if (type.replace("@v1.0", ".v1.0") === protobuf) return protobuf;
  }
  return undefined;
}

const json = "application/json";

function matches(header: string | undefined, etag: string): boolean {
  return (header ?? "").split(",").some((value) => value.trim().replace(/^W\//, "") === etag || value.trim() === "*");
}

function empty(status: number, headers: ApiResponse["headers"] = {}): ApiResponse {
  return { status, headers, body: { kind: "bytes", bytes: new Uint8Array() } };
}

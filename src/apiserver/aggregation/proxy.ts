/** Passes requests on to extension API servers (documentation page "Kubernetes API Aggregation Layer"). */
import type { ApiResponse } from "../../apimachinery/request.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import { plainText } from "../http/write-response.ts";
import type { RequestContext } from "../request-context.ts";
import type { RemoteVersion } from "./api-service-index.ts";
import type { ExtensionRequest, ExtensionTarget } from "./connector.ts";
import { forwardingHeaders, goEncodedQuery, goEscapedPath, identityHeaders, passedOn } from "./forwarded-headers.ts";
import { targetsOf } from "./remote-target.ts";

export async function proxyToExtension(context: RequestContext, remote: RemoteVersion): Promise<ApiResponse> {
  const target = remote.isAvailable ? chosenTarget(context, remote) : undefined;
  if (target === undefined) return plainText(503, "service unavailable\n");
  try {
    const answer = await context.server.extensions.send(target, requestTo(context, target));
    return isRedirect(answer) ? await refuseRedirect(answer) : answered(context, answer);
  } catch (error) {
    if (context.signal.aborted) throw error;
    return plainText(503, `error trying to reach service: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

/** One endpoint by chance. */
function chosenTarget({ server }: RequestContext, remote: RemoteVersion): ExtensionTarget | undefined {
  try {
    const targets = targetsOf(server, remote);
    return targets[server.random.integer(targets.length)];
  } catch (error) {
    server.log.warn("Could not resolve the Service of an APIService", { name: remote.name, error });
    return undefined;
  }
}

function requestTo(context: RequestContext, { host }: ExtensionTarget): ExtensionRequest {
  const { request, info, user, query, auditId, signal } = context;
  const { upgrade } = request.headers;
  const forwardedFor = request.headers["x-forwarded-for"];
  return {
    method: request.method,
    path: goEscapedPath(info.path),
    query: goEncodedQuery(query),
    headers: {
      ...passedOn(request.headers),
      ...(upgrade !== undefined && { connection: "Upgrade", upgrade }),
      ...forwardingHeaders({ path: info.path, host, clientAddress: request.peer.address, ...(forwardedFor !== undefined && { forwardedFor }) }),
      ...identityHeaders(user),
      "audit-id": auditId,
    },
    body: request.body,
    signal,
  };
}

/** What both sides have to say stands there twice. */
function answered(context: RequestContext, answer: ApiResponse): ApiResponse {
  const { "audit-id": auditId, "cache-control": cacheControl } = answer.headers;
  return {
    ...answer,
    headers: {
      ...answer.headers,
      ...(auditId !== undefined && { "audit-id": [context.auditId, ...list(auditId)] }),
      ...(cacheControl !== undefined && { "cache-control": ["no-cache, private", ...list(cacheControl)] }),
    },
  };
}

const list = (value: string | readonly string[]) => (typeof value === "string" ? [value] : value);

function isRedirect({ status, headers }: ApiResponse): boolean {
  return status >= 300 && status < 400 && headers["location"] !== undefined;
}

async function refuseRedirect({ body }: ApiResponse): Promise<ApiResponse> {
  if (body.kind === "stream") await body.chunks[Symbol.asyncIterator]().return?.();
  return bytesResponse(502, "text/plain; charset=utf-8", "the backend attempted to redirect this request, which is not permitted");
}

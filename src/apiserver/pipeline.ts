/**
 * The life of a request: the stages in the order of Kubernetes' filter chain, then the handler. `handle` is the server's one entrance.
 */
import { newUid } from "../base/ids.ts";
import type { ApiRequest, ApiResponse } from "../apimachinery/request.ts";
import { bytesResponse } from "../apimachinery/request.ts";
import { anonymousUser } from "./authn/authenticator.ts";
import { parseRequestInfo } from "./http/request-info.ts";
import type { RequestInfo } from "./http/request-info.ts";
import type { RequestContext, Stage } from "./request-context.ts";
import type { ServerState } from "./server-state.ts";
import { answerHead } from "./stages/answer-head.ts";
import { authentication } from "./stages/authentication.ts";
import { authorization } from "./stages/authorization.ts";
import { compression } from "./stages/compression.ts";
import { deadline } from "./stages/deadline.ts";
import { flowControl } from "./stages/flow-control.ts";
import { impersonation } from "./stages/impersonation.ts";

const stages: readonly Stage[] = [compression, answerHead, deadline, authentication, impersonation, flowControl, authorization];

export type Endpoint = (context: RequestContext) => Promise<ApiResponse>;

/** Answers one request; never rejects. `endpoint` is what lies behind the last stage. */
export async function handleRequest(server: ServerState, request: ApiRequest, endpoint: Endpoint): Promise<ApiResponse> {
  const query = new URLSearchParams(request.query);
  let info: RequestInfo;
  try {
    info = parseRequestInfo(request.method, request.path, query);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return bytesResponse(400, "text/plain; charset=utf-8", "400 Bad Request");
  }
  const context: RequestContext = {
    server,
    request,
    query,
    auditId: request.headers["audit-id"] ?? newUid(server.random),
    info,
    user: anonymousUser,
    warnings: new Set(),
    responseHeaders: {},
    signal: request.signal,
  };
  const finish = server.requestMetrics.begin(context);
  const response = await runFrom(0, context, endpoint);
  finish(response);
  return response;
}

function runFrom(index: number, context: RequestContext, endpoint: Endpoint): Promise<ApiResponse> {
  const stage = stages[index];
  return stage === undefined ? endpoint(context) : stage.run(context, () => runFrom(index + 1, context, endpoint));
}

/** Names of the stages in order, for documentation and tests. */
export const stageNames: readonly string[] = stages.map((stage) => stage.name);

/**
 * The life of a request: the stages in the order of Kubernetes' filter chain, then the handler. `handle` is the server's one entrance.
 */
import { deadline as makeDeadline } from "../base/clock.ts";
import type { Eventual } from "../base/eventual.ts";
import { newUid } from "../base/ids.ts";
import type { ApiRequest, ApiResponse, UserInfo } from "../apimachinery/request.ts";
import { bytesResponse } from "../apimachinery/request.ts";
import { anonymousUser } from "./authn/authenticator.ts";
import { parseRequestInfo } from "./http/request-info.ts";
import type { RequestInfo } from "./http/request-info.ts";
import type { RequestContext, Stage } from "./request-context.ts";
import type { ServerState } from "./server-state.ts";
import { answerHead } from "./stages/answer-head.ts";
import { audit } from "./stages/audit.ts";
import { authentication } from "./stages/authentication.ts";
import { authorization } from "./stages/authorization.ts";
import { compression } from "./stages/compression.ts";
import { crossOrigin } from "./stages/cross-origin.ts";
import { deadline } from "./stages/deadline.ts";
import { flowControl } from "./stages/flow-control.ts";
import { impersonation } from "./stages/impersonation.ts";

const stages: readonly Stage[] = [compression, answerHead, deadline, crossOrigin, authentication, audit, impersonation, flowControl, authorization];

export type Endpoint = (context: RequestContext) => Promise<ApiResponse>;

/** Shared by the many requests that have none: nobody changes a query. */
const noQuery = new URLSearchParams();

/** Answers one request; never rejects. `endpoint` is what lies behind the last stage. */
export async function handleRequest(server: ServerState, request: ApiRequest, endpoint: Endpoint): Promise<ApiResponse> {
  const query = request.query === "" ? noQuery : new URLSearchParams(request.query);
  let info: RequestInfo;
  try {
    info = parseRequestInfo(request.method, request.path, query);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return bytesResponse(400, "text/plain; charset=utf-8", "400 Bad Request");
  }
  const context = new RequestScope(server, request, { query, info });
  const finish = server.requestMetrics.begin(context);
  const response = await runFrom(0, context, endpoint);
  finish(response);
  context.end();
  return response;
}

/** A request's context; its signal, and the timer behind it, are made when somebody asks. */
class RequestScope implements RequestContext {
  readonly server: ServerState;
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly auditId: string;
  info: RequestInfo;
  user: UserInfo = anonymousUser;
  readonly warnings = new Set<string>();
  readonly responseHeaders: Record<string, string> = {};
  limitMs?: number;
  streamEnded?: () => void;
  watchBegan?: (() => void) | undefined;
  readonly #startMs: number;
  #limit: { readonly signal: AbortSignal; readonly cancel: () => void } | undefined;

  constructor(server: ServerState, request: ApiRequest, { query, info }: Pick<RequestContext, "query" | "info">) {
    this.server = server;
    this.request = request;
    this.query = query;
    this.auditId = request.headers["audit-id"] ?? newUid(server.random);
    this.info = info;
    this.#startMs = server.clock.monotonicMs();
  }

  get signal(): AbortSignal {
    if (this.limitMs === undefined) return this.request.signal;
    const { clock } = this.server;
    this.#limit ??= makeDeadline(clock, this.#startMs + this.limitMs - clock.monotonicMs(), this.request.signal);
    return this.#limit.signal;
  }

  /** Lets go of the timer. */
  end(): void {
    this.#limit?.cancel();
  }
}

function runFrom(index: number, context: RequestContext, endpoint: Endpoint): Eventual<ApiResponse> {
  const stage = stages[index];
  return stage === undefined ? endpoint(context) : stage.run(context, () => runFrom(index + 1, context, endpoint));
}

/** Names of the stages in order, for documentation and tests. */
export const stageNames: readonly string[] = stages.map((stage) => stage.name);

/** One request on its way through the stages. Stages fill it in order; nothing outside the request refers to it. */
import type { Eventual } from "../base/eventual.ts";
import type { ApiRequest, ApiResponse, UserInfo } from "../apimachinery/request.ts";
import type { Layer } from "./audit/latencies.ts";
import type { AuditRecord } from "./audit/record.ts";
import type { RequestInfo } from "./http/request-info.ts";
import type { ServerState } from "./server-state.ts";

export interface RequestContext {
  readonly server: ServerState;
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly auditId: string;
  /** Set by stage `request-info`. */
  info: RequestInfo;
  /** Set by stage `authentication`, replaced by `impersonation`. */
  user: UserInfo;
  /** Texts for the Warning header, each once. */
  readonly warnings: Set<string>;
  /** Set by stage `audit` when the request is audited. */
  audit?: AuditRecord;
  /** What goes into the audit event beside the request, by key; made by who first has something to say. */
  auditAnnotations?: Map<string, string>;
  /** Milliseconds by layer, of a request that may be audited; made by the first layer that is timed. */
  latencies?: Map<Layer, number>;
  /** Headers that stages add to whatever answer comes. */
  readonly responseHeaders: Record<string, string>;
  /** Time for the request, counted from its start; set by stage `deadline`, absent for what lasts as long as the client wants. */
  limitMs?: number;
  /** Aborts when the client leaves or the request's time is over. */
  readonly signal: AbortSignal;
  /** Set when somebody wants to know: taken away by the watch that answers, and called when it has sent the state that it begins with. */
  watchBegan?: (() => void) | undefined;
  /** Set when somebody wants to know: called by a watch that has ended. */
  streamEnded?: () => void;
}

/** A stage answers itself or lets the rest of the pipeline answer. */
/** Answers, or lets `next` answer. May throw at once, as `next` may. */
export interface Stage {
  readonly name: string;
  run(context: RequestContext, next: NextStage): Eventual<ApiResponse>;
}

export type NextStage = () => Eventual<ApiResponse>;

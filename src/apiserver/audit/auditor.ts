/** Decides which requests are audited and hands their events to the sink. One for a server; closed after its last request. */
import type { Counter, MetricRegistry } from "../../base/metrics.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RequestContext } from "../request-context.ts";
import { judge } from "./policy.ts";
import type { AuditPolicy, AuditStage } from "./policy.ts";
import { AuditRecord } from "./record.ts";
import type { AuditSink } from "./sinks.ts";

export interface AuditOptions {
  readonly policy: AuditPolicy;
  readonly sink: AuditSink;
  /** Whether a request whose arrival cannot be recorded is refused. */
  readonly isStrict: boolean;
}

export class Auditor {
  readonly #options: AuditOptions;
  readonly #events: Counter;
  readonly #levels: Counter;
  readonly #refused: Counter;

  constructor(options: AuditOptions, metrics: MetricRegistry) {
    this.#options = options;
    this.#events = metrics.counter("apiserver_audit_event_total", "Audit events made.");
    this.#levels = metrics.counter("apiserver_audit_level_total", "Requests by the level of their audit.", ["level"]);
    this.#refused = metrics.counter("apiserver_audit_requests_rejected_total", "Requests that were refused because they could not be audited.");
  }

  /** The record of a request; undefined when it is not audited. */
  begin(context: RequestContext, user: UserInfo | undefined): AuditRecord | undefined {
    const verdict = judge(this.#options.policy, user, context.info);
    this.#levels.add(1, verdict.level);
    return verdict.level === "None" ? undefined : new AuditRecord(context, verdict, user);
  }

  /** Tells a stage. False when the request must not go on. */
  async tell(record: AuditRecord, stage: AuditStage): Promise<boolean> {
    if (!record.tells(stage)) return true;
    this.#events.add(1);
    const isRecorded = await this.#options.sink.process([record.event(stage)]);
    if (isRecorded || !this.#options.isStrict || stage !== "RequestReceived") return true;
    this.#refused.add(1);
    return false;
  }

  close(): Promise<void> {
    return this.#options.sink.close();
  }
}

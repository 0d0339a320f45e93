/**
 * What happened in a cluster: every write and its answer, and every decision of a controller with its reasons, in order. Bounded: the
 * oldest entries go first. Written by the cluster as it runs, read by tests, and printed for a test that failed.
 */
import type { Clock } from "../../base/clock.ts";
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";
import type { Action, ReconcileRecord } from "../../operator/index.ts";
import { isHeartbeat, isWrite } from "../counted-handler.ts";
import { elapsedText } from "./duration.ts";

/** A write as the server saw it. */
export interface WriteEntry {
  readonly atMs: number;
  /** The controller's name, else the program's. */
  readonly by: string;
  readonly verb: "create" | "update" | "patch" | "delete";
  /** Resource, namespace, name and subresource: `deployments default/web`, `pods/status default/web-x7k2p`. */
  readonly subject: string;
  readonly status: number;
  /** Of an event its text, of a refusal the server's message. */
  readonly message: string;
}

/** What a controller decided about a key, and why. */
export interface DecisionEntry {
  readonly atMs: number;
  readonly controller: string;
  readonly key: string;
  readonly reasons: readonly string[];
  /** What was done: `create pods default/web-0`. */
  readonly actions: readonly string[];
  readonly failure: Error | undefined;
}

const kept = 5000;

export class Story {
  /** Unset before `begin`. */
  #clock: Clock | undefined;
  readonly #writes = new Ring<{ atMs: number; request: ApiRequest; response: ApiResponse }>(kept);
  readonly #decisions = new Ring<ReconcileRecord>(kept);
  readonly #notes = new Ring<{ atMs: number; text: string }>(kept);
  #startMs = 0;

  readonly observe = (request: ApiRequest, response: ApiResponse): void => {
    if (this.#clock === undefined || !isWrite(request) || isHeartbeat(request)) return;
    this.#writes.push({ atMs: this.#clock.nowMs(), request, response });
  };

  readonly decided = (record: ReconcileRecord): void => {
    if (this.#clock !== undefined && (record.plan.actions.length > 0 || (record.plan.reasons ?? []).length > 0)) this.#decisions.push(record);
  };

  /** From now on everything counts. */
  begin(clock: Clock): void {
    this.#clock = clock;
    this.#startMs = clock.nowMs();
  }

  note(text: string): void {
    this.#notes.push({ atMs: this.#clock?.nowMs() ?? 0, text });
  }

  writes(): WriteEntry[] {
    return this.#writes.all().map(({ atMs, request, response }) => writeEntry(atMs, request, response));
  }

  decisions(): DecisionEntry[] {
    return this.#decisions.all().map(({ atMs, controller, key, plan, outcome }) => ({
      atMs,
      controller,
      key,
      reasons: plan.reasons ?? [],
      actions: outcome.results.filter(({ status }) => status !== "skipped").flatMap(({ action }) => actionTexts(action)),
      failure: outcome.failure,
    }));
  }

  /** The last `limit` lines: writes and reasons, each with the time since the start. */
  text(limit = 200): string {
    const lines: { atMs: number; text: string }[] = [...this.#notes.all()];
    for (const write of this.writes()) lines.push({ atMs: write.atMs, text: writeText(write) });
    for (const { atMs, controller, key, reasons, failure } of this.decisions()) {
      for (const reason of reasons) lines.push({ atMs, text: `${controller} ${key}: ${reason}` });
      if (failure !== undefined) lines.push({ atMs, text: `${controller} ${key} failed: ${failure.message}` });
    }
    const ordered = lines.map((line, index) => ({ ...line, index })).sort((a, b) => a.atMs - b.atMs || a.index - b.index);
    const shown = ordered.slice(-limit).map(({ atMs, text }) => `${elapsedText(atMs - this.#startMs).padStart(10)}  ${text}`);
    const left = ordered.length - shown.length;
    return [...(left > 0 ? [`            … ${left} earlier lines`] : []), ...shown].join("\n");
  }
}

/** The newest `limit` items. */
class Ring<T> {
  readonly #limit: number;
  #items: T[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(item: T): void {
    this.#items.push(item);
    if (this.#items.length >= 2 * this.#limit) this.#items = this.#items.slice(-this.#limit);
  }

  all(): readonly T[] {
    return this.#items.slice(-this.#limit);
  }
}

const verbs = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" } as const;

function writeEntry(atMs: number, request: ApiRequest, response: ApiResponse): WriteEntry {
  const answer = response.body.kind === "bytes" ? parsed(response.body.bytes) : {};
  const isEvent = request.method !== "DELETE" && /\/events(\/|$)/.test(request.path) && response.status < 300;
  const message = isEvent
    ? `${answer.reason ?? ""} ${answer.involvedObject?.kind ?? ""}/${answer.involvedObject?.name ?? ""}: ${answer.message ?? ""}`
    : response.status < 300
      ? ""
      : (answer.message ?? "");
  return {
    atMs,
    by: author(request),
    verb: verbs[request.method as keyof typeof verbs],
    subject: subjectOf(request, answer.metadata?.name),
    status: response.status,
    message,
  };
}

function subjectOf({ method, path }: ApiRequest, created: string | undefined): string {
  const parts = path.replace(/^\/apis?\/([^/]+\/)?v\w+\//, "").split("/");
  const namespace = parts[0] === "namespaces" && parts.length > 2 && parts[2] !== "status" && parts[2] !== "finalize" ? parts.splice(0, 2)[1] : undefined;
  const [resource = "", name = method === "POST" ? (created ?? "") : "", ...subresource] = parts;
  return `${[resource, ...subresource].join("/")} ${namespace === undefined ? "" : `${namespace}/`}${name}`.trim();
}

function writeText({ by, verb, subject, status, message }: WriteEntry): string {
  if (status < 300 && message !== "") return `${by} event ${message}`;
  return `${by} ${verb} ${subject}${status < 300 ? "" : ` -> ${status} ${message}`}`;
}

/** `deployment-controller` or, where there is no account, the program's name. */
function author({ headers }: ApiRequest): string {
  const agent = headers["user-agent"] ?? "";
  return /system:serviceaccount:kube-system:(.+)$/.exec(agent)?.[1] ?? /^kubelet.*\((.+)\)$/.exec(agent)?.[1] ?? agent.split("/")[0]!;
}

interface Answer {
  readonly metadata?: { readonly name?: string };
  readonly reason?: string;
  readonly message?: string;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
}

function parsed(bytes: Uint8Array): Answer {
  return bytes.length === 0 || bytes[0] !== 0x7b ? {} : (JSON.parse(Buffer.from(bytes).toString()) as Answer);
}

function actionTexts(action: Action): string[] {
  switch (action.kind) {
    case "create":
    case "update":
      return [`${action.kind} ${action.resource.resource} ${nameText(action.object.metadata)}`];
    case "patch":
    case "delete":
      return [`${action.kind} ${action.resource.resource} ${nameText(action)}`];
    case "event":
      return [`event ${action.event.reason}: ${action.event.message}`];
    case "effect":
      return [action.name];
    case "confirm":
    case "group":
      return [];
  }
}

function nameText({
  namespace,
  name,
  generateName,
}: {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly generateName?: string | undefined;
}): string {
  return `${namespace === undefined || namespace === "" ? "" : `${namespace}/`}${name ?? `${generateName ?? ""}*`}`;
}

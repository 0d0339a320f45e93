import { isHeartbeat, isWrite } from "./counted-handler.ts";
import type { VirtualClock } from "../base/virtual-clock.ts";
import type { ApiRequest } from "../apimachinery/request.ts";
import type { RequestObserver } from "./counted-handler.ts";

/**
 * What was written to the server, line by line: time since the start, who, what, and which object. Generated names are numbered in the
 * order they were made (`web-x7k2p` is `web-#1`), so that a trace does not depend on random letters. Reads and heartbeats are left out.
 */
export class ScenarioTrace {
  readonly #lines: string[] = [];
  readonly #aliases = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  #clock: VirtualClock | undefined;

  attach(clock: VirtualClock): void {
    this.#clock = clock;
  }

  say(line: string): void {
    this.#lines.push(this.#aliased(line));
  }

  /** Lines in an order that does not depend on random letters. */
  sayAll(lines: readonly string[]): void {
    this.#lines.push(...lines.map((line) => this.#aliased(line)).sort());
  }

  text(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  /** The name that an alias of the trace stands for; anything else stays. */
  realName(text: string): string {
    for (const [name, alias] of this.#aliases) if (text.endsWith(alias)) return text.slice(0, -alias.length) + name;
    return text;
  }

  readonly observe: RequestObserver = (request, response) => {
    if (this.#clock === undefined || !isWrite(request) || isHeartbeat(request)) return;
    const by = author(request);
    if (by === "test" || by === "kubelet") return;
    const body = parsed(request.body);
    const answer = response.body.kind === "bytes" ? parsed(response.body.bytes) : {};
    const { generateName } = body.metadata ?? {};
    if (request.method === "POST" && generateName !== undefined && answer.metadata?.name !== undefined) this.#name(generateName, answer.metadata.name);
    const line = request.path.endsWith("/events")
      ? eventText(body)
      : `${verbs[request.method] ?? request.method} ${this.#subject(request, answer.metadata?.name)}`;
    if (line === undefined) return;
    const failure = response.status < 300 ? "" : ` -> ${response.status} ${answer.reason ?? ""}`;
    const seconds = (this.#clock.monotonicMs() / 1000).toFixed(3).replace(/\.?0+$/, "");
    this.say(`${seconds}s ${by} ${line}${failure}`);
  };

  #subject({ method, path }: ApiRequest, name: string | undefined): string {
    const resource = path.replace(/^\/apis?\/([^/]+\/)?v\w+\//, "").replace(/^namespaces\/([^/]+)\/(?=.)(?!(status|finalize)$)/, "$1 ");
    return method === "POST" && name !== undefined ? `${resource}/${name}` : resource;
  }

  #name(prefix: string, name: string): void {
    const count = (this.#counts.get(prefix) ?? 0) + 1;
    this.#counts.set(prefix, count);
    this.#aliases.set(name, `${prefix}#${count}`);
  }

  #aliased(line: string): string {
    let text = line;
    for (const [name, alias] of this.#aliases) text = text.replaceAll(name, alias);
    return text;
  }
}

const verbs: Readonly<Record<string, string>> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

interface Written {
  readonly metadata?: { readonly name?: string; readonly generateName?: string };
  readonly reason?: string;
  readonly message?: string;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
}

/** `deployment-controller`, or the component where there is no account. */
function author({ headers }: ApiRequest): string {
  const agent = headers["user-agent"] ?? "";
  return /system:serviceaccount:kube-system:(.+)$/.exec(agent)?.[1] ?? agent.split("/")[0]!;
}

function eventText({ reason, message, involvedObject }: Written): string {
  return `event ${reason} ${involvedObject?.kind}/${involvedObject?.name}: ${message}`;
}

function parsed(bytes: Uint8Array): Written {
  if (bytes.length === 0 || bytes[0] !== 0x7b) return {};
  return JSON.parse(Buffer.from(bytes).toString()) as Written;
}

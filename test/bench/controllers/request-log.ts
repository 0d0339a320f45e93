/** Who asked the API server for what, from its audit log. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

export class RequestLog implements AsyncDisposable {
  readonly #folder: string;
  #taken = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(): Promise<RequestLog> {
    const log = new RequestLog(await mkdtemp(path.join(tmpdir(), "coracle-bench-requests-")));
    await writeFile(log.#policy, JSON.stringify(policy));
    return log;
  }

  /** What makes a server write the log. */
  get flags(): readonly string[] {
    return [`--apiserver.audit-log-path=${this.#file}`, `--apiserver.audit-policy-file=${this.#policy}`];
  }

  /** The requests since this was last asked, most frequent first; all nodes are one user. */
  async take(): Promise<RequestCount[]> {
    const content = await readFile(this.#file);
    const counts = countRequests(content.subarray(this.#taken).toString());
    this.#taken = content.length;
    return counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }

  get #file(): string {
    return path.join(this.#folder, "audit.log");
  }

  get #policy(): string {
    return path.join(this.#folder, "policy.json");
  }
}

export interface RequestCount {
  /** User, verb, resource and the answer's code. */
  readonly request: string;
  readonly count: number;
}

const policy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata", omitStages: ["RequestReceived", "ResponseStarted"] }] };

interface Entry {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly objectRef?: { readonly resource: string; readonly subresource?: string };
  readonly requestURI: string;
  readonly responseStatus?: { readonly code: number };
}

function countRequests(text: string): RequestCount[] {
  const counts = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const { user, verb, objectRef, requestURI, responseStatus } = JSON.parse(line) as Entry;
    const what = objectRef === undefined ? requestURI : [objectRef.resource, objectRef.subresource].filter((part) => part !== undefined).join("/");
    const name = user.username.replace(/^system:node:.*/, "system:node:*").replace(/^system:serviceaccount:kube-system:/, "");
    const key = [name, verb, what, responseStatus?.code ?? ""].join(" ");
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].sort(([, left], [, right]) => right - left).map(([request, count]) => ({ request, count }));
}

import type { JsonObject } from "../apimachinery/json.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { ApiResponse } from "../apimachinery/request.ts";
import type { Status } from "../apimachinery/status.ts";
import { readBody } from "../client/index.ts";
import type { TestCluster } from "./cluster.ts";

/**
 * One request as it is on the wire, for what no client would send: `target` is path and query, `body` an object that is sent as JSON, or text.
 * Resolves with whatever comes back, refusals included, once it is complete.
 */
export async function ask(
  cluster: Pick<TestCluster, "client">,
  method: string,
  target: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const [path = "", query = ""] = target.split("?");
  const bytes = body === undefined ? new Uint8Array() : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const response = await cluster.client.send({ method, path, query, headers: { "content-type": "application/json", ...headers }, body: bytes });
  const text = Buffer.from(await readBody(response.body)).toString();
  return { status: response.status, headers: response.headers, text, json: text.startsWith("{") ? (JSON.parse(text) as JsonObject) : {} };
}

export interface Answer {
  readonly status: number;
  readonly headers: ApiResponse["headers"];
  readonly text: string;
  /** Empty when the answer is no JSON object. */
  readonly json: JsonObject;
}

/** Opens a watch at `target` and reads it as it comes; `stop` leaves it as a client that goes away. */
export async function openWatch(cluster: Pick<TestCluster, "client">, target: string): Promise<OpenWatch> {
  const [path = "", query = ""] = target.split("?");
  const leaving = new AbortController();
  const response = await cluster.client.send({ method: "GET", path, query, headers: {}, body: new Uint8Array() }, { signal: leaving.signal });
  const events: SeenEvent[] = [];
  const watch: OpenWatch = {
    status: response.status,
    events,
    isEnded: false,
    stop: () => leaving.abort(new DOMException("the client left", "AbortError")),
    ended: read(),
  };
  async function read(): Promise<void> {
    try {
      if (response.body.kind === "stream") for await (const chunk of response.body.chunks) events.push(...eventsIn(chunk));
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    } finally {
      watch.isEnded = true;
    }
  }
  return watch;
}

export interface OpenWatch {
  readonly status: number;
  readonly events: readonly SeenEvent[];
  isEnded: boolean;
  /** Resolves when the server has ended the watch, or its reader has left. */
  readonly ended: Promise<void>;
  stop(): void;
}

export interface SeenEvent {
  readonly type: string;
  readonly object: KubeObject & Partial<Status>;
}

/** Events as `ADDED name`. */
export function told(events: readonly SeenEvent[]): string[] {
  return events.map(({ type, object }) => `${type} ${object.metadata.name ?? object.code ?? ""}`.trim());
}

function eventsIn(chunk: Uint8Array): SeenEvent[] {
  return Buffer.from(chunk)
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as SeenEvent);
}

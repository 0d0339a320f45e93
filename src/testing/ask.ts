import type { JsonObject } from "../apimachinery/json.ts";
import type { ApiResponse } from "../apimachinery/request.ts";
import { readBody } from "../client/index.ts";
import type { TestCluster } from "./cluster.ts";

/**
 * One request as it is on the wire, for what no client would send: `target` is path and query, `body` an object that is sent as JSON, or text.
 * Resolves with whatever comes back, refusals included, once it is complete.
 */
export async function ask(cluster: Pick<TestCluster, "client">, method: string, target: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
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

/** What the small servers of components answer: health with named checks, metrics, JSON and plain text. */
import { bytesResponse } from "./request.ts";
import type { ApiResponse } from "./request.ts";

export interface ComponentCheck {
  readonly name: string;
  readonly isFine: boolean;
}

/** `ok`, or with `?verbose` or a failed check a line for each (documentation page "Kubernetes API health endpoints"). */
export function healthAnswer(endpoint: string, checks: readonly ComponentCheck[], query: URLSearchParams): ApiResponse {
  const isFine = checks.every((check) => check.isFine);
  if (isFine && !query.has("verbose")) return textAnswer(200, "ok");
  const lines = checks.map((check) => (check.isFine ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`));
  return textAnswer(isFine ? 200 : 500, `${lines.join("")}${endpoint} check ${isFine ? "passed" : "failed"}\n`);
}

/** Metrics in the text exposition format. */
export const metricsAnswer = (text: string): ApiResponse => bytesResponse(200, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores", text);

export const jsonAnswer = (value: object): ApiResponse => bytesResponse(200, "application/json", JSON.stringify(value));

export const textAnswer = (status: number, body: string): ApiResponse =>
  bytesResponse(status, "text/plain; charset=utf-8", body, { "x-content-type-options": "nosniff" });

export const notFoundAnswer = (): ApiResponse => textAnswer(404, "404 page not found\n");

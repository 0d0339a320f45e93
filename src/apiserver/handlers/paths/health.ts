/** /healthz, /livez and /readyz with their named checks (documentation page "Kubernetes API health endpoints"). */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { bytesResponse } from "../../../apimachinery/request.ts";
import { plainText } from "../../http/write-response.ts";
import type { RequestContext } from "../../request-context.ts";
import type { ServerState } from "../../server-state.ts";

export interface HealthCheck {
  readonly name: string;
  /** Undefined when healthy, else why not. */
  check(server: ServerState): string | undefined | Promise<string | undefined>;
}

export interface HealthEndpoints {
  readonly healthz: readonly HealthCheck[];
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
}

/** The answer to a health path, or undefined when the path is none. */
export async function handleHealth(context: RequestContext, endpoints: HealthEndpoints): Promise<ApiResponse | undefined> {
  const match = /^\/(healthz|livez|readyz)(?:\/(.+))?$/.exec(context.info.path);
  if (match === null) return undefined;
  const checks = endpoints[match[1] as keyof HealthEndpoints];
  if (match[2] !== undefined) return single(context, checks, match[2]);
  return summary(context, checks, match[1]!);
}

async function single(context: RequestContext, checks: readonly HealthCheck[], name: string): Promise<ApiResponse> {
  const check = checks.find((candidate) => candidate.name === name);
  if (check === undefined) return plainText(404, "404 page not found\n");
  const fault = await check.check(context.server);
  if (fault !== undefined) return plainText(500, `internal server error: ${fault}\n`);
  return bytesResponse(200, "text/plain; charset=utf-8", "ok");
}

async function summary(context: RequestContext, checks: readonly HealthCheck[], endpoint: string): Promise<ApiResponse> {
  const excluded = new Set(context.query.getAll("exclude"));
  const lines: string[] = [];
  const failed: string[] = [];
  for (const check of checks) {
    if (excluded.delete(check.name)) {
      lines.push(`[+]${check.name} excluded: ok\n`);
      continue;
    }
    const fault = await check.check(context.server);
    if (fault === undefined) lines.push(`[+]${check.name} ok\n`);
    else {
      lines.push(`[-]${check.name} failed: reason withheld\n`);
      failed.push(check.name);
    }
  }
  if (excluded.size > 0)
    lines.push(`warn: some health checks cannot be excluded: no matches for ${[...excluded].map((name) => JSON.stringify(name)).join(",")}\n`);
  if (failed.length > 0) return plainText(500, `${lines.join("")}${endpoint} check failed\n`);
  if (!context.query.has("verbose")) return plainText(200, "ok");
  return plainText(200, `${lines.join("")}${endpoint} check passed\n`);
}

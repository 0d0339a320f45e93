import { bytesResponse } from "../../apimachinery/request.ts";
import { decisionSummary, decisionView, explanationView } from "./decision-view.ts";
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";
import type { Explanation } from "../framework/explain-pod.ts";
import type { KeptDecision } from "./decision-view.ts";

/** What the scheduler tells of itself. */
export interface SchedulerStatus {
  /** Whether its caches hold the full state. */
  isSynced(): boolean;
  /** The last decisions, the newest first. */
  kept(): readonly KeptDecision[];
  /** What would be said of all nodes now; undefined for a pod that is not there. */
  explain(namespace: string, name: string): Explanation | undefined;
  /** The configuration in force. */
  configuration(): object;
  /** In the text exposition format. */
  metrics(): string;
}

/**
 * The scheduler's server as a request handler: health, configuration and metrics as kube-scheduler serves them, and its decisions:
 * `/debug/decisions`, `/debug/decisions/NAMESPACE/NAME`, and with `?all=true` what every plugin says of every node now.
 */
export function schedulerServer(status: SchedulerStatus): (request: ApiRequest) => Promise<ApiResponse> {
  return async ({ method, path, query }) => {
    if (method !== "GET") return text(405, "Method Not Allowed\n");
    const parameters = new URLSearchParams(query);
    const [, root = "", ...parts] = path.split("/").map(decodeURIComponent);
    switch (root) {
      case "healthz":
      case "livez":
        return parts.length === 0 ? health(root, [{ name: "ping", isFine: true }], parameters) : notFound();
      case "readyz":
        return parts.length === 0 ? health(root, readyChecks(status), parameters) : notFound();
      case "metrics":
        return parts.length === 0 ? bytesResponse(200, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores", status.metrics()) : notFound();
      case "configz":
        return json({ "kubescheduler.config.k8s.io": status.configuration() });
      case "debug":
        return decisions(status, parts, parameters);
      default:
        return notFound();
    }
  };
}

interface Check {
  readonly name: string;
  readonly isFine: boolean;
}

function readyChecks(status: SchedulerStatus): readonly Check[] {
  return [
    { name: "shutdown", isFine: true },
    { name: "sched-handler-sync", isFine: status.isSynced() },
  ];
}

function health(name: string, checks: readonly Check[], query: URLSearchParams): ApiResponse {
  const isFine = checks.every((check) => check.isFine);
  if (isFine && !query.has("verbose")) return text(200, "ok");
  const lines = checks.map((check) => (check.isFine ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`));
  return text(isFine ? 200 : 500, `${lines.join("")}${name} check ${isFine ? "passed" : "failed"}\n`);
}

function decisions(status: SchedulerStatus, [what, namespace, name, ...more]: readonly string[], query: URLSearchParams): ApiResponse {
  if (what !== "decisions" || more.length > 0) return notFound();
  if (namespace === undefined || namespace === "") return json({ decisions: status.kept().map(decisionSummary) });
  if (name === undefined) return notFound();
  if (query.get("all") === "true") {
    const explanation = status.explain(namespace, name);
    return explanation === undefined ? text(404, `pod ${namespace}/${name} not found\n`) : json(explanationView(explanation));
  }
  const kept = status.kept().find(({ decision: { pod } }) => pod.namespace === namespace && pod.name === name);
  return kept === undefined ? text(404, `no decision about pod ${namespace}/${name} is kept\n`) : json(decisionView(kept));
}

const json = (value: object) => bytesResponse(200, "application/json", JSON.stringify(value));
const text = (status: number, body: string) => bytesResponse(status, "text/plain; charset=utf-8", body, { "x-content-type-options": "nosniff" });
const notFound = () => text(404, "404 page not found\n");

import { healthAnswer, jsonAnswer, metricsAnswer, notFoundAnswer, textAnswer } from "../../apimachinery/component-answers.ts";
import { decisionSummary, decisionView, explanationView } from "./decision-view.ts";
import type { ComponentCheck } from "../../apimachinery/component-answers.ts";
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
    if (method !== "GET") return textAnswer(405, "Method Not Allowed\n");
    const parameters = new URLSearchParams(query);
    const [, root = "", ...parts] = path.split("/").map(decodeURIComponent);
    switch (root) {
      case "healthz":
      case "livez":
        return parts.length === 0 ? healthAnswer(root, [{ name: "ping", isFine: true }], parameters) : notFoundAnswer();
      case "readyz":
        return parts.length === 0 ? healthAnswer(root, readyChecks(status), parameters) : notFoundAnswer();
      case "metrics":
        return parts.length === 0 ? metricsAnswer(status.metrics()) : notFoundAnswer();
      case "configz":
        return jsonAnswer({ "kubescheduler.config.k8s.io": status.configuration() });
      case "debug":
        return decisions(status, parts, parameters);
      default:
        return notFoundAnswer();
    }
  };
}

function readyChecks(status: SchedulerStatus): readonly ComponentCheck[] {
  return [
    { name: "shutdown", isFine: true },
    { name: "sched-handler-sync", isFine: status.isSynced() },
  ];
}

function decisions(status: SchedulerStatus, [what, namespace, name, ...more]: readonly string[], query: URLSearchParams): ApiResponse {
  if (what !== "decisions" || more.length > 0) return notFoundAnswer();
  if (namespace === undefined || namespace === "") return jsonAnswer({ decisions: status.kept().map(decisionSummary) });
  if (name === undefined) return notFoundAnswer();
  if (query.get("all") === "true") {
    const explanation = status.explain(namespace, name);
    return explanation === undefined ? textAnswer(404, `pod ${namespace}/${name} not found\n`) : jsonAnswer(explanationView(explanation));
  }
  const kept = status.kept().find(({ decision: { pod } }) => pod.namespace === namespace && pod.name === name);
  return kept === undefined ? textAnswer(404, `no decision about pod ${namespace}/${name} is kept\n`) : jsonAnswer(decisionView(kept));
}

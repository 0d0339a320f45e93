import { healthAnswer, jsonAnswer, metricsAnswer, notFoundAnswer, textAnswer } from "../../apimachinery/component-answers.ts";
import { MetricRegistry } from "../../base/metrics.ts";
import { DecisionLog } from "./decision-log.ts";
import { workloadMetrics } from "./workload-metrics.ts";
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";
import type { ReconcileRecord } from "../../operator/index.ts";

/**
 * What the controllers tell of themselves. Its `onReconciled` and `metrics` go into `runControllers`; `serve` answers health and metrics
 * as kube-controller-manager does, and `/debug/decisions` and `/debug/decisions/CONTROLLER/KEY`: what was done last, and why.
 */
export class ControllersServer {
  readonly metrics = new MetricRegistry();
  readonly #decisions = new DecisionLog();
  readonly #count = workloadMetrics(this.metrics);

  constructor() {
    const build = "A metric with a constant '1' value labeled by the git version that the components report.";
    this.metrics.gauge("kubernetes_build_info", build, ["git_version"]).set(1, "v1.37.2");
  }

  readonly onReconciled = (record: ReconcileRecord): void => {
    this.#decisions.add(record);
    this.#count(record);
  };

  readonly serve = ({ method, path, query }: ApiRequest): Promise<ApiResponse> => Promise.resolve(this.#answer(method, path, new URLSearchParams(query)));

  #answer(method: string, path: string, query: URLSearchParams): ApiResponse {
    if (method !== "GET") return textAnswer(405, "Method Not Allowed\n");
    const [, root = "", ...parts] = path.split("/").map(decodeURIComponent);
    if (root === "debug") return this.#debug(parts);
    if (parts.length > 0) return notFoundAnswer();
    if (root === "healthz" || root === "livez" || root === "readyz") return healthAnswer(root, [{ name: "ping", isFine: true }], query);
    return root === "metrics" ? metricsAnswer(this.metrics.text()) : notFoundAnswer();
  }

  #debug([what, controller, ...key]: readonly string[]): ApiResponse {
    if (what !== "decisions") return notFoundAnswer();
    if (controller === undefined || controller === "") return jsonAnswer({ decisions: this.#decisions.last() });
    const passes = this.#decisions.of(controller, key.join("/"));
    return passes.length === 0 ? textAnswer(404, `${controller} has done nothing for ${key.join("/")} that is kept\n`) : jsonAnswer({ decisions: passes });
  }
}

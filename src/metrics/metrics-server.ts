/**
 * Answers requests of the resource metrics API. It asks the kubelets, through the API server, when somebody wants to know, and keeps what
 * they said for ten seconds: while nobody asks it does nothing.
 */
import { bytesResponse } from "../apimachinery/request.ts";
import type { ApiRequest, ApiResponse, Transport } from "../apimachinery/request.ts";
import { matchesLabels, parseLabelSelector } from "../apimachinery/selectors/label-selector.ts";
import { isNotFound, notFoundError, StatusError } from "../apimachinery/status.ts";
import type { Node, Pod } from "../api/core-v1/types.ts";
import type { PolicyRule } from "../api/rbac-v1/types.ts";
import { deadline } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { Client, resources } from "../client/index.ts";
import { group, isMeasured, metricsList, nodeMetrics, podMetrics, resourceList, version } from "./metrics-api.ts";
import type { Summary } from "./metrics-api.ts";

export interface MetricsServerOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
}

const keptMs = 10_000;
/** How long a kubelet may take. */
const askMs = 10_000;
const root = `/apis/${group}/${version}`;

export class MetricsServer {
  readonly #options: MetricsServerOptions;
  readonly #client: Client;
  /** By node: what its kubelet said last, and when. Nodes that are gone are forgotten with the next list. */
  readonly #summaries = new Map<string, { readonly atMs: number; readonly summary: Promise<Summary | undefined> }>();

  constructor(options: MetricsServerOptions) {
    this.#options = options;
    this.#client = new Client({ ...options, userAgent: "coracle-metrics" });
  }

  /** The caller has found out who asks, and that they may. */
  readonly serve = async (request: ApiRequest): Promise<ApiResponse> => {
    try {
      return json(200, await this.#answer(request));
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return json(error.status.code ?? 500, error.status);
    }
  };

  async #answer({ method, path, query }: ApiRequest): Promise<object> {
    if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: [] };
    if (path === root) return resourceList;
    const [, namespace, resource, name] =
      /^(?:\/namespaces\/([^/]+))?\/(nodes|pods)(?:\/([^/]+))?$/.exec(path.startsWith(root) ? path.slice(root.length) : "") ?? [];
    if (resource === undefined) throw new StatusError({ message: "the server could not find the requested resource", reason: "NotFound", code: 404 });
    if (method !== "GET")
      throw new StatusError({ message: "the server does not allow this method on the requested resource", reason: "MethodNotAllowed", code: 405 });
    const selector = new URLSearchParams(query).get("labelSelector") ?? "";
    return resource === "nodes" ? this.#nodes(name, selector) : this.#pods(namespace ?? "", name, selector);
  }

  async #nodes(name: string | undefined, selector: string): Promise<object> {
    if (name !== undefined) {
      const node = await this.#client.get(resources.nodes, "", name).catch(orMissing);
      const metrics = node && nodeMetrics(node, await this.#summaryOf(name));
      if (metrics === undefined) throw notFoundError({ group, resource: "nodes" }, name);
      return metrics;
    }
    const { items } = await this.#client.list(resources.nodes, "");
    const names = new Set(items.map(({ metadata }) => metadata.name!));
    for (const known of this.#summaries.keys()) if (!names.has(known)) this.#summaries.delete(known);
    return metricsList("NodeMetrics", await this.#measured<Node>(items, selector, ({ metadata }) => metadata.name, nodeMetrics));
  }

  async #pods(namespace: string, name: string | undefined, selector: string): Promise<object> {
    if (name !== undefined) {
      const pod = await this.#client.get(resources.pods, namespace, name).catch(orMissing);
      const metrics = pod?.spec?.nodeName && podMetrics(pod, await this.#summaryOf(pod.spec.nodeName));
      if (!metrics) throw notFoundError({ group, resource: "pods" }, `${namespace}/${name}`);
      return metrics;
    }
    const { items } = await this.#client.list(resources.pods, namespace, { fieldSelector: "status.phase=Running" });
    return metricsList("PodMetrics", await this.#measured<Pod>(items, selector, ({ spec }) => spec?.nodeName, podMetrics));
  }

  async #measured<T extends Node | Pod>(
    items: readonly T[],
    selectorText: string,
    nodeOf: (item: T) => string | undefined,
    make: (item: T, summary: Summary | undefined) => object | undefined,
  ): Promise<object[]> {
    const selector = parseLabelSelector(selectorText);
    const chosen = items.filter(({ metadata }) => matchesLabels(selector, metadata.labels));
    const made = await Promise.all(chosen.map(async (item) => make(item, await this.#summaryOf(nodeOf(item) ?? ""))));
    return made.filter((one) => one !== undefined);
  }

  #summaryOf(node: string): Promise<Summary | undefined> {
    const { clock } = this.#options;
    const known = this.#summaries.get(node);
    if (known !== undefined && clock.monotonicMs() - known.atMs < keptMs) return known.summary;
    const summary = node === "" ? Promise.resolve(undefined) : this.#ask(node);
    const entry = { atMs: clock.monotonicMs(), summary };
    this.#summaries.set(node, entry);
    // Who asks again soon wants to see the first measure as soon as there is one.
    void summary.then((told) => {
      if (told !== undefined && !isMeasured(told) && this.#summaries.get(node) === entry) this.#summaries.delete(node);
    });
    return summary;
  }

  async #ask(node: string): Promise<Summary | undefined> {
    const limit = deadline(this.#options.clock, askMs);
    try {
      const { status, body } = await this.#options.transport({
        method: "GET",
        path: `/api/v1/nodes/${encodeURIComponent(node)}/proxy/stats/summary`,
        query: "only_cpu_and_memory=true",
        headers: {},
        body: new Uint8Array(),
        signal: limit.signal,
      });
      const chunks: Uint8Array[] = [];
      if (body.kind === "bytes") chunks.push(body.bytes);
      else if (body.kind === "stream") for await (const chunk of body.chunks) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      if (status === 200) return JSON.parse(text) as Summary;
      this.#options.log.warn("A kubelet does not tell what is used", { node, status });
    } catch (error) {
      this.#options.log.warn("A kubelet does not tell what is used", { node, error });
    } finally {
      limit.cancel();
    }
    return undefined;
  }
}

/** What it may do, for a ClusterRole. */
export function metricsRules(): PolicyRule[] {
  return [
    { apiGroups: [""], resources: ["nodes", "pods"], verbs: ["get", "list"] },
    { apiGroups: [""], resources: ["nodes/proxy", "nodes/stats"], verbs: ["get"] },
  ];
}

function orMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

function json(status: number, body: object): ApiResponse {
  return bytesResponse(status, "application/json", JSON.stringify(body));
}

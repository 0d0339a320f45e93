import { quantityMilli } from "../../apimachinery/quantity.ts";
import { labelSelectorText, selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { parseTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { CrossVersionObjectReference, MetricIdentifier } from "../../api/autoscaling-v2/types.ts";
import type { Client, DiscoveredResource, ResourceType } from "../../client/index.ts";
import { resourceOfKind } from "../../client/index.ts";
import { parseApiVersion } from "../../apimachinery/object.ts";

/** Measurements from the metrics APIs (metrics.k8s.io, custom.metrics.k8s.io, external.metrics.k8s.io), which add-ons serve. Amounts are in thousandths. */
export class MetricSources {
  readonly #client: Client;
  readonly #discovered: readonly DiscoveredResource[];
  readonly #signal: AbortSignal;

  constructor(client: Client, discovered: readonly DiscoveredResource[], signal: AbortSignal) {
    this.#client = client;
    this.#discovered = discovered;
    this.#signal = signal;
  }

  /** What the containers of pods use, by pod. */
  async resource(namespace: string, labelSelector: string, resource: string, container?: string): Promise<PodAmounts> {
    const fail = (fault: string) => new Error(`unable to get metrics for resource ${resource}: ${fault}`);
    let items: readonly PodMetrics[];
    try {
      items = (await this.#client.list(podMetrics, namespace, { labelSelector, signal: this.#signal })).items as unknown as readonly PodMetrics[];
    } catch (error) {
      throw fail(`unable to fetch metrics from resource metrics API: ${(error as Error).message}`);
    }
    if (items.length === 0) throw fail("no metrics returned from resource metrics API");
    const result = emptyAmounts();
    for (const { metadata, containers = [], timestamp, window = "60s" } of items) {
      const chosen = containers.filter(({ name }) => container === undefined || name === container);
      const amounts = chosen.map(({ usage }) => usage?.[resource]);
      if (chosen.length === 0 || amounts.includes(undefined)) continue;
      const name = metadata.name ?? "";
      result.amounts.set(
        name,
        amounts.reduce<number>((sum, amount) => sum + quantityMilli(amount ?? 0), 0),
      );
      if (timestamp !== undefined) result.times.set(name, { atMs: parseTime(timestamp), windowMs: Number.parseFloat(window) * 1000 });
    }
    return result;
  }

  /** A metric of each pod. */
  async pods(namespace: string, labelSelector: string, metric: DeepReadonly<MetricIdentifier>): Promise<PodAmounts> {
    const items = await this.#values("custom.metrics.k8s.io/v1beta2", `${namespace}/pods/*`, { metric, labelSelector });
    if (items.length === 0) throw new Error(`unable to get metric ${metric.name}: no metrics returned from custom metrics API`);
    const result = emptyAmounts();
    for (const { describedObject, value } of items) result.amounts.set(describedObject?.name ?? "", quantityMilli(value ?? "0"));
    return result;
  }

  /** A metric of one object. */
  async object(
    namespace: string,
    { kind, name, apiVersion = "" }: DeepReadonly<CrossVersionObjectReference>,
    metric: DeepReadonly<MetricIdentifier>,
  ): Promise<number> {
    const group = parseApiVersion(apiVersion)?.group ?? "";
    const type = resourceOfKind(this.#discovered, { group, kind });
    if (type === undefined) throw new Error(`unable to get metric ${metric.name}: no matches for kind "${kind}" in group "${group}"`);
    const label = group === "" ? type.resource : `${type.resource}.${group}`;
    const [item] = await this.#values("custom.metrics.k8s.io/v1beta2", `${namespace}/${label}/${name}`, { metric });
    if (item === undefined) throw new Error(`unable to get metric ${metric.name}: no metrics returned from custom metrics API`);
    return quantityMilli(item.value ?? "0");
  }

  /** The sum of a metric from outside the cluster. */
  async external(namespace: string, metric: DeepReadonly<MetricIdentifier>): Promise<number> {
    const items = await this.#values("external.metrics.k8s.io/v1beta1", namespace, { metric, labelSelector: selectorText(metric) });
    if (items.length === 0)
      throw new Error(`unable to get external metric ${namespace}/${metric.name}/${selectorText(metric)}: no metrics returned from external metrics API`);
    return items.reduce((sum, { value }) => sum + quantityMilli(value ?? "0"), 0);
  }

  async #values(api: string, place: string, query: { metric: DeepReadonly<MetricIdentifier>; labelSelector?: string }): Promise<readonly MetricValue[]> {
    const { metric, labelSelector = "" } = query;
    const isExternal = api.startsWith("external");
    const parameters = new URLSearchParams();
    if (labelSelector !== "") parameters.set("labelSelector", labelSelector);
    if (!isExternal && metric.selector !== undefined) parameters.set("metricLabelSelector", selectorText(metric));
    const suffix = parameters.size === 0 ? "" : `?${parameters}`;
    try {
      const list = await this.#client.raw<{ items?: readonly MetricValue[] }>(`/apis/${api}/namespaces/${place}/${metric.name}${suffix}`, {
        signal: this.#signal,
      });
      return list.items ?? [];
    } catch (error) {
      const subject = isExternal ? `external metric ${place}/${metric.name}/${labelSelector}` : `metric ${metric.name}`;
      throw new Error(`unable to get ${subject}: unable to fetch metrics from ${isExternal ? "external" : "custom"} metrics API: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
}

export interface PodAmounts {
  readonly amounts: Map<string, number>;
  readonly times: Map<string, { readonly atMs: number; readonly windowMs: number }>;
}

const podMetrics: ResourceType = { group: "metrics.k8s.io", version: "v1beta1", resource: "pods", kind: "PodMetrics", isNamespaced: true };

interface PodMetrics {
  readonly metadata: { readonly name?: string };
  readonly timestamp?: string;
  readonly window?: string;
  readonly containers?: readonly { readonly name: string; readonly usage?: Readonly<Record<string, string>> }[];
}
interface MetricValue {
  readonly describedObject?: { readonly name?: string };
  readonly value?: string;
}

function emptyAmounts(): PodAmounts {
  return { amounts: new Map(), times: new Map() };
}

function selectorText({ selector }: DeepReadonly<MetricIdentifier>): string {
  return selector === undefined ? "" : labelSelectorText(selectorFromObject(selector));
}

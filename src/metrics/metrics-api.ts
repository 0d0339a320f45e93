/** The resource metrics API, metrics.k8s.io/v1beta1 (documentation page "Resource metrics pipeline"): what nodes and containers use, as the kubelets say. Pure. */
import type { DeepReadonly } from "../apimachinery/json.ts";
import { formatQuantity } from "../apimachinery/quantity.ts";
import type { Node, Pod } from "../api/core-v1/types.ts";

export const group = "metrics.k8s.io";
export const version = "v1beta1";
const apiVersion = `${group}/${version}`;

/** What is used here of a kubelet's `/stats/summary`. */
export interface Summary {
  readonly node?: Usage;
  readonly pods?: readonly {
    readonly podRef: { readonly namespace: string; readonly name: string };
    readonly containers?: readonly (Usage & { readonly name: string })[];
  }[];
}

interface Usage {
  readonly cpu?: { readonly time?: string; readonly usageNanoCores?: number };
  readonly memory?: { readonly workingSetBytes?: number };
}

export const resourceList = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: apiVersion,
  resources: [
    { name: "nodes", singularName: "", namespaced: false, kind: "NodeMetrics", verbs: ["get", "list"] },
    { name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs: ["get", "list"] },
  ],
};

/** Undefined while the node has not been measured. */
export function nodeMetrics({ metadata }: DeepReadonly<Node>, summary: Summary | undefined): object | undefined {
  const usage = usageOf(summary?.node);
  return usage && { kind: "NodeMetrics", apiVersion, metadata: metadataOf(metadata), ...measured(summary!.node!), usage };
}

/** Undefined while a container of the pod has not been measured: half a pod would be taken for a whole one. */
export function podMetrics({ metadata }: DeepReadonly<Pod>, summary: Summary | undefined): object | undefined {
  const found = summary?.pods?.find(({ podRef }) => podRef.name === metadata.name && podRef.namespace === metadata.namespace);
  const containers = (found?.containers ?? []).map(({ name, ...own }) => ({ name, usage: usageOf(own) }));
  if (containers.length === 0 || containers.some(({ usage }) => usage === undefined)) return undefined;
  return { kind: "PodMetrics", apiVersion, metadata: metadataOf(metadata), ...measured(found!.containers![0]!), containers };
}

/** Whether the node and all containers have been: what they use of CPUs is known from the second look on. */
export function isMeasured({ node, pods = [] }: Summary): boolean {
  return [node, ...pods.flatMap(({ containers = [] }) => containers)].every((usage) => usageOf(usage) !== undefined);
}

export function metricsList(kind: string, items: readonly object[]): object {
  return { kind: `${kind}List`, apiVersion, metadata: {}, items };
}

function metadataOf({ name, namespace, labels, creationTimestamp }: DeepReadonly<Pod>["metadata"]): object {
  return { name, ...(namespace !== undefined && { namespace }), creationTimestamp, ...(labels !== undefined && { labels }) };
}

function measured({ cpu }: Usage): object {
  return { timestamp: cpu?.time, window: "10s" };
}

function usageOf(usage: Usage | undefined): { cpu: string; memory: string } | undefined {
  const { cpu: { usageNanoCores } = {}, memory: { workingSetBytes } = {} } = usage ?? {};
  if (usageNanoCores === undefined || workingSetBytes === undefined) return undefined;
  return {
    cpu: formatQuantity(BigInt(Math.round(usageNanoCores)), -9, "decimalSI"),
    memory: formatQuantity(BigInt(Math.round(workingSetBytes)), 0, "binarySI"),
  };
}

import { deepEqual } from "../../apimachinery/json.ts";
import { resources } from "../../client/index.ts";
import { podFromTemplate } from "../pods/pod-from-template.ts";
import { allowsNode, requiredNodeTerms, selectable } from "../../api/core-v1/node-matching.ts";
import { taintsOf } from "../nodes/node-conditions.ts";
import { tolerates } from "../taint-eviction/plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { DaemonSet } from "../../api/apps-v1/types.ts";
import type { Node, Pod, PodSpec, Toleration } from "../../api/core-v1/types.ts";

export const revisionHashLabel = "controller-revision-hash";
const generationLabel = "pod-template-generation";
const generationAnnotation = "deprecated.daemonset.template.generation";

/** The pod of a DaemonSet for one node: bound to it by affinity, so that the scheduler places it. */
export function daemonPod(set: DeepReadonly<DaemonSet>, nodeName: string, hash: string): Pod {
  const pod = podFromTemplate(set.spec?.template ?? {}, resources.daemonSets, set);
  const generation = set.metadata.annotations?.[generationAnnotation];
  pod.metadata.labels = { ...pod.metadata.labels, ...(generation !== undefined && { [generationLabel]: generation }), [revisionHashLabel]: hash };
  const spec = pod.spec!;
  const field = { key: "metadata.name", operator: "In", values: [nodeName] };
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [{}];
  spec.affinity = {
    ...spec.affinity,
    nodeAffinity: {
      ...spec.affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms.map((term) => ({ ...term, matchFields: [field] })) },
    },
  };
  spec.tolerations = daemonTolerations(spec);
  return pod;
}

/** Whether a pod was made from the set's template as it is now. */
export function isUpToDate({ metadata }: DeepReadonly<Pod>, set: DeepReadonly<DaemonSet>, hash: string): boolean {
  const generation = set.metadata.annotations?.[generationAnnotation];
  const labels = metadata.labels ?? {};
  return (hash !== "" && labels[revisionHashLabel] === hash) || (generation !== undefined && labels[generationLabel] === generation);
}

/** The node that a pod is on or meant for. */
export function targetNode({ spec }: DeepReadonly<Pod>): string {
  if (spec?.nodeName !== undefined && spec.nodeName !== "") return spec.nodeName;
  for (const { matchFields = [] } of requiredNodeTerms(spec) ?? []) {
    for (const { key, operator, values = [] } of matchFields) if (key === "metadata.name" && operator === "In" && values.length === 1) return values[0]!;
  }
  return "";
}

/** Whether a node should get a pod, and whether one that is there may stay. */
export function fitOf(set: DeepReadonly<DaemonSet>, node: DeepReadonly<Node>): { readonly mayStart: boolean; readonly mayStay: boolean } {
  const spec = (set.spec?.template?.spec ?? { containers: [] }) as DeepReadonly<PodSpec>;
  const isNamed = spec.nodeName === undefined || spec.nodeName === "" || spec.nodeName === node.metadata.name;
  if (!isNamed || !allowsNode(spec, selectable(node))) return { mayStart: false, mayStay: false };
  const tolerations = daemonTolerations(spec);
  const hard = taintsOf(node).filter((taint) => taint.effect !== "PreferNoSchedule" && !tolerations.some((toleration) => tolerates(toleration, taint)));
  return { mayStart: hard.length === 0, mayStay: hard.every(({ effect }) => effect !== "NoExecute") };
}

/** What every daemon pod tolerates (documentation page "DaemonSet", "Taints and tolerations"), beside what its template does. */
function daemonTolerations(spec: DeepReadonly<PodSpec>): Toleration[] {
  const tolerations: Toleration[] = [...(spec.tolerations ?? [])];
  const wanted = [
    ...["not-ready", "unreachable"].map((key) => tolerationOf(key, "NoExecute")),
    ...["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"].map((key) => tolerationOf(key, "NoSchedule")),
    ...(spec.hostNetwork === true ? [tolerationOf("network-unavailable", "NoSchedule")] : []),
  ];
  for (const toleration of wanted) if (!tolerations.some((known) => deepEqual(known, toleration))) tolerations.push(toleration);
  return tolerations;
}

function tolerationOf(key: string, effect: string): Toleration {
  return { key: `node.kubernetes.io/${key}`, operator: "Exists", effect };
}

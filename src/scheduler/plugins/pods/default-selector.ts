import { controllerOf } from "../../../client/index.ts";
import { matchesLabels, selectorFromLabels } from "../../../apimachinery/selectors/label-selector.ts";
import { selectorOf } from "../../state/pod-info.ts";
import type { LabelSelector } from "../../../apimachinery/selectors/label-selector.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { ClusterObjects } from "../../state/snapshot.ts";

/** Which pods belong together with this one: those of its Services and of its controller. Undefined when it belongs to nothing. */
export function defaultSelector({ pod, namespace, labels }: PodInfo, objects: ClusterObjects): LabelSelector | undefined {
  const wanted: Record<string, string> = {};
  for (const { spec } of objects.services.list(namespace)) {
    const selector = spec?.selector;
    if (selector !== undefined && Object.keys(selector).length > 0 && matchesLabels(selectorFromLabels(selector), labels)) Object.assign(wanted, selector);
  }
  const owner = controllerOf(pod);
  const ownerSelector = owner === undefined ? undefined : selectorOfOwner(`${owner.apiVersion} ${owner.kind}`, namespace, owner.name, objects);
  const requirements = [...selectorFromLabels(wanted).requirements, ...(ownerSelector?.requirements ?? [])];
  return requirements.length === 0 ? undefined : { requirements, selectsNothing: false };
}

function selectorOfOwner(kind: string, namespace: string, name: string, objects: ClusterObjects): LabelSelector | undefined {
  switch (kind) {
    case "v1 ReplicationController":
      return selectorFromLabels(objects.replicationControllers.get(namespace, name)?.spec?.selector ?? {});
    case "apps/v1 ReplicaSet":
      return selectorOf(objects.replicaSets.get(namespace, name)?.spec?.selector);
    case "apps/v1 StatefulSet":
      return selectorOf(objects.statefulSets.get(namespace, name)?.spec?.selector);
    default:
      return undefined;
  }
}

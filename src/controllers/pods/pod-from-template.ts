import { isDns1123Subdomain } from "../../apimachinery/names.ts";
import { controllerReference, isNamespaceTerminating, referenceTo, resources } from "../../client/index.ts";
import { createAction, deleteAction, eventAction } from "../../operator/index.ts";
import { isNotFound } from "../../apimachinery/status.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ResourceType } from "../../client/index.ts";
import type { Pod, PodTemplateSpec } from "../../api/core-v1/types.ts";
import type { Action } from "../../operator/index.ts";
import { deepCopy } from "../../apimachinery/json.ts";

/** A pod as `owner` makes it from a template: named after the owner, marked as its own. */
export function podFromTemplate(template: DeepReadonly<PodTemplateSpec>, ownerResource: ResourceType, owner: DeepReadonly<KubeObject>): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const ownerName = owner.metadata.name ?? "";
  return {
    metadata: {
      generateName: isDns1123Subdomain(`${ownerName}-x`).length === 0 ? `${ownerName}-` : ownerName,
      namespace: owner.metadata.namespace ?? "",
      ...(labels !== undefined && { labels: { ...labels } }),
      ...(annotations !== undefined && { annotations: { ...annotations } }),
      ownerReferences: [controllerReference(ownerResource, owner)],
      ...(finalizers !== undefined && { finalizers: [...finalizers] }),
    },
    spec: deepCopy(template.spec ?? { containers: [] }) as NonNullable<Pod["spec"]>,
  };
}

/** Creates a pod and tells of it on its owner. */
export function createPodAction(ownerResource: ResourceType, owner: DeepReadonly<KubeObject>, pod: Pod): Action {
  const regarding = referenceTo(ownerResource, owner);
  return createAction(resources.pods, pod, {
    onDone: ({ metadata }) => [eventAction(regarding, { type: "Normal", reason: "SuccessfulCreate", message: `Created pod: ${metadata.name}` })],
    onError: (error) =>
      isNamespaceTerminating(error)
        ? { severity: "leave" }
        : {
            severity: "continue",
            actions: [eventAction(regarding, { type: "Warning", reason: "FailedCreate", message: `Error creating: ${error.message}` })],
          },
  });
}

/** Deletes a pod and tells of it on its owner. */
export function deletePodAction(ownerResource: ResourceType, owner: DeepReadonly<KubeObject>, pod: DeepReadonly<Pod>): Action {
  const regarding = referenceTo(ownerResource, owner);
  const name = pod.metadata.name ?? "";
  return deleteAction(
    resources.pods,
    pod,
    {},
    {
      onDone: () => [eventAction(regarding, { type: "Normal", reason: "SuccessfulDelete", message: `Deleted pod: ${name}` })],
      onError: (error) =>
        isNotFound(error)
          ? { severity: "ignore" }
          : {
              severity: "continue",
              actions: [eventAction(regarding, { type: "Warning", reason: "FailedDelete", message: `Error deleting: ${error.message}` })],
            },
    },
  );
}

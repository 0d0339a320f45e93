/** How a pod's sandboxes and containers are marked in the runtime, so that a kubelet started later knows them again. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Container, EphemeralContainer, Pod } from "../../api/core-v1/types.ts";

export const runtimeLabels = {
  podName: "io.kubernetes.pod.name",
  podNamespace: "io.kubernetes.pod.namespace",
  podUid: "io.kubernetes.pod.uid",
  containerName: "io.kubernetes.container.name",
} as const;

export const runtimeAnnotations = {
  hash: "io.kubernetes.container.hash",
  restartCount: "io.kubernetes.container.restartCount",
  /** Requests and limits it was made with. */
  resources: "coracle.local/container.resources",
  terminationMessagePath: "io.kubernetes.container.terminationMessagePath",
  terminationMessagePolicy: "io.kubernetes.container.terminationMessagePolicy",
  /** Whose sandbox it is, since others may use the same runtime. */
  owner: "coracle.local/owner",
  /** Seconds a container of a pod that is no longer in the API gets to end. */
  gracePeriod: "io.kubernetes.pod.terminationGracePeriod",
} as const;

/** The three lists of containers of a pod, by the member of the spec. */
export type ContainerKind = "containers" | "initContainers" | "ephemeralContainers";

export type AnyContainer = DeepReadonly<Container | EphemeralContainer>;

/** A container of the spec with the list it stands in. */
export interface SpecContainer {
  readonly kind: ContainerKind;
  readonly container: AnyContainer;
}

export function containersOf(pod: DeepReadonly<Pod>): SpecContainer[] {
  return [...ofKind(pod, "initContainers"), ...ofKind(pod, "containers"), ...ofKind(pod, "ephemeralContainers")];
}

export function ofKind({ spec }: DeepReadonly<Pod>, kind: ContainerKind): SpecContainer[] {
  return spec?.[kind]?.map((container) => ({ kind, container })) ?? [];
}

/** A restartable init container runs beside the others (KEP 753). */
export function isSidecar({ kind, container }: SpecContainer): boolean {
  return kind === "initContainers" && container.restartPolicy === "Always";
}

/** `name_namespace(uid)`, as events and conditions name a pod. */
export function podLabel(pod: DeepReadonly<Pod>): string {
  return `${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
}

/** Requests and limits that can be changed while a container runs (KEP 1287), as one text to keep and compare. */
export function resizableText({ resources }: AnyContainer): string {
  const amounts = [resources?.requests?.["cpu"], resources?.limits?.["cpu"], resources?.requests?.["memory"], resources?.limits?.["memory"]];
  return amounts.map((amount) => amount ?? "-").join(" ");
}

/** Changes of these make a running container be started anew; a pod update can only change the image. */
export function containerHash(container: AnyContainer): string {
  let hash = 0x811c9dc5;
  for (const char of JSON.stringify([container.name, container.image])) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193) >>> 0;
  return hash.toString(16);
}

/** Every container-like part of a pod, met in one place so that no policy forgets one of them. */
import type { Container, EphemeralContainer, PodSpec } from "../../../api/core-v1/types.ts";

export type ContainerSort = "init container" | "container" | "ephemeral container";

/** What the three sorts have in common. */
export type AnyContainer = Container & Partial<Pick<EphemeralContainer, "targetContainerName">>;

/** Calls `visit` for init containers, containers and ephemeral containers, in this order; `index` counts within the sort. */
export function visitContainers(spec: PodSpec, visit: (container: AnyContainer, sort: ContainerSort, index: number) => void): void {
  spec.initContainers?.forEach((container, index) => visit(container, "init container", index));
  spec.containers?.forEach((container, index) => visit(container, "container", index));
  spec.ephemeralContainers?.forEach((container, index) => visit(container, "ephemeral container", index));
}

/** All of them, each with its sort. */
export function allContainers(spec: PodSpec): { readonly container: AnyContainer; readonly sort: ContainerSort; readonly index: number }[] {
  const all: { container: AnyContainer; sort: ContainerSort; index: number }[] = [];
  visitContainers(spec, (container, sort, index) => all.push({ container, sort, index }));
  return all;
}

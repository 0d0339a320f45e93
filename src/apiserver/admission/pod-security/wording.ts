/** Words that the checks share. */
import type { PodSpec, SecurityContext } from "../../../api/core-v1/types.ts";
import type { AnyContainer } from "../pods/containers.ts";
import { visitContainers } from "../pods/containers.ts";

/** `1 → "container"`, else `"containers"`. */
export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}s`;
}

/** `"a", "b"`. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

/** `container "a"`, `containers "a", "b"`. */
export function containerText(names: readonly string[]): string {
  return `${plural("container", names.length)} ${quoted(names)}`;
}

/** Names of the containers of all sorts for which the test holds. */
export function containersWhere(spec: PodSpec, test: (context: SecurityContext | undefined, container: AnyContainer) => boolean): string[] {
  const names: string[] = [];
  visitContainers(spec, (container) => {
    if (test(container.securityContext, container)) names.push(container.name);
  });
  return names;
}

/** Each once, sorted. */
export function sortedSet(values: Iterable<string>): string[] {
  return [...new Set(values)].sort();
}

/** Which changes of a pod could matter to Pod Security: only those that updates may make at all. */
import type { Pod } from "../../../api/core-v1/types.ts";
import { allContainers } from "../pods/containers.ts";

const annotationPrefixes = [
  "seccomp.security.alpha.kubernetes.io/pod",
  "container.seccomp.security.alpha.kubernetes.io/",
  "container.apparmor.security.beta.kubernetes.io/",
];

/** True for new containers, other images, other security annotations. */
export function isSignificantUpdate(pod: Pod, old: Pod): boolean {
  const now = allContainers(pod.spec ?? {});
  const before = allContainers(old.spec ?? {});
  if (now.length !== before.length) return true;
  if (
    now.some(
      ({ container, sort }, index) =>
        container.name !== before[index]!.container.name || sort !== before[index]!.sort || container.image !== before[index]!.container.image,
    )
  )
    return true;
  return annotationsOf(pod) !== annotationsOf(old);
}

function annotationsOf({ metadata }: Pod): string {
  const relevant = Object.entries(metadata.annotations ?? {}).filter(([key]) => annotationPrefixes.some((prefix) => key.startsWith(prefix)));
  return JSON.stringify(relevant.sort());
}

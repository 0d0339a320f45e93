/** Owner references that name the same owner again are dropped, with a warning. */
import { deepEqual } from "../../apimachinery/json.ts";
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts";

/** `stage` tells the two places where Kubernetes looks: the body as it came, and what admission made of it. */
export function dropDuplicateOwners(object: KubeObject, warnings: Set<string>, stage: "request" | "admission"): void {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length < 2) return;
  const kept: OwnerReference[] = [];
  const repeated: string[] = [];
  for (const owner of owners) {
    if (!kept.some((other) => other.uid === owner.uid)) kept.push(owner);
    else if (!kept.some((other) => deepEqual(other, owner))) kept.push(owner);
    else repeated.push(owner.uid);
  }
  if (repeated.length === 0) return;
  object.metadata.ownerReferences = kept;
  warnings.add(
    `.metadata.ownerReferences contains duplicate entries${stage === "admission" ? " after mutating admission happens" : ""}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...new Set(repeated)].join(", ")}`,
  );
}

/** Keeps managed fields short: the oldest updaters beyond ten are folded into one entry per version. */
import { compareText, managerId, seconds } from "./entries.ts";
import type { ManagedSet, ManagedSets } from "./entries.ts";
import { union } from "./sets/field-set.ts";

const maxUpdaters = 10;
const foldedName = "ancient-changes";

/** Folds the oldest updaters of `sets` until at most ten are left, as far as several share a version. */
export function capUpdaters(sets: ManagedSets): void {
  if (sets.size <= maxUpdaters) return;
  const updaters = [...sets].filter(([, set]) => set.operation === "Update");
  if (updaters.length <= maxUpdaters) return;
  updaters.sort(([aId, a], [bId, b]) => seconds(a) - seconds(b) || compareText(aId, bId));
  const firstOfVersion = new Map<string, string>();
  let count = updaters.length;
  for (const [id, set] of updaters) {
    if (count <= maxUpdaters) return;
    const first = firstOfVersion.get(set.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(set.apiVersion, id);
      continue;
    }
    const folded: ManagedSet = { manager: foldedName, operation: "Update", apiVersion: set.apiVersion, subresource: "", fields: set.fields, time: set.time };
    const bucket = managerId(folded);
    const earlier = sets.get(bucket) ?? sets.get(first)!;
    if (!sets.has(bucket)) sets.delete(first);
    sets.set(bucket, { ...folded, fields: union(set.fields, earlier.fields) });
    sets.delete(id);
    count--;
  }
}

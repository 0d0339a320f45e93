/** Sets of tolerations: which one makes another superfluous (API type core/v1 Toleration). */
import type { Toleration } from "../../../api/core-v1/types.ts";
import { deepEqual } from "../../../apimachinery/json.ts";

/** Both lists in order, without those that another one covers. Of equal ones the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  all.forEach((toleration, index) => {
    if (merged.some((kept) => covers(kept, toleration))) return;
    if (all.slice(index + 1).some((later) => !deepEqual(later, toleration) && covers(later, toleration))) return;
    merged.push(toleration);
  });
  return merged;
}

/** Whether each toleration of `inner` is covered by one of `outer`. */
export function coversAll(outer: readonly Toleration[], inner: readonly Toleration[]): boolean {
  return inner.every((toleration) => outer.some((candidate) => covers(candidate, toleration)));
}

/** Whether `outer` tolerates all that `inner` does. */
export function covers(outer: Toleration, inner: Toleration): boolean {
  if (deepEqual(outer, inner)) return true;
  if (inner.key !== outer.key && !((outer.key ?? "") === "" && outer.operator === "Exists")) return false;
  if ((outer.effect ?? "") !== "" && inner.effect !== outer.effect) return false;
  if (outer.effect === "NoExecute" && outer.tolerationSeconds !== undefined) {
    if (inner.tolerationSeconds === undefined || inner.tolerationSeconds > outer.tolerationSeconds) return false;
  }
  switch (outer.operator ?? "") {
    case "Equal":
    case "":
      return (inner.operator ?? "Equal") === "Equal" && (inner.value ?? "") === (outer.value ?? "");
    case "Exists":
      return true;
    default:
      return false;
  }
}

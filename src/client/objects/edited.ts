import { deepCopy } from "../../apimachinery/json.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";

/** A copy of `object` with `change` made to it: how a new version of a frozen object is built. */
export function edited<T>(object: DeepReadonly<T>, change: (draft: T) => void): T {
  const draft = deepCopy(object) as T;
  change(draft);
  return draft;
}

/** How many watches would be told of a write: counted by resource, namespace and name, so that asking costs four look-ups. */
import { exactFieldValue, parseFieldSelector } from "../../apimachinery/selectors/field-selector.ts";
import type { RequestInfo } from "../http/request-info.ts";

export class WatchCounts {
  readonly #counts = new Map<string, number>();

  /** Counts a watch until the function returned is called. */
  add(info: RequestInfo, fieldSelector: string | null): () => void {
    // A kubelet sees the pods of its own node: of most writes it is not told.
    if (fieldSelector !== null && fieldSelector.includes("spec.nodeName") && isOfOneNode(fieldSelector)) return () => {};
    const key = keyOf(info, info.namespace, info.name);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      const left = this.#counts.get(key)! - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    };
  }

  /** Watches that see the object of `info`. */
  interestedIn(info: RequestInfo): number {
    if (this.#counts.size === 0) return 0;
    const { namespace, name } = info;
    let sum = this.#at(info, "", "");
    if (namespace !== "") sum += this.#at(info, namespace, "");
    if (name !== "") sum += this.#at(info, namespace, name) + (namespace === "" ? 0 : this.#at(info, "", name));
    return sum;
  }

  #at(info: RequestInfo, namespace: string, name: string): number {
    return this.#counts.get(keyOf(info, namespace, name)) ?? 0;
  }
}

function keyOf({ group, resource }: RequestInfo, namespace: string, name: string): string {
  return `${group}/${resource}/${namespace}/${name}`;
}

function isOfOneNode(selector: string): boolean {
  try {
    return exactFieldValue(parseFieldSelector(selector), "spec.nodeName") !== undefined;
  } catch {
    // Refused where the watch is opened.
    return false;
  }
}

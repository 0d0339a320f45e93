import { matchesLabels } from "../../../../apimachinery/selectors/label-selector.ts";
import { countPods } from "../../../state/pod-counts.ts";
import { selectorKey } from "../../../state/pod-info.ts";
import type { Lister } from "../../../../client/index.ts";
import type { Namespace } from "../../../../api/core-v1/types.ts";
import type { AffinityTerm, PodInfo } from "../../../state/pod-info.ts";
import type { Snapshot } from "../../../state/snapshot.ts";

export type NamespaceLister = Pick<Lister<Namespace>, "get">;

/** Whether the term speaks of the pod: by its namespace, named or selected, and by its labels. */
export function termMatches({ namespaces, namespaceSelector, selector }: AffinityTerm, pod: PodInfo, lister: NamespaceLister): boolean {
  if (!namespaces.has(pod.namespace)) {
    if (namespaceSelector === undefined) return false;
    if (!matchesLabels(namespaceSelector, lister.get("", pod.namespace)?.metadata.labels)) return false;
  }
  return matchesLabels(selector, pod.labels);
}

export function allTermsMatch(terms: readonly AffinityTerm[], pod: PodInfo, lister: NamespaceLister): boolean {
  return terms.length > 0 && terms.every((term) => termMatches(term, pod, lister));
}

/** How many pods match all of the terms, by node. */
export function matchingAll(terms: readonly AffinityTerm[], snapshot: Snapshot): ReadonlyMap<string, number> {
  if (terms.length === 0) return noCounts;
  const isMember = (pod: PodInfo) => allTermsMatch(terms, pod, snapshot.objects.namespaces);
  // Whom a selector of namespaces means may change without any pod changing.
  if (terms.some(({ namespaceSelector }) => namespaceSelector !== undefined && namespaceSelector.requirements.length > 0))
    return countPods(isMember, snapshot.nodes);
  const key = terms.map(({ namespaces, namespaceSelector, selector }) => [[...namespaces].sort(), namespaceSelector !== undefined, selectorKey(selector)]);
  return snapshot.podCounts(`affinity/${JSON.stringify(key)}`, isMember);
}

const noCounts: ReadonlyMap<string, number> = new Map();

/** Counts by topology key and value, with changes laid over a shared base. Immutable. */
export class DomainCounts {
  readonly #base: ReadonlyMap<string, number>;
  readonly #changes: ReadonlyMap<string, number>;
  readonly #total: number;

  private constructor(base: ReadonlyMap<string, number>, changes: ReadonlyMap<string, number>, total: number) {
    this.#base = base;
    this.#changes = changes;
    this.#total = total;
  }

  static of(counts: ReadonlyMap<string, number>): DomainCounts {
    let total = 0;
    for (const count of counts.values()) total += count;
    return new DomainCounts(counts, new Map(), total);
  }

  get isEmpty(): boolean {
    return this.#total === 0;
  }

  of(key: string, value: string): number {
    const domain = domainKey(key, value);
    return (this.#base.get(domain) ?? 0) + (this.#changes.get(domain) ?? 0);
  }

  with(key: string, value: string, by: number): DomainCounts {
    const domain = domainKey(key, value);
    return new DomainCounts(this.#base, new Map(this.#changes).set(domain, (this.#changes.get(domain) ?? 0) + by), this.#total + by);
  }
}

export function domainKey(key: string, value: string): string {
  return `${key}\u0000${value}`;
}

export function count(counts: Map<string, number>, key: string, value: string | undefined, by: number): void {
  if (value === undefined) return;
  const domain = domainKey(key, value);
  counts.set(domain, (counts.get(domain) ?? 0) + by);
}

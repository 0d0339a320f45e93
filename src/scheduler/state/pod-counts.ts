import { DomainPods } from "./domain-pods.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";

/** Decides whether a pod belongs to a group; must depend on nothing but the pod, and the labels of its namespace if `byNamespaceLabels`. */
export type PodPredicate = (pod: PodInfo) => boolean;

export interface PodGroupQuery {
  /** The same key means the same group. */
  readonly key: string;
  readonly isMember: PodPredicate;
  readonly byNamespaceLabels?: boolean;
}

/** Groups of pods that somebody counts, each counted once. Driven by the cluster state. */
export class PodCounts {
  readonly #groups = new Map<string, PodGroupQuery & { readonly pods: DomainPods }>();

  of(query: PodGroupQuery, nodes: readonly NodeInfo[]): DomainPods {
    const known = this.#groups.get(query.key);
    if (known !== undefined) return known.pods;
    if (this.#groups.size >= groupLimit) this.#groups.delete(this.#groups.keys().next().value!);
    const pods = new DomainPods();
    for (const node of nodes) {
      const count = node.pods.reduce((sum, pod) => (query.isMember(pod) ? sum + 1 : sum), 0);
      if (count > 0) pods.change(node, count);
    }
    this.#groups.set(query.key, { ...query, pods });
    return pods;
  }

  change(pod: PodInfo, node: NodeInfo, by: 1 | -1): void {
    for (const { isMember, pods } of this.#groups.values()) if (isMember(pod)) pods.change(node, by);
  }

  /** A node's labels changed. */
  relabel(): void {
    for (const { pods } of this.#groups.values()) pods.relabel();
  }

  /** A namespace's labels changed: groups that depend on them are forgotten. */
  forgetByNamespace(): void {
    for (const [key, { byNamespaceLabels }] of this.#groups) if (byNamespaceLabels === true) this.#groups.delete(key);
  }
}

const groupLimit = 128;

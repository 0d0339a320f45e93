import { deepEqual } from "../../apimachinery/json.ts";
import { AffinityTerms } from "./affinity-terms.ts";
import { NodeInfo } from "./node-info.ts";
import { orderByZone, zoneOf } from "./node-order.ts";
import { PodCounts } from "./pod-counts.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node } from "../../api/core-v1/types.ts";
import type { TermGroup, TermKind } from "./affinity-terms.ts";
import type { DomainPods } from "./domain-pods.ts";
import type { PodGroupQuery } from "./pod-counts.ts";
import type { PodInfo } from "./pod-info.ts";
import type { ClusterObjects, Snapshot } from "./snapshot.ts";

/**
 * Nodes with their pods, advanced by changes. Driven by the scheduler's informers, and by its own decisions ahead of them: a pod is assumed
 * to be where it was sent until the API says so, or the binding fails. Decisions read it as a snapshot: nothing changes while one is made.
 * Invariants: a pod is on at most one node; pods of a node that is not known yet wait for it in `homeless`.
 */
export class ClusterState implements Snapshot {
  readonly objects: ClusterObjects;
  readonly #positions = new Map<string, number>();
  #nodes: NodeInfo[] = [];
  #isOrdered = true;
  readonly #homes = new Map<string, { pod: PodInfo; nodeName: string; isAssumed: boolean }>();
  readonly #homeless = new Map<string, Map<string, PodInfo>>();
  readonly #images = new Map<string, number>();
  readonly #terms = new AffinityTerms();
  readonly #nominations = new Nominations();
  readonly #claims = new Map<string, number>();
  readonly #counts = new PodCounts();
  #nodesVersion = 0;

  constructor(objects: ClusterObjects) {
    this.objects = objects;
  }

  get nodes(): readonly NodeInfo[] {
    if (!this.#isOrdered) this.#order();
    return this.#nodes;
  }

  node(name: string): NodeInfo | undefined {
    const position = this.#positions.get(name);
    return position === undefined ? undefined : this.#nodes[position];
  }

  positionOf({ name }: NodeInfo): number {
    if (!this.#isOrdered) this.#order();
    return this.#positions.get(name)!;
  }

  /** Pods with a node, and those of them that the API does not know there yet. */
  podTotals(): { readonly pods: number; readonly assumed: number } {
    let assumed = 0;
    for (const { isAssumed } of this.#homes.values()) if (isAssumed) assumed += 1;
    return { pods: this.#homes.size, assumed };
  }

  affinityTerms(kind: TermKind): Iterable<TermGroup> {
    return this.#terms.of(kind);
  }

  imageNodes(name: string): number {
    return this.#images.get(name) ?? 0;
  }

  get hasNominations(): boolean {
    return this.#nominations.size > 0;
  }

  nominatedTo(nodeName: string): readonly PodInfo[] {
    return this.#nominations.on(nodeName);
  }

  claimUsers(claim: string): number {
    return this.#claims.get(claim) ?? 0;
  }

  podCounts(query: PodGroupQuery): DomainPods {
    return this.#counts.of(query, this.#nodes);
  }

  get nodesVersion(): number {
    return this.#nodesVersion;
  }

  /** Adds a node, or takes its newer state. */
  putNode(node: DeepReadonly<Node>): void {
    const name = node.metadata.name ?? "";
    const old = this.node(name);
    this.#nodesVersion += 1;
    if (old !== undefined) {
      const next = old.withNode(node);
      if (zoneOf(old.labels) !== zoneOf(next.labels)) this.#isOrdered = false;
      this.#countImages(old, next);
      this.#nodes[this.#positions.get(name)!] = next;
      if (!deepEqual(old.labels, next.labels)) {
        this.#terms.relabel();
        this.#counts.relabel();
      }
      return;
    }
    const pods = this.#homeless.get(name);
    this.#homeless.delete(name);
    const added = NodeInfo.of(node, [...(pods?.values() ?? [])]);
    this.#positions.set(name, this.#nodes.length);
    this.#nodes.push(added);
    this.#isOrdered = false;
    this.#countImages(undefined, added);
    for (const pod of added.pods) this.#count(pod, added, 1);
  }

  removeNode(name: string): void {
    const old = this.node(name);
    if (old === undefined) return;
    this.#nodesVersion += 1;
    this.#countImages(old, undefined);
    for (const pod of old.pods) this.#count(pod, old, -1);
    if (old.pods.length > 0) this.#homeless.set(name, new Map(old.pods.map((pod) => [pod.uid, pod])));
    this.#nodes = this.#nodes.filter((one) => one !== old);
    this.#order();
  }

  /** A pod is on a node, as the API says: what was assumed is confirmed or corrected. */
  putPod(pod: PodInfo, nodeName: string): void {
    this.removePod(pod.uid);
    this.#place(pod, nodeName, false);
  }

  removePod(uid: string): void {
    const home = this.#homes.get(uid);
    if (home === undefined) return;
    this.#homes.delete(uid);
    for (const name of home.pod.claimNames) this.#useClaim(`${home.pod.namespace}/${name}`, -1);
    const node = this.node(home.nodeName);
    if (node !== undefined) {
      this.#count(home.pod, node, -1);
      return this.#replace(node.withoutPod(uid));
    }
    const homeless = this.#homeless.get(home.nodeName);
    homeless?.delete(uid);
    if (homeless?.size === 0) this.#homeless.delete(home.nodeName);
  }

  /** A pod has been sent to a node. */
  assume(pod: PodInfo, nodeName: string): void {
    this.#place(pod, nodeName, true);
  }

  /** The binding failed. A pod that the API meanwhile says is bound stays. */
  forget(uid: string): void {
    if (this.#homes.get(uid)?.isAssumed === true) this.removePod(uid);
  }

  /** Whether the pod is on a node, and only because we sent it there. */
  isAssumed(uid: string): boolean {
    return this.#homes.get(uid)?.isAssumed === true;
  }

  nodeOf(uid: string): string | undefined {
    return this.#homes.get(uid)?.nodeName;
  }

  /** A namespace's labels changed. */
  relabelNamespaces(): void {
    this.#counts.forgetByNamespace();
  }

  /** A waiting pod is promised room on a node. */
  nominate(pod: PodInfo, nodeName: string): void {
    this.#nominations.set(pod, nodeName);
  }

  withdrawNomination(uid: string): void {
    this.#nominations.delete(uid);
  }

  /** Where a waiting pod was promised room. */
  nominationOf(uid: string): string | undefined {
    return this.#nominations.nodeOf(uid);
  }

  #place(pod: PodInfo, nodeName: string, isAssumed: boolean): void {
    this.#homes.set(pod.uid, { pod, nodeName, isAssumed });
    for (const name of pod.claimNames) this.#useClaim(`${pod.namespace}/${name}`, 1);
    const node = this.node(nodeName);
    if (node !== undefined) {
      this.#count(pod, node, 1);
      return this.#replace(node.withPod(pod));
    }
    let homeless = this.#homeless.get(nodeName);
    if (homeless === undefined) this.#homeless.set(nodeName, (homeless = new Map()));
    homeless.set(pod.uid, pod);
  }

  #replace(node: NodeInfo): void {
    this.#nodes[this.#positions.get(node.name)!] = node;
  }

  #count(pod: PodInfo, node: NodeInfo, by: 1 | -1): void {
    this.#counts.change(pod, node, by);
    this.#terms.change(pod, node, by);
  }

  #countImages(old: NodeInfo | undefined, next: NodeInfo | undefined): void {
    if (old?.node.status?.images === next?.node.status?.images) return;
    for (const name of old?.images.keys() ?? []) this.#countImage(name, -1);
    for (const name of next?.images.keys() ?? []) this.#countImage(name, 1);
  }

  #countImage(name: string, by: number): void {
    add(this.#images, name, by);
  }

  #useClaim(claim: string, by: number): void {
    add(this.#claims, claim, by);
  }

  #order(): void {
    this.#nodes = orderByZone(this.#nodes);
    this.#positions.clear();
    for (const [position, { name }] of this.#nodes.entries()) this.#positions.set(name, position);
    this.#isOrdered = true;
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** Which waiting pods were promised room on which node. */
class Nominations {
  readonly #byNode = new Map<string, PodInfo[]>();
  readonly #nodeOf = new Map<string, string>();

  get size(): number {
    return this.#nodeOf.size;
  }

  nodeOf(uid: string): string | undefined {
    return this.#nodeOf.get(uid);
  }

  on(nodeName: string): readonly PodInfo[] {
    return this.#byNode.get(nodeName) ?? nobody;
  }

  set(pod: PodInfo, nodeName: string): void {
    this.delete(pod.uid);
    this.#nodeOf.set(pod.uid, nodeName);
    this.#byNode.set(nodeName, [...this.on(nodeName), pod]);
  }

  delete(uid: string): void {
    const nodeName = this.#nodeOf.get(uid);
    if (nodeName === undefined) return;
    this.#nodeOf.delete(uid);
    const rest = this.on(nodeName).filter((pod) => pod.uid !== uid);
    if (rest.length === 0) this.#byNode.delete(nodeName);
    else this.#byNode.set(nodeName, rest);
  }
}

const nobody: readonly PodInfo[] = [];

import { nodeEvents } from "../../driver/change-events.ts";
import { podInfoOf } from "../../state/pod-info.ts";
import { clusterOf, listerOf } from "../cluster.ts";
import { driver } from "./devices.ts";
import { Generator } from "./generate.ts";
import { nameOf } from "./world.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Random } from "../../../base/random.ts";
import type { Node, Pod } from "../../../api/core-v1/types.ts";
import type { PodDisruptionBudget } from "../../../api/policy-v1/types.ts";
import type { ResourceClaim, ResourceSlice } from "../../../api/resource-v1/types.ts";
import type { Lister } from "../../../client/index.ts";
import type { ClusterEvent } from "../../framework/cluster-event.ts";
import type { Cycle } from "../../framework/plugin.ts";
import type { ClaimAllocation } from "../../plugins/devices/allocate.ts";
import type { Placed, World } from "./world.ts";

/** A random cluster, as the scheduler keeps it and as the oracle sees it: what happens is told to both. */
export class OracleCluster {
  readonly generator: Generator;
  readonly world: World;
  readonly state: ReturnType<typeof clusterOf>;
  readonly #random: Random;
  readonly #nodes: Node[];
  readonly #pods: Placed[] = [];
  readonly #budgets: PodDisruptionBudget[];
  readonly #slices: ResourceSlice[];
  readonly #deviceClaims: ResourceClaim[] = [];
  #events: ClusterEvent[] = [];

  constructor(random: Random, nodes: number) {
    this.#random = random;
    this.generator = new Generator(random);
    const { generator } = this;
    this.#nodes = Array.from({ length: nodes }, () => generator.node());
    this.#slices = this.#nodes.filter(() => generator.chance(2)).map((node) => generator.slice(nameOf(node)));
    this.#budgets = Array.from({ length: random.integer(4) }, () => generator.budget());
    const pairs = Array.from({ length: 4 }, () => generator.volume());
    const [volumes, claims] = [pairs.map(({ volume }) => volume), pairs.map(({ claim }) => claim)];
    const services = [{ metadata: { name: "a", namespace: "default" }, spec: { selector: { app: "a" } } }];
    const [budgets, slices, deviceClaims] = [this.#budgets, this.#slices, this.#deviceClaims];
    this.world = { nodes: this.#nodes, pods: this.#pods, services, claims, volumes, budgets, slices, deviceClaims };
    const deviceClass = { metadata: { name: "gpu" }, spec: { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }] } };
    this.state = clusterOf(this.#nodes, {
      namespaces: listerOf(...["default", "other"].map((name) => ({ metadata: { name } }))),
      services: listerOf(...services),
      persistentVolumes: listerOf(...volumes),
      persistentVolumeClaims: listerOf(...claims),
      podDisruptionBudgets: liveLister(budgets),
      resourceSlices: liveLister(slices),
      resourceClaims: liveLister(deviceClaims),
      deviceClasses: listerOf(deviceClass),
    });
  }

  /** A new pod, with a claim of its own or one that others have too. */
  pod(): Pod {
    const { generator } = this;
    return generator.pod(this.world.claims, (namespace) => {
      if (!generator.chance(6)) return undefined;
      const known = this.#deviceClaims.filter(({ metadata }) => metadata.namespace === namespace);
      if (known.length > 0 && generator.chance(4)) return generator.pick(known).metadata.name!;
      const claim = generator.deviceClaim(namespace);
      this.#deviceClaims.push(claim);
      return claim.metadata.name!;
    });
  }

  /** The pod runs; its claims have what it was given. */
  place(pod: Pod, nodeName: string, given: readonly ClaimAllocation[]): void {
    this.state.assume(podInfoOf(pod), nodeName);
    this.#pods.push({ pod, nodeName });
    for (const { claim, picks } of given) {
      const results = picks.map(({ request, found }) => ({ request, driver, pool: nodeName, device: found.device.name }));
      const nodeSelector = { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [nodeName] }] }] };
      this.#setAllocation(claim.metadata.name!, { devices: { results }, nodeSelector });
    }
    this.#happened({ resource: "AssignedPod", action: "Add", current: pod as never });
  }

  removePod(uid: string): void {
    const index = this.#pods.findIndex(({ pod }) => pod.metadata.uid === uid);
    const [{ pod }] = this.#pods.splice(index, 1) as [Placed];
    this.state.removePod(uid);
    this.#happened({ resource: "AssignedPod", action: "Delete", old: pod as never });
    const stillUsed = new Set(this.#pods.flatMap((one) => claimNames(one.pod)));
    for (const name of claimNames(pod)) if (!stillUsed.has(name)) this.#setAllocation(name, undefined);
  }

  /** Something else happens, or not. */
  change(): void {
    const { generator } = this;
    switch (this.#random.integer(10)) {
      case 0:
        if (this.#pods.length > 0) this.removePod(generator.pick(this.#pods).pod.metadata.uid!);
        return;
      case 1: {
        const index = this.#random.integer(this.#nodes.length);
        const old = this.#nodes[index]!;
        this.#nodes[index] = generator.node(nameOf(old));
        this.state.putNode(this.#nodes[index]);
        return this.#happened(...nodeEvents(old, this.#nodes[index]));
      }
      case 2: {
        const node = generator.node();
        this.#nodes.push(node);
        this.state.putNode(node);
        return this.#happened({ resource: "Node", action: "Add", current: node as never });
      }
      case 3: {
        if (this.#nodes.length < 3) return;
        const [node] = this.#nodes.splice(this.#random.integer(this.#nodes.length), 1) as [Node];
        this.state.removeNode(nameOf(node));
        return this.#happened({ resource: "Node", action: "Delete", old: node as never });
      }
      case 4: {
        const slice = generator.slice(nameOf(generator.pick(this.#nodes)));
        const isThere = this.#slices.some(({ spec }) => spec?.nodeName === slice.spec?.nodeName);
        if (isThere) return;
        this.#slices.push(slice);
        return this.#happened({ resource: "ResourceSlice", action: "Add", current: slice as never });
      }
      case 5: {
        if (this.#budgets.length === 0) return;
        const index = this.#random.integer(this.#budgets.length);
        const { metadata, spec } = this.#budgets[index]!;
        const next = { ...metadata, resourceVersion: String(Number(metadata.resourceVersion) + 1) };
        this.#budgets[index] = { metadata: next, spec: spec!, status: { disruptionsAllowed: this.#random.integer(3) } };
      }
    }
  }

  /** What happened since this was last asked. */
  takeEvents(): readonly ClusterEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #happened(...events: ClusterEvent[]): void {
    this.#events.push(...events);
  }

  #setAllocation(name: string, allocation: NonNullable<ResourceClaim["status"]>["allocation"]): void {
    const index = this.#deviceClaims.findIndex(({ metadata }) => metadata.name === name);
    const old = this.#deviceClaims[index]!;
    const metadata = { ...old.metadata, resourceVersion: String(Number(old.metadata.resourceVersion) + 1) };
    this.#deviceClaims[index] = { metadata, spec: old.spec!, ...(allocation !== undefined && { status: { allocation } }) };
    this.#happened({ resource: "ResourceClaim", action: "Update", old: old as never, current: this.#deviceClaims[index] as never });
  }
}

/** What a decision gives to the pod's claims on a node. */
export function allocationsIn({ state }: Cycle, nodeName: string): readonly ClaimAllocation[] {
  const found = state.get("DynamicResources") as { readonly found: ReadonlyMap<string, { readonly allocations: readonly ClaimAllocation[] }> } | undefined;
  return found?.found.get(nodeName)?.allocations ?? [];
}

const claimNames = ({ spec }: Pod) => (spec?.resourceClaims ?? []).map(({ resourceClaimName = "" }) => resourceClaimName);

/** A cache that shows what the array holds at the moment. */
function liveLister<T extends KubeObject>(objects: readonly T[]): Lister<T> {
  return {
    list: () => objects as never,
    byIndex: () => [],
    get: (namespace, name) => objects.find(({ metadata }) => (metadata.namespace ?? "") === namespace && metadata.name === name) as never,
  };
}

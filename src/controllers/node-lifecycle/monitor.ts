import { isConflict, isNotFound } from "../../apimachinery/status.ts";
import { referenceTo, resources } from "../../client/index.ts";
import { eventAction, patchAction } from "../../operator/index.ts";
import { conditionPatch } from "../pods/condition-patch.ts";
import { podCondition } from "../pods/pod-state.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { readyStatus, taintsOf, zoneKey } from "../nodes/node-conditions.ts";
import { isSilent, observe, silenced } from "./health.ts";
import { taintAction, withEvictionTaint, withoutEvictionTaints } from "./plan.ts";
import { evictionRate, zoneStates } from "./zones.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";
import type { Action, ControllerContext } from "../../operator/index.ts";
import type { HealthSettings, NodeHealth } from "./health.ts";
import type { EvictionSettings } from "./zones.ts";

/**
 * Listens for nodes' signs of life, declares silent ones Unknown, and taints those that are not ready so that their pods move, zone by
 * zone and not all at once. Driven by `look` every few seconds; remembers when each node was last heard of, and when each zone last lost
 * a node. Losing that memory only gives silent nodes another grace period.
 */
export class NodeMonitor {
  readonly #context: ControllerContext;
  readonly #settings: MonitorSettings;
  readonly #health = new Map<string, NodeHealth>();
  readonly #known = new Set<string>();
  readonly #nextEvictionMs = new Map<string, number>();
  readonly #zones = new Set<string>();
  #isAllDown = false;

  constructor(context: ControllerContext, settings: MonitorSettings) {
    this.#context = context;
    this.#settings = settings;
  }

  async look(): Promise<void> {
    const { caches, clock } = this.#context;
    const cached = caches.of(resources.nodes).list();
    this.#register(cached);
    const nodes = await Promise.all(cached.map((node) => this.#check(node, clock.nowMs())));
    await this.#evict(
      nodes.filter((node) => node !== undefined),
      clock.nowMs(),
    );
  }

  /** Returns the node as it is after the look; undefined when it is gone. */
  async #check(node: DeepReadonly<Node>, nowMs: number): Promise<DeepReadonly<Node> | undefined> {
    const name = node.metadata.name ?? "";
    const lease = this.#context.caches.of(resources.leases).get("kube-node-lease", name);
    const health = observe(this.#health.get(name), node, lease, nowMs);
    this.#health.set(name, health);
    if (!isSilent(health, node, this.#settings, nowMs) || silenced(node, nowMs) === undefined) return node;
    const { client, signal } = this.#context;
    try {
      // The cache may be behind: a node must not lose its pods for our slowness.
      const live = (await client.get(resources.nodes, "", name, { signal })) as DeepReadonly<Node>;
      const now = observe(health, live, lease, nowMs);
      this.#health.set(name, now);
      const updated = isSilent(now, live, this.#settings, nowMs) ? silenced(live, nowMs) : undefined;
      if (updated === undefined) return live;
      const written = (await client.updateStatus(resources.nodes, updated, { signal })) as DeepReadonly<Node>;
      if (readyStatus(live) === "True") await this.#tellNotReady(written);
      return written;
    } catch (error) {
      signal.throwIfAborted();
      if (isNotFound(error)) return undefined;
      this.#context.log.debug("Could not declare a node silent, trying again", { node: name, error });
      return node;
    }
  }

  /** Pods of a node that went silent are not ready any more: only the node could tell that they are. */
  async #tellNotReady(node: DeepReadonly<Node>): Promise<void> {
    const { caches, clock } = this.#context;
    const name = node.metadata.name ?? "";
    const pods = caches.of(resources.pods).byIndex("node", name);
    const message = `Node ${name} status is now: NodeNotReady`;
    const actions: Action[] = [eventAction(nodeReference(node), { type: "Normal", reason: "NodeNotReady", message })];
    for (const pod of pods) if (podCondition(pod, "Ready")?.status === "True") actions.push(...podNotReady(pod, clock.nowMs()));
    await this.#context.carryOut(name, { actions });
  }

  async #evict(nodes: readonly DeepReadonly<Node>[], nowMs: number): Promise<void> {
    const zones = zoneStates(nodes, this.#settings);
    // A cluster without nodes is as good as one that cannot be heard.
    const isAllDown = [...zones.values()].every(({ state }) => state === "full");
    if (this.#isAllDown && !isAllDown) this.#recover(nowMs);
    this.#isAllDown = isAllDown;
    for (const zone of zones.keys()) this.#zones.add(zone);
    for (const node of nodes) {
      const taints = isAllDown || readyStatus(node) === undefined ? withoutEvictionTaints(node) : withEvictionTaint(node, nowMs);
      if (deepEqual(taints, taintsOf(node))) continue;
      const isFirst = taints.length > taintsOf(node).length;
      if (isFirst && !this.#mayEvict(node, evictionRate(zones.get(zoneKey(node))!, this.#settings), nowMs)) continue;
      const tainted = this.#taint(node, nowMs).then(() => isFirst && this.#countEviction(node));
      await tainted.catch((error: unknown) => {
        this.#context.signal.throwIfAborted();
        if (isFirst) this.#nextEvictionMs.delete(zoneKey(node));
        this.#context.log.debug("Could not taint a node, trying again", { node: node.metadata.name, error });
      });
    }
  }

  #countEviction(node: DeepReadonly<Node>): void {
    const help = "Number of Node evictions that happened since current instance of NodeController started.";
    this.#context.metrics?.counter("node_collector_evictions_total", help, ["zone"]).add(1, zoneKey(node));
  }

  /** Nodes can be heard again: each gets another grace period, and zones known before begin slowly. */
  #recover(nowMs: number): void {
    for (const [name, health] of this.#health) this.#health.set(name, { ...health, heardMs: nowMs });
    for (const zone of this.#zones) this.#nextEvictionMs.set(zone, nowMs + 1000 / this.#settings.rate);
  }

  /** Its other taints may be changing at the same time: then on what is there now. */
  async #taint(node: DeepReadonly<Node>, nowMs: number): Promise<void> {
    const { carryOut, client, signal } = this.#context;
    const name = node.metadata.name ?? "";
    const taintsFor = (current: DeepReadonly<Node>) =>
      this.#isAllDown || readyStatus(current) === undefined ? withoutEvictionTaints(current) : withEvictionTaint(current, nowMs);
    try {
      await carryOut(name, { actions: [taintAction(node, taintsFor(node))] });
    } catch (error) {
      if (!isConflict(error)) throw error;
      const live = (await client.get(resources.nodes, "", name, { signal })) as DeepReadonly<Node>;
      await carryOut(name, { actions: [taintAction(live, taintsFor(live))] });
    }
  }

  #mayEvict(node: DeepReadonly<Node>, rate: number, nowMs: number): boolean {
    const zone = zoneKey(node);
    if (rate <= 0 || (this.#nextEvictionMs.get(zone) ?? 0) > nowMs) return false;
    this.#nextEvictionMs.set(zone, nowMs + 1000 / rate);
    return true;
  }

  #register(nodes: readonly DeepReadonly<Node>[]): void {
    const { events } = this.#context;
    const present = new Set(nodes.map(({ metadata }) => metadata.name ?? ""));
    for (const node of nodes) {
      const name = node.metadata.name ?? "";
      if (this.#known.has(name)) continue;
      this.#known.add(name);
      events.record(nodeReference(node), { type: "Normal", reason: "RegisteredNode", message: `Node ${name} event: Registered Node ${name} in Controller` });
    }
    for (const name of this.#known) {
      if (present.has(name)) continue;
      this.#known.delete(name);
      this.#health.delete(name);
      const message = `Node ${name} event: Removing Node ${name} from Controller`;
      events.record({ kind: "Node", apiVersion: "v1", name, uid: name }, { type: "Normal", reason: "RemovingNode", message });
    }
  }
}

export interface MonitorSettings extends HealthSettings, EvictionSettings {}

function nodeReference(node: DeepReadonly<Node>) {
  const { resourceVersion: _resourceVersion, ...reference } = referenceTo(resources.nodes, node);
  return reference;
}

function podNotReady(pod: DeepReadonly<Pod>, nowMs: number): Action[] {
  const condition = { ...podCondition(pod, "Ready"), type: "Ready", status: "False", lastTransitionTime: formatTime(nowMs) };
  return [
    eventAction(referenceTo(resources.pods, pod), { type: "Warning", reason: "NodeNotReady", message: "Node is not ready" }),
    patchAction(resources.pods, pod, conditionPatch(pod, condition), {
      subresource: "status",
      onError: (error) => ({ severity: isNotFound(error) ? "ignore" : "continue" }),
    }),
  ];
}

/**
 * Registers the node, keeps its status, and beats its heart by a Lease (documentation page "Nodes", "Node heartbeats"): the status is written
 * when something changed, and every 5 minutes; the lease every 10 s. Driven by `run`.
 */
import { deepEqual } from "../../apimachinery/json.ts";
import type { DeepReadonly, JsonObject } from "../../apimachinery/json.ts";
import { isAlreadyExists, isNotFound } from "../../apimachinery/status.ts";
import { formatMicroTime } from "../../apimachinery/time.ts";
import type { Lease } from "../../api/coordination-v1/types.ts";
import type { Node, NodeCondition, NodeStatus, ObjectReference } from "../../api/core-v1/types.ts";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import { resources } from "../../client/index.ts";
import type { Client, EventSink } from "../../client/index.ts";
import type { PressureCondition } from "../eviction/thresholds.ts";
import type { ContainerRuntime } from "../runtime/cri.ts";
import { conditionEvents } from "./node-events.ts";
import { newNode, nodeLabels, nodeStatus } from "./node-object.ts";
import type { NodeFacts, NodeState } from "./node-object.ts";

export class NodeReporter {
  readonly #options: NodeReporterOptions;
  #node: DeepReadonly<Node> | undefined;
  #reportedMs = 0;
  #lease: Lease | undefined;
  #hurry = new AbortController();

  constructor(options: NodeReporterOptions) {
    this.#options = options;
  }

  /** The node as the server has it; undefined before it is registered. */
  get node(): DeepReadonly<Node> | undefined {
    return this.#node;
  }

  /** Creates the node, or takes over one of this name; tries until it succeeds. */
  async register(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    for (let delayMs = 100; ; delayMs = Math.min(7000, delayMs * 2)) {
      try {
        this.#node = await this.#createOrAdopt(signal);
        this.#reportedMs = clock.nowMs();
        return;
      } catch (error) {
        signal.throwIfAborted();
        log.warn("Could not register the node", { node: this.#options.facts.name, error });
        await sleep(clock, delayMs, signal);
      }
    }
  }

  /** The node has changed: tells so now. */
  reportSoon(): void {
    this.#hurry.abort();
  }

  /** Beats and reports until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#repeat(leaseIntervalMs, () => this.#beat(signal), signal),
      this.#repeat(this.#options.statusIntervalMs, () => this.#report(signal), signal, true),
    ]);
  }

  async #repeat(intervalMs: number, work: () => Promise<void>, signal: AbortSignal, isHurried = false): Promise<void> {
    const { clock, log, random, facts } = this.#options;
    while (!signal.aborted) {
      if (isHurried) this.#hurry = new AbortController();
      const wake = isHurried ? AbortSignal.any([signal, this.#hurry.signal]) : signal;
      try {
        await work();
      } catch (error) {
        if (!signal.aborted) log.warn("Could not tell the server of the node", { node: facts.name, error });
      }
      // A little jitter, so that many nodes do not beat at once.
      await sleep(clock, intervalMs * (1 + 0.04 * random.fraction()), wake).catch(() => undefined);
    }
  }

  async #createOrAdopt(signal: AbortSignal): Promise<Node> {
    const { client, clock, facts } = this.#options;
    const state = await this.#state(signal);
    try {
      return await client.create(resources.nodes, newNode(facts, state, clock.nowMs()), { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    const known = await client.get(resources.nodes, "", facts.name, { signal });
    const labels = Object.fromEntries(Object.entries(nodeLabels(facts)).filter(([name, value]) => known.metadata.labels?.[name] !== value));
    const current =
      Object.keys(labels).length === 0
        ? known
        : await client.patch(resources.nodes, "", facts.name, { type: "strategic", body: { metadata: { labels } }, signal });
    return this.#writeStatus(current, nodeStatus(facts, state, current.status ?? {}, clock.nowMs()), signal);
  }

  async #state(signal: AbortSignal): Promise<NodeState> {
    const { runtime } = this.#options;
    const [images, status] = await Promise.all([runtime.listImages(undefined, signal).catch(() => []), runtime.status(signal).catch(() => undefined)]);
    return {
      images,
      runtime: status,
      pressure: this.#options.pressure(),
      isShuttingDown: this.#options.isShuttingDown(),
      devices: this.#options.devices(),
      volumesInUse: this.#options.volumesInUse(),
    };
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { client, clock, events, facts } = this.#options;
    if (this.#node === undefined) return;
    const nowMs = clock.nowMs();
    const isDue = nowMs - this.#reportedMs >= reportIntervalMs;
    const wanted = nodeStatus(facts, await this.#state(signal), this.#node.status ?? {}, nowMs);
    if (!isDue && isSameStatus(this.#node.status ?? {}, wanted)) return;
    const before = this.#node.status?.conditions ?? [];
    try {
      const current = await client.get(resources.nodes, "", facts.name, { resourceVersion: "0", signal });
      this.#node = await this.#writeStatus(current, { ...wanted, conditions: mergedConditions(current, wanted) }, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // Somebody deleted the node; it is here all the same.
      await this.register(signal);
    }
    this.#reportedMs = nowMs;
    for (const event of conditionEvents(facts.name, before, wanted.conditions ?? [])) events.record(nodeReference(facts.name), event);
  }

  /** Lists of a node's status are replaced or merged by type; what we do not own stays. */
  async #writeStatus(current: DeepReadonly<Node>, status: NodeStatus, signal: AbortSignal): Promise<Node> {
    const before = (current.status ?? {}) as JsonObject;
    const changed = Object.fromEntries(Object.entries(status).filter(([member, value]) => !deepEqual(before[member], value)));
    const body = { metadata: { uid: current.metadata.uid }, status: changed };
    return this.#options.client.patch(resources.nodes, "", this.#options.facts.name, { type: "strategic", body, subresource: "status", signal });
  }

  async #beat(signal: AbortSignal): Promise<void> {
    const { client, clock, facts } = this.#options;
    const renewTime = formatMicroTime(clock.nowMs());
    if (this.#lease !== undefined) {
      try {
        this.#lease = await client.update(resources.leases, { ...this.#lease, spec: { ...this.#lease.spec, renewTime } }, { signal });
        return;
      } catch {
        // It was changed or deleted: read it again.
        this.#lease = undefined;
        signal.throwIfAborted();
      }
    }
    const uid = this.#node?.metadata.uid;
    const wanted: Lease = {
      metadata: {
        name: facts.name,
        namespace: "kube-node-lease",
        ...(uid !== undefined && { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: facts.name, uid }] }),
      },
      spec: { holderIdentity: facts.name, leaseDurationSeconds, renewTime },
    };
    try {
      this.#lease = await client.create(resources.leases, wanted, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const known = await client.get(resources.leases, "kube-node-lease", facts.name, { signal });
      this.#lease = await client.update(
        resources.leases,
        { ...known, metadata: { ...known.metadata, ...wanted.metadata }, spec: { ...known.spec, ...wanted.spec } },
        { signal },
      );
    }
  }
}

export interface NodeReporterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly runtime: ContainerRuntime;
  readonly facts: NodeFacts;
  /** How often the machine is looked at. */
  readonly statusIntervalMs: number;
  readonly events: EventSink;
  pressure(): readonly PressureCondition[];
  devices(): NodeState["devices"];
  isShuttingDown(): boolean;
  volumesInUse(): readonly string[];
}

/** How events name the node: as kubelets do, by the name alone. */
export function nodeReference(nodeName: string): ObjectReference {
  return { kind: "Node", name: nodeName, uid: nodeName };
}

const leaseIntervalMs = 10_000;
const leaseDurationSeconds = 40;
const reportIntervalMs = 300_000;

/** Equal but for heartbeats. */
function isSameStatus(before: DeepReadonly<NodeStatus>, after: NodeStatus): boolean {
  const quiet = (conditions: readonly DeepReadonly<NodeCondition>[] = []) => conditions.map(({ lastHeartbeatTime: _time, ...rest }) => rest);
  const { conditions, ...rest } = after;
  return (
    deepEqual(quiet(before.conditions), quiet(conditions)) && Object.entries(rest).every(([member, value]) => deepEqual((before as JsonObject)[member], value))
  );
}

/** Our conditions, and those that others set meanwhile. */
function mergedConditions(current: DeepReadonly<Node>, wanted: NodeStatus): NodeCondition[] {
  const own = wanted.conditions ?? [];
  const others = (current.status?.conditions ?? []).filter(({ type }) => !own.some((condition) => condition.type === type));
  return [...others.map((condition) => ({ ...condition })), ...own];
}

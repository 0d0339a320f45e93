import { invariant } from "../base/invariant.ts";
import { TaskGroup } from "../base/task-group.ts";
import { isConflict } from "../apimachinery/status.ts";
import { resourceLabel, WorkQueue, workQueueMetrics, WriteTracker } from "../client/index.ts";
import { carryOut } from "./carry-out.ts";
import { UncertainWrites } from "./uncertain-writes.ts";
import type { BackoffPolicy } from "../base/backoff.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { MetricRegistry } from "../base/metrics.ts";
import type { Random } from "../base/random.ts";
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Change, Client, EventSink, Informer, InformerSet, ResourceType } from "../client/index.ts";
import type { PlanOutcome } from "./carry-out.ts";
import type { NamedObject, Plan, WriteAction } from "./plan.ts";
import type { Caches, Watch } from "./watch.ts";

/**
 * Makes a controller from its parts. The usual one is pure: `snapshot` gathers from the caches what concerns a key, `plan` decides, and
 * the harness watches, queues, carries out, retries, and defers a key until the caches have seen the controller's own last writes for it,
 * also those of which no answer told. One that needs more gives `reconcile` instead, and may hand plans to `context.carryOut` from there;
 * `start` runs beside the workers.
 */
export function defineController<Snapshot = never>(definition: PlannedController<Snapshot> | ReconcilingController): Controller {
  const { name, account = name, eventSource = account } = definition;
  return { name, account, eventSource, run: (services, signal) => new Harness(definition, services).run(signal) };
}

/** A loop that keeps part of the cluster as it should be; `defineController` makes one. */
export interface Controller {
  /** As `--controllers` names it, such as `deployment-controller`. */
  readonly name: string;
  /** The service account in kube-system whose rights it has. */
  readonly account: string;
  /** `source.component` of its events. */
  readonly eventSource: string;
  /** Runs until `signal` aborts and all its work has ended. */
  run(services: ControllerServices, signal: AbortSignal): Promise<void>;
}

/** What the composition root gives a controller. */
export interface ControllerServices {
  readonly client: Client;
  readonly informers: InformerSet;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics?: MetricRegistry;
  /** Hears of every key that was worked on: decision, reasons and result in one record. */
  readonly onReconciled?: (record: ReconcileRecord) => void;
}

/** One key that was worked on: what was decided and how it went. `atMs` is in ms since 1970, `durationMs` how long carrying it out took. */
export interface ReconcileRecord {
  readonly controller: string;
  readonly key: string;
  readonly atMs: number;
  readonly durationMs: number;
  /** What it was decided from; absent where a controller acts by itself. */
  readonly snapshot?: unknown;
  readonly plan: Plan;
  readonly outcome: PlanOutcome;
}

interface ControllerParts {
  readonly name: string;
  /** Default: the name. */
  readonly account?: string;
  /** Default: the account. */
  readonly eventSource?: string;
  /** Keys worked on at the same time. Default 5. */
  readonly workers?: number;
  /** Pauses before a key that failed comes again. Default: 5 ms, doubled up to 1,000 s. */
  readonly backoff?: BackoffPolicy;
  readonly watches: readonly Watch[];
  /** Background work beside the workers, started once the caches are full; the controller's `run` ends only after it has. */
  start?(context: ControllerContext): Promise<void>;
}
/** A controller whose decision is a pure function of what its caches hold. */
export interface PlannedController<Snapshot> extends ControllerParts {
  /** Everything the decision may depend on, from the caches; undefined when the key needs nothing (its object is gone). */
  snapshot(key: string, caches: Caches): Snapshot | undefined;
  /** Pure. */
  plan(snapshot: Snapshot, nowMs: number): Plan;
}
/** A controller that acts by itself, where one plan per key is not enough. */
export interface ReconcilingController extends ControllerParts {
  /** Throws to have the key retried with growing pauses. */
  reconcile(key: string, context: ControllerContext): Promise<void>;
}

/** What a controller has while it runs: the services it was given, its own caches and queue. */
export interface ControllerContext extends ControllerServices {
  readonly caches: Caches;
  readonly queue: Pick<WorkQueue, "add" | "addAfter">;
  readonly signal: AbortSignal;
  /** Tells of a write the controller made past `carryOut`, so that the key waits until the caches have seen it. `object` is the server's answer. */
  noteWrite(key: string, resource: ResourceType, object: DeepReadonly<KubeObject>): void;
  /** The same for a deletion. */
  noteDelete(key: string, resource: ResourceType, object: NamedObject): void;
  /** Carries a plan out for a key: writes are tracked, a requeue is arranged, and the first failure that counts is thrown. */
  carryOut(key: string, plan: Plan): Promise<PlanOutcome>;
}

class Harness<Snapshot> {
  readonly #definition: PlannedController<Snapshot> | ReconcilingController;
  readonly #services: ControllerServices;
  readonly #queue: WorkQueue;
  readonly #tracker = new WriteTracker((key) => this.#queue.add(key));
  readonly #uncertain = new UncertainWrites();
  readonly #informers = new Map<string, Informer<KubeObject>>();
  readonly #caches: Caches;

  constructor(definition: PlannedController<Snapshot> | ReconcilingController, services: ControllerServices) {
    this.#definition = definition;
    this.#services = { ...services, log: services.log.with({ controller: definition.name }) };
    this.#queue = new WorkQueue({
      clock: services.clock,
      ...(definition.backoff !== undefined && { backoff: definition.backoff }),
      ...(services.metrics !== undefined && { metrics: workQueueMetrics(services.metrics, definition.name) }),
    });
    this.#caches = { of: <T extends KubeObject>(resource: ResourceType<T>) => this.#informer(resource) as unknown as Informer<T> };
  }

  async run(signal: AbortSignal): Promise<void> {
    const unsubscribe: (() => void)[] = [];
    try {
      for (const watch of this.#definition.watches) {
        const informer = this.#services.informers.get(watch.resource, watch.selection);
        for (const [name, keys] of Object.entries(watch.indexes ?? {})) informer.addIndex(name, keys);
        this.#informers.set(resourceLabel(watch.resource), informer);
      }
      // Full caches first: a handler may look into another resource's cache to find its keys.
      for (const informer of this.#informers.values()) await informer.synced(signal);
      for (const watch of this.#definition.watches) {
        if (watch.keys !== undefined) unsubscribe.push(this.#informer(watch.resource).subscribe((change) => this.#onChange(watch, change)));
      }
      await this.#work(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const end of unsubscribe) end();
      this.#queue.close();
      this.#tracker.close();
    }
  }

  async #work(parent: AbortSignal): Promise<void> {
    const { name, workers = defaultWorkers, start } = this.#definition;
    const { log } = this.#services;
    const group = new TaskGroup({ parent });
    const onError = (key: string, error: unknown, retryMs: number) => {
      // Two writers meeting is everyday business.
      if (isConflict(error)) log.debug("Met another writer, trying again", { key, retryMs });
      else log.warn("Could not reconcile, trying again", { key, retryMs, error });
    };
    group.start(`${name} workers`, (signal) => this.#queue.run((key) => this.#reconcile(key, signal), { workers, signal, onError }));
    if (start !== undefined) group.start(`${name} background`, (signal) => start.call(this.#definition, this.#context(signal)));
    await group.join();
  }

  #informer(resource: ResourceType): Informer<KubeObject> {
    const informer = this.#informers.get(resourceLabel(resource));
    invariant(informer !== undefined, `${this.#definition.name} does not watch ${resourceLabel(resource)}`);
    return informer;
  }

  #onChange(watch: Watch, change: Change<KubeObject>): void {
    if (watch.keys === undefined || watch.isRelevant?.(change) === false) return;
    const keys = new Set(watch.keys(change.object, this.#caches));
    if (change.old !== undefined) for (const key of watch.keys(change.old, this.#caches)) keys.add(key);
    for (const key of keys) this.#queue.addAfter(key, watch.delayMs ?? 0);
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<void | "deferred"> {
    for (const { resource, namespace, name, object } of await this.#uncertain.ask(key, this.#services.client, signal)) {
      if (object === undefined) this.#noteDelete(key, resource, { metadata: { namespace, name } });
      else this.#noteWrite(key, resource, object);
    }
    if (!this.#tracker.isCaughtUp(key)) {
      this.#tracker.onceCaughtUp(key, () => this.#queue.add(key));
      return "deferred";
    }
    const definition = this.#definition;
    if ("reconcile" in definition) return definition.reconcile(key, this.#context(signal));
    const snapshot = definition.snapshot(key, this.#caches);
    if (snapshot !== undefined) await this.#carryOut(key, definition.plan(snapshot, this.#services.clock.nowMs()), signal, snapshot);
  }

  #context(signal: AbortSignal): ControllerContext {
    return {
      ...this.#services,
      caches: this.#caches,
      queue: this.#queue,
      signal,
      carryOut: (key, plan) => this.#carryOut(key, plan, signal),
      noteWrite: (key, resource, object) => this.#noteWrite(key, resource, object),
      noteDelete: (key, resource, object) => this.#noteDelete(key, resource, object),
    };
  }

  async #carryOut(key: string, plan: Plan, signal: AbortSignal, snapshot?: Snapshot): Promise<PlanOutcome> {
    const { client, events, clock, onReconciled } = this.#services;
    const atMs = clock.nowMs();
    const outcome = await carryOut(plan, { client, events, signal, onWrite: (action, object) => this.#note(key, action, object) });
    const durationMs = clock.nowMs() - atMs;
    onReconciled?.({ controller: this.#definition.name, key, atMs, durationMs, ...(snapshot !== undefined && { snapshot }), plan, outcome });
    if (outcome.failure !== undefined) {
      this.#uncertain.note(key, outcome);
      throw outcome.failure;
    }
    if (outcome.requeueAfterMs !== undefined) this.#queue.addAfter(key, outcome.requeueAfterMs);
    return outcome;
  }

  #note(key: string, action: WriteAction, object: DeepReadonly<KubeObject> | undefined): void {
    if (action.kind !== "delete") return object && this.#noteWrite(key, action.resource, object);
    const uid = action.options.preconditions?.uid;
    this.#noteDelete(key, action.resource, { metadata: { namespace: action.namespace, name: action.name, ...(uid !== undefined && { uid }) } });
  }

  #noteWrite(key: string, resource: ResourceType, object: DeepReadonly<KubeObject>): void {
    const informer = this.#informers.get(resourceLabel(resource));
    if (informer !== undefined && object.metadata.resourceVersion !== undefined) this.#tracker.noteWrite(key, informer, object.metadata.resourceVersion);
  }

  #noteDelete(key: string, resource: ResourceType, { metadata }: NamedObject): void {
    const informer = this.#informers.get(resourceLabel(resource));
    if (informer !== undefined) this.#tracker.noteDelete(key, informer, { namespace: metadata.namespace ?? "", name: metadata.name ?? "", uid: metadata.uid });
  }
}

const defaultWorkers = 5;

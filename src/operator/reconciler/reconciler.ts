/**
 * Reconcilers: a pure `plan` from a snapshot to what should be, and the driver that makes it so, on the harness of the built-in
 * controllers. One pass over an object: the finalizer if it has none yet → `observe` → `plan` → children, actions, status, events.
 */
import type { BackoffPolicy } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { isConflict } from "../../apimachinery/status.ts";
import { keyOf, referenceTo, splitKey } from "../../client/index.ts";
import type { Change, Client, EventText, InformerSelection, ResourceType } from "../../client/index.ts";
import { defineController } from "../controller.ts";
import type { Controller, ControllerContext } from "../controller.ts";
import type { Plan } from "../plan.ts";
import { controllerKey, ownKey, watch } from "../watch.ts";
import type { Watch } from "../watch.ts";
import { AppliedMemory } from "./apply-difference.ts";
import type { Desired, Finalization, PlanInput } from "./desired.ts";
import { changesOf } from "./pass.ts";
import { cacheView, childIndex } from "./view.ts";
import type { View } from "./view.ts";

/** What a reconciler is made of: the kind it is for, what it owns and watches, its functions. */
export interface ReconcilerOptions<T extends KubeObject, Observed> {
  /** The kind it is for. */
  readonly for: ResourceType<T>;
  /** Default: the resource's name. */
  readonly name?: string;
  /** Kinds of the children it declares: watched, and deleted when they are no longer declared. */
  readonly owns?: readonly ResourceType[];
  /** Further kinds that plans read; `keys` tells which objects a change concerns. */
  readonly watches?: readonly Watch[];
  /** Which changes of the objects themselves count; default all. */
  readonly isRelevant?: (change: Change<T>) => boolean;
  /** Objects worked on at the same time. Default 5. */
  readonly workers?: number;
  /**
   * The status is a memory and not only a view: it is stored only on the object that the plan was made from, else the plan is made again.
   * Default false: the newest status wins.
   */
  readonly keepsRecord?: boolean;
  /** Pauses before an object that failed comes again. Default: 5 ms, doubled up to 1,000 s. */
  readonly backoff?: BackoffPolicy;
  /** Looks at what the API does not tell: the database behind a pod, a cloud's account. A rejection brings the object again later. */
  observe?(input: ObserveInput<T>): Promise<Observed>;
  /** What should be, and why. Pure: the same input gives the same answer. */
  plan(input: PlanInput<T, Observed>): Desired<T>;
  /** What to do before an object goes. With it the SDK keeps a finalizer on every object. Pure, too. */
  finalize?(input: PlanInput<T, Observed>): Finalization<T>;
}

/** What `observe` may use. `signal` aborts when the operator stops. */
export interface ObserveInput<T extends KubeObject> extends View {
  readonly object: DeepReadonly<T>;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** What `defineReconciler` returns. */
export interface Reconciler {
  readonly name: string;
  readonly resource: ResourceType;
  readonly owned: readonly ResourceType[];
  readonly watched: readonly ResourceType[];
  readonly hasFinalizer: boolean;
  /** The controller that the harness runs. */
  controller(settings: ReconcilerSettings): Controller;
}

export interface ReconcilerSettings {
  /** Whose fields the applied ones are, and the source of events. */
  readonly operatorName: string;
  /** Absent: all namespaces. */
  readonly namespace?: string;
}

/**
 * Makes a reconciler: for each object of a kind, `plan` says what should be, and the SDK applies children, prunes those no longer declared,
 * keeps status, conditions, events and finalizer. Failures bring the object again with growing pauses.
 */
export function defineReconciler<T extends KubeObject, Observed = undefined>(options: ReconcilerOptions<T, Observed>): Reconciler {
  const { owns = [], watches = [] } = options;
  const resource = options.for as unknown as ResourceType;
  const name = options.name ?? options.for.resource;
  return {
    name,
    resource,
    owned: owns,
    watched: watches.map((watched) => watched.resource),
    hasFinalizer: options.finalize !== undefined,
    controller(settings) {
      const selection: InformerSelection = settings.namespace === undefined ? {} : { namespace: settings.namespace };
      const driver = new Driver(options, settings);
      return defineController({
        name,
        account: settings.operatorName,
        ...(options.workers !== undefined && { workers: options.workers }),
        ...(options.backoff !== undefined && { backoff: options.backoff }),
        watches: [
          watch(options.for, { keys: ownKey as Watch<T>["keys"] & {}, selection, ...(options.isRelevant !== undefined && { isRelevant: options.isRelevant }) }),
          ...owns.map((owned) => watch(owned, { keys: controllerKey(resource), indexes: childIndex, ...(owned.isNamespaced && { selection }) })),
          ...watches.map((watched) => ({ ...watched, ...(watched.selection === undefined && watched.resource.isNamespaced && { selection }) })),
        ],
        reconcile: (key, context) => driver.reconcile(key, context),
      });
    },
  };
}

/** One run of a reconciler. State: what was applied and which events were recorded, per object; both forget objects that are gone. */
class Driver<T extends KubeObject, Observed> {
  readonly #options: ReconcilerOptions<T, Observed>;
  readonly #settings: ReconcilerSettings;
  readonly #applied = new AppliedMemory();
  readonly #recorded = new Map<string, readonly string[]>();

  constructor(options: ReconcilerOptions<T, Observed>, settings: ReconcilerSettings) {
    this.#options = options;
    this.#settings = settings;
  }

  async reconcile(key: string, context: ControllerContext): Promise<void> {
    const { namespace, name } = splitKey(key);
    const current = () => context.caches.of(this.#options.for).get(namespace, name);
    const object = current();
    if (object === undefined) {
      this.#applied.forget(key);
      this.#recorded.delete(key);
      return;
    }
    try {
      const observed = (await this.#observe(object, context)) as Observed;
      // The caches may have moved on while the outside was looked at.
      const latest = current();
      if (latest === undefined || latest.metadata.uid !== object.metadata.uid) return;
      const plan = this.#plan(latest, observed, context);
      if (plan !== undefined) await context.carryOut(key, plan);
    } catch (error) {
      if (!context.signal.aborted && !isConflict(error)) this.#tellFailure(object, error, context);
      throw error;
    }
  }

  async #observe(object: DeepReadonly<T>, { caches, client, clock, random, log, signal }: ControllerContext): Promise<Observed | undefined> {
    if (this.#options.observe === undefined) return undefined;
    return this.#options.observe({ ...cacheView(caches, object as DeepReadonly<KubeObject>), object, client, clock, random, log, signal });
  }

  #plan(object: DeepReadonly<T>, observed: Observed, context: ControllerContext): Plan | undefined {
    const { options, settings } = { options: this.#options, settings: this.#settings };
    const view = cacheView(context.caches, object as DeepReadonly<KubeObject>);
    const nowMs = context.clock.nowMs();
    return changesOf(
      { options, view, input: { ...view, object, observed, nowMs }, resource: options.for as unknown as ResourceType },
      { operatorName: settings.operatorName, applied: this.#applied, isNewEvent: (events) => this.#newEvents(keyOf(object), events) },
    );
  }

  /** Those of `events` that the last plan for the object did not have. */
  #newEvents(key: string, events: readonly EventText[]): readonly EventText[] {
    const before = this.#recorded.get(key) ?? [];
    const textOf = ({ type, reason, message }: EventText) => `${type} ${reason} ${message}`;
    this.#recorded.set(key, events.map(textOf));
    return events.filter((event) => !before.includes(textOf(event)));
  }

  #tellFailure(object: DeepReadonly<T>, error: unknown, { events }: ControllerContext): void {
    const message = error instanceof Error ? error.message : String(error);
    const reference = referenceTo(this.#options.for as unknown as ResourceType, object as DeepReadonly<KubeObject>);
    events.record(reference, { type: "Warning", reason: "ReconcileFailed", message });
  }
}

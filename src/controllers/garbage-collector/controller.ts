import { isAbort } from "../../base/task-group.ts";
import { referenceTo, resources } from "../../client/index.ts";
import { defineController, watch } from "../../operator/index.ts";
import { Collector, UnknownOwnerKindError } from "./collector.ts";
import { OwnerGraph } from "./graph.ts";
import { Monitors } from "./monitors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Change, ResourceType } from "../../client/index.ts";
import type { Controller, ControllerContext } from "../../operator/index.ts";
import type { GraphWork } from "./graph.ts";

/**
 * Deletes what has lost its last owner, and sees foreground and orphaning deletions through. Keys are `attempt UID`, `orphan UID`, and
 * `discover`, which looks for resources that came or went whenever a custom resource definition or an APIService changed.
 */
export function garbageCollectorController(options: { readonly workers?: number } = {}): Controller {
  let session: Session | undefined;
  return defineController({
    name: "garbage-collector-controller",
    account: "generic-garbage-collector",
    eventSource: "garbage-collector-controller",
    workers: options.workers ?? 20,
    watches: [
      watch(resources.customResourceDefinitions, { keys: () => ["discover"], delayMs: discoveryPauseMs }),
      watch(resources.apiServices, { keys: () => ["discover"], delayMs: discoveryPauseMs }),
    ],
    async start(context) {
      session = new Session(context);
      try {
        await session.run(context.signal);
      } finally {
        session = undefined;
      }
    },
    async reconcile(key, context) {
      await session?.work(key, context);
    },
  });
}

/** Several changes of definitions are taken together. */
const discoveryPauseMs = 200;

class Session {
  readonly #graph = new OwnerGraph();
  readonly #collector: Collector;
  readonly #monitors: Monitors;
  readonly #context: ControllerContext;
  /** Work that waits for the next discovery: what came before the graph was full, and objects with owners of a kind that is not served. */
  readonly #early = new Set<string>();
  #isReady = false;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#collector = new Collector({ graph: this.#graph, client: context.client, log: context.log });
    this.#monitors = new Monitors({
      client: context.client,
      informers: context.informers,
      onChange: (resource, change) => this.#onChange(resource, change),
      clock: context.clock,
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#context.queue.add("discover");
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#monitors.close();
  }

  async work(key: string, { queue, signal }: ControllerContext): Promise<void> {
    if (key === "discover") return this.#discover(signal);
    if (!this.#isReady) {
      this.#early.add(key);
      return;
    }
    const [kind, uid = ""] = key.split(" ");
    if (kind === "orphan") return this.#collector.orphan(uid, signal);
    try {
      for (const next of await this.#collector.attempt(uid, signal)) queue.add(`attempt ${next}`);
    } catch (error) {
      if (!(error instanceof UnknownOwnerKindError)) throw error;
      this.#early.add(key);
    }
  }

  async #discover(signal: AbortSignal): Promise<void> {
    try {
      this.#collector.resources = await this.#monitors.refresh(signal);
    } catch (error) {
      if (isAbort(error, signal)) return;
      throw error;
    }
    this.#isReady = true;
    const early = [...this.#early];
    this.#early.clear();
    for (const key of early) this.#context.queue.add(key);
  }

  #onChange(resource: ResourceType, change: Change<KubeObject>): void {
    const { uid = "" } = change.object.metadata;
    if (change.kind !== "delete") return this.#take(this.#graph.put(resource, change.object));
    this.#collector.noteGone(uid);
    this.#take(this.#graph.remove(uid));
  }

  #take({ attempts, orphanings, invalid }: GraphWork): void {
    const { queue, events } = this.#context;
    for (const uid of attempts) queue.add(`attempt ${uid}`);
    for (const uid of orphanings) queue.add(`orphan ${uid}`);
    for (const { dependent, reference } of invalid) {
      const object = { metadata: dependent.metadata } as DeepReadonly<KubeObject>;
      const owner = `[${reference.apiVersion}/${reference.kind}, namespace: ${dependent.namespace}, name: ${reference.name}, uid: ${reference.uid}]`;
      const message = `ownerRef ${owner} does not exist in namespace "${dependent.namespace}"`;
      events.record(referenceTo(dependent.resource!, object), { type: "Warning", reason: "OwnerRefInvalidNamespace", message });
    }
  }
}

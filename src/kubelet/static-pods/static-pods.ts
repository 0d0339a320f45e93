/**
 * The pods that the node has of its own: read from files and an address, run by workers like all others, and shown in the API by mirror pods.
 * Driven by `run`, and by `wake` when a worker has ended or a mirror has changed. Invariant: of one name, one worker at a time.
 */
import { isAlreadyExists, isConflict, isNotFound } from "../../apimachinery/status.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import type { PodWorker } from "../pod-sync/pod-worker.ts";
import { fileManifests, urlManifests } from "./manifest-source.ts";
import { fullName, planMirrors } from "./mirror-plan.ts";
import { isStaticPod, readStaticPods } from "./static-pod.ts";
import type { Manifest } from "./static-pod.ts";

export class StaticPods {
  readonly #options: StaticPodsOptions;
  readonly #bySource = new Map<string, readonly Pod[]>();
  readonly #ready = Promise.withResolvers<void>();
  #wakeUp: (() => void) | undefined;
  #isDirty = false;

  constructor(options: StaticPodsOptions) {
    this.#options = options;
  }

  get pods(): readonly DeepReadonly<Pod>[] {
    return [...this.#bySource.values()].flat();
  }

  /** Resolves when every source was read once. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  wake(): void {
    this.#isDirty = true;
    this.#wakeUp?.();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { settings } = this.#options;
    const sources = [
      ...(settings.staticPodPath === "" ? [] : [["file", fileManifests(this.#options, signal)] as const]),
      ...(settings.staticPodURL === "" ? [] : [["http", urlManifests(this.#options, signal)] as const]),
    ];
    if (sources.length === 0) this.#ready.resolve();
    signal.addEventListener("abort", () => this.#wakeUp?.(), { once: true });
    await Promise.all([...sources.map(([name, manifests]) => this.#follow(name, manifests, sources.length)), this.#reconcile(signal)]);
  }

  async #follow(name: string, changes: AsyncIterable<readonly Manifest[]>, count: number): Promise<void> {
    const { clock, log, nodeName } = this.#options;
    for await (const manifests of changes) {
      const known = new Map(this.pods.map((pod) => [pod.metadata.uid, pod as Pod]));
      const pods = manifests.flatMap((manifest) => {
        try {
          return readStaticPods(manifest, nodeName, clock.nowMs());
        } catch (error) {
          log.warn("A static pod cannot be used", { origin: manifest.origin, error });
          return [];
        }
      });
      this.#bySource.set(
        name,
        pods.map((pod) => known.get(pod.metadata.uid) ?? pod),
      );
      if (this.#bySource.size === count) this.#ready.resolve();
      this.wake();
    }
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!this.#isDirty) await new Promise<void>((resolve) => (this.#wakeUp = resolve));
      this.#wakeUp = undefined;
      this.#isDirty = false;
      if (signal.aborted) return;
      this.#matchWorkers();
      await this.#matchMirrors(signal).catch(async (error: unknown) => {
        if (signal.aborted) return;
        this.#options.log.warn("Could not bring mirror pods in line", { error });
        await sleep(this.#options.clock, retryMs, signal).catch(() => undefined);
        this.#isDirty = true;
      });
    }
  }

  #matchWorkers(): void {
    const wanted = new Map(this.pods.map((pod) => [pod.metadata.uid ?? "", pod]));
    const workers = this.#workers();
    for (const worker of workers) if (!wanted.has(worker.uid)) worker.remove();
    for (const [uid, pod] of wanted) {
      const hasPredecessor = workers.some((worker) => worker.uid === uid || fullName(worker.pod) === fullName(pod));
      if (!hasPredecessor) this.#options.start(pod);
    }
  }

  async #matchMirrors(signal: AbortSignal): Promise<void> {
    const { client, node, mirrors } = this.#options;
    const workers = this.#workers();
    const known = mirrors();
    if (node() === undefined || known === undefined) return;
    for (const worker of workers)
      worker.observeMirror(known.find((mirror) => mirror.metadata.deletionTimestamp === undefined && fullName(mirror) === fullName(worker.pod)));
    const steps = planMirrors({
      statics: this.pods,
      mirrors: known,
      node: node()!,
      isBusy: (name) => workers.some((worker) => !worker.isFinished && fullName(worker.pod) === name),
    });
    for (const step of steps) {
      const { namespace = "", name = "", uid } = step.pod.metadata;
      try {
        if (step.kind === "create") await client.create(resources.pods, step.pod, { signal });
        else await client.delete(resources.pods, namespace, name, { gracePeriodSeconds: 0, ...(uid !== undefined && { preconditions: { uid } }), signal });
      } catch (error) {
        // The watch has not shown it yet.
        if (!isAlreadyExists(error) && !isNotFound(error) && !isConflict(error)) throw error;
      }
    }
  }

  #workers(): PodWorker[] {
    return [...this.#options.workers()].filter(({ pod }) => isStaticPod(pod));
  }
}

export interface StaticPodsOptions {
  readonly settings: KubeletSettings;
  readonly nodeName: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined until the node is registered. */
  node(): { readonly name: string; readonly uid: string } | undefined;
  /** Mirror pods of this node; undefined until they are known. */
  mirrors(): readonly DeepReadonly<Pod>[] | undefined;
  workers(): Iterable<PodWorker>;
  start(pod: DeepReadonly<Pod>): void;
}

const retryMs = 10_000;

/**
 * Keeps one pod's status in the API the same as what `compute` says. `touch` asks for a look; writes go one after the other, each against
 * the newest object known, so that several changes in a row become one patch. Driven by the pod's worker; owns the newest object.
 */
import { isConflict, isForbidden, isNotFound } from "../../apimachinery/status.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, PodStatus } from "../../api/core-v1/types.ts";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { compareResourceVersions, resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { statusPatch } from "./status-patch.ts";

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  #pod: DeepReadonly<Pod>;
  #isWanted = false;
  #writing: Promise<void> | undefined;

  constructor(options: StatusWriterOptions, pod: DeepReadonly<Pod>) {
    this.#options = options;
    this.#pod = pod;
  }

  /** The newest object known: from the watch, or the answer to our own write. */
  get pod(): DeepReadonly<Pod> {
    return this.#pod;
  }

  observe(pod: DeepReadonly<Pod>): void {
    // Of two equal ones the later counts: the watch's is shared with the informer.
    if (compareResourceVersions(pod.metadata.resourceVersion ?? "", this.#pod.metadata.resourceVersion) >= 0) this.#pod = pod;
  }

  touch(): void {
    this.#isWanted = true;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when what was asked for so far is written, or has failed for good. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #write(): Promise<void> {
    const { client, clock, log, signal, compute } = this.#options;
    for (let failures = 0; this.#isWanted && !signal.aborted; ) {
      this.#isWanted = false;
      const patch = statusPatch(this.#pod.metadata.uid ?? "", this.#pod.status ?? {}, compute(this.#pod));
      if (patch === undefined) continue;
      const { namespace = "", name = "" } = this.#pod.metadata;
      try {
        this.observe(await client.patch(resources.pods, namespace, name, { type: "strategic", body: patch, subresource: "status", signal }));
        failures = 0;
      } catch (error) {
        // The pod is gone, or another one has its name.
        if (signal.aborted || isNotFound(error) || isConflict(error)) return;
        log.warn("Could not write the status of a pod", { pod: `${namespace}/${name}`, error });
        this.#isWanted = true;
        await sleep(clock, isForbidden(error) ? 10_000 : Math.min(10_000, 100 * 2 ** failures++), signal).catch(() => undefined);
      }
    }
  }
}

export interface StatusWriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  compute(pod: DeepReadonly<Pod>): PodStatus;
}

/**
 * Keeps one pod's status in the API the same as what `compute` says. `touch` asks for a look; writes go one after the other, each against
 * the newest object known, so that several changes in a row become one patch. Driven by the pod's worker; owns the newest object. The status
 * of a pod that the API does not know goes to its mirror, once there is one.
 */
import { isConflict, isForbidden, isNotFound } from "../../apimachinery/status.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, PodStatus } from "../../api/core-v1/types.ts";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { compareResourceVersions, resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { isStaticPod } from "../static-pods/static-pod.ts";
import { statusPatch } from "./status-patch.ts";

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  #pod: DeepReadonly<Pod>;
  #mirror: DeepReadonly<Pod> | undefined;
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

  /** Of a static pod: what stands for it in the API now. */
  observeMirror(mirror: DeepReadonly<Pod> | undefined): void {
    const isOlder =
      mirror !== undefined &&
      mirror.metadata.uid === this.#mirror?.metadata.uid &&
      compareResourceVersions(mirror.metadata.resourceVersion ?? "", this.#mirror?.metadata.resourceVersion) < 0;
    if (isOlder) return;
    const { startTime } = mirror?.status ?? {};
    // An earlier kubelet may have begun the pod.
    if (this.#mirror === undefined && startTime !== undefined) this.#pod = { ...this.#pod, status: { ...this.#pod.status, startTime } };
    this.#mirror = mirror;
    this.touch();
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
    for (let failures = 0; this.#isWanted && !signal.aborted;) {
      this.#isWanted = false;
      const target = this.#target();
      const status = compute(
        this.#mirror === undefined ? this.#pod : { ...this.#pod, metadata: { ...this.#pod.metadata, generation: this.#mirror.metadata.generation ?? 0 } },
      );
      if (isStaticPod(this.#pod)) this.#pod = { ...this.#pod, status };
      const patch = target === undefined ? undefined : statusPatch(target.metadata.uid ?? "", target.status ?? {}, status);
      if (patch === undefined) continue;
      const { namespace = "", name = "" } = this.#pod.metadata;
      try {
        const written = await client.patch(resources.pods, namespace, name, { type: "strategic", body: patch, subresource: "status", signal });
        if (!isStaticPod(this.#pod)) this.observe(written);
        else if (this.#mirror?.metadata.uid === written.metadata.uid) this.#mirror = written;
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

  #target(): DeepReadonly<Pod> | undefined {
    return isStaticPod(this.#pod) ? this.#mirror : this.#pod;
  }
}

export interface StatusWriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  compute(pod: DeepReadonly<Pod>): PodStatus;
}

/** Removes images that nobody uses: every 5 minutes what is too much or too old, on demand all. Driven by `run`; owns the images' records. */
import type { Clock } from "../../base/clock.ts";
import { sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ObjectReference } from "../../api/core-v1/types.ts";
import type { EventSink } from "../../client/index.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import type { ContainerRuntime } from "../runtime/cri.ts";
import { bytesToFree, imagesToRemove, recordImages, tooOldImages, unusedImages } from "./image-collection.ts";
import type { CollectionLimits, ImageFilesystem, ImageRecord, ImageRecords } from "./image-collection.ts";

export class ImageCollector {
  readonly #options: ImageCollectorOptions;
  readonly #limits: CollectionLimits;
  #records: ImageRecords | undefined;

  constructor(options: ImageCollectorOptions) {
    const { settings } = options;
    this.#options = options;
    this.#limits = {
      highPercent: settings.imageGCHighThresholdPercent,
      lowPercent: settings.imageGCLowThresholdPercent,
      minimumAgeMs: settings.imageMinimumGCAgeMs,
      maximumAgeMs: settings.imageMaximumGCAgeMs,
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, events, node } = this.#options;
    while (!signal.aborted) {
      try {
        await this.collect(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn("Could not collect images", { error });
        events.record(node(), { type: "Warning", reason: "ImageGCFailed", message: (error as Error).message });
      }
      await sleep(clock, intervalMs, signal).catch(() => undefined);
    }
  }

  /** Removes what is too old, and enough to get below the low threshold when the high one is passed. Rejects when too little could go. */
  async collect(signal: AbortSignal): Promise<void> {
    const { clock, filesystem, events, node } = this.#options;
    const unused = await this.#look(signal);
    const old = tooOldImages(unused, this.#limits, clock.nowMs());
    await this.#remove(old, signal);
    await this.#options.forgetGone?.(new Set([...this.#records!.values()].map(({ image }) => image.id)));
    const disk = await filesystem(signal);
    if (disk.capacityBytes === 0) {
      const message = "invalid capacity 0 on image filesystem";
      events.record(node(), { type: "Warning", reason: "InvalidDiskCapacity", message });
      throw new Error(message);
    }
    const wantedBytes = bytesToFree(disk, this.#limits);
    if (wantedBytes <= 0) return;
    const chosen = imagesToRemove(
      unused.filter((record) => !old.includes(record)),
      wantedBytes,
      this.#limits,
      clock.nowMs(),
    );
    await this.#remove(chosen, signal);
    const freedBytes = chosen.reduce((sum, { image }) => sum + image.size, 0);
    if (freedBytes >= wantedBytes) return;
    const message = `Failed to garbage collect required amount of images. Attempted to free ${wantedBytes} bytes, but only found ${freedBytes} bytes eligible to free.`;
    events.record(node(), { type: "Warning", reason: "FreeDiskSpaceFailed", message });
    throw new Error(message);
  }

  /** Removes every image that nobody uses. */
  async removeUnused(signal: AbortSignal): Promise<void> {
    await this.#remove(await this.#look(signal), signal);
  }

  async #look(signal: AbortSignal): Promise<ImageRecord[]> {
    const { runtime, clock } = this.#options;
    const [images, containers] = await Promise.all([runtime.listImages(undefined, signal), runtime.listContainers(undefined, signal)]);
    const used = new Set(
      containers.flatMap(({ image_id, image_ref, image }) =>
        images
          .filter((one) => one.id === image_id || one.id === image_ref || one.repo_digests.includes(image_ref) || one.id === image.image)
          .map(({ id }) => id),
      ),
    );
    this.#records = recordImages(this.#records, images, used, clock.nowMs());
    return unusedImages(this.#records, used);
  }

  async #remove(records: readonly ImageRecord[], signal: AbortSignal): Promise<void> {
    const { runtime, log } = this.#options;
    for (const { image } of records) {
      await runtime.removeImage({ image: image.id }, signal);
      log.info("Removed an image that nobody uses", { image: image.repo_tags[0] ?? image.id, bytes: image.size });
    }
  }
}

export interface ImageCollectorOptions {
  readonly settings: KubeletSettings;
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventSink;
  node(): ObjectReference;
  filesystem(signal: AbortSignal): Promise<ImageFilesystem>;
  /** Told every time which images there are, by their ids. */
  forgetGone?(ids: ReadonlySet<string>): Promise<void>;
}

const intervalMs = 300_000;

/** Which images give way when their file system is full, or when nobody wanted them for long (documentation page "Garbage Collection"). Pure. */
import type { Image } from "../runtime/cri-messages.ts";

/** When an image was seen first, and used last; by its id. */
export interface ImageRecord {
  readonly image: Image;
  readonly firstSeenMs: number;
  readonly lastUsedMs: number;
}
export type ImageRecords = ReadonlyMap<string, ImageRecord>;

/** What is known after a look; an image that was there at the first look has always been there. */
export function recordImages(before: ImageRecords | undefined, images: readonly Image[], used: ReadonlySet<string>, nowMs: number): ImageRecords {
  return new Map(
    images.map((image): [string, ImageRecord] => {
      const known = before?.get(image.id);
      const firstSeenMs = known?.firstSeenMs ?? (before === undefined ? 0 : nowMs);
      return [image.id, { image, firstSeenMs, lastUsedMs: used.has(image.id) ? nowMs : (known?.lastUsedMs ?? firstSeenMs) }];
    }),
  );
}

export interface CollectionLimits {
  readonly highPercent: number;
  readonly lowPercent: number;
  readonly minimumAgeMs: number;
  /** 0: however old. */
  readonly maximumAgeMs: number;
}

export interface ImageFilesystem {
  readonly capacityBytes: number;
  readonly availableBytes: number;
}

/** How much is to be freed; 0 below the high threshold. */
export function bytesToFree({ capacityBytes, availableBytes }: ImageFilesystem, { highPercent, lowPercent }: CollectionLimits): number {
  const usedPercent = 100 - Math.trunc((availableBytes * 100) / capacityBytes);
  return usedPercent < highPercent ? 0 : Math.trunc((capacityBytes * (100 - lowPercent)) / 100) - availableBytes;
}

/** Those that may go, the longest unused first. */
export function unusedImages(records: ImageRecords, used: ReadonlySet<string>): ImageRecord[] {
  return [...records.values()]
    .filter(({ image }) => !used.has(image.id) && !isKept(image))
    .toSorted((a, b) => a.lastUsedMs - b.lastUsedMs || a.firstSeenMs - b.firstSeenMs);
}

export function tooOldImages(unused: readonly ImageRecord[], { maximumAgeMs }: CollectionLimits, nowMs: number): ImageRecord[] {
  return maximumAgeMs === 0 ? [] : unused.filter(({ lastUsedMs }) => nowMs - lastUsedMs > maximumAgeMs);
}

/** As few as free `wantedBytes`, as far as there are any. */
export function imagesToRemove(unused: readonly ImageRecord[], wantedBytes: number, { minimumAgeMs }: CollectionLimits, nowMs: number): ImageRecord[] {
  let freedBytes = 0;
  return unused.filter(({ image, firstSeenMs }) => {
    if (freedBytes >= wantedBytes || nowMs - firstSeenMs < minimumAgeMs) return false;
    freedBytes += image.size;
    return true;
  });
}

/** Pinned by the runtime, in every sandbox, or ours, which no registry has. */
function isKept({ pinned, repo_tags, repo_digests }: Image): boolean {
  return pinned || [...repo_tags, ...repo_digests].some((name) => name.startsWith("coracle.local/") || /(?:^|\/)pause[:@]/.test(name));
}

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Image } from "../runtime/cri-messages.ts";
import { bytesToFree, imagesToRemove, recordImages, tooOldImages, unusedImages } from "./image-collection.ts";

const image = (id: string, size: number, more: Partial<Image> = {}): Image => ({
  id,
  repo_tags: [`example.org/${id}:1`],
  repo_digests: [],
  size,
  username: "",
  pinned: false,
  ...more,
});
const limits = { highPercent: 85, lowPercent: 80, minimumAgeMs: 120_000, maximumAgeMs: 0 };
const ids = (records: readonly { image: Image }[]) => records.map((record) => record.image.id).join();

const disks: [availableBytes: number, wanted: number][] = [
  [160, 0],
  [159, 41],
  [100, 100],
  [0, 200],
];
for (const [availableBytes, wanted] of disks)
  test(`images: ${availableBytes} of 1000 bytes free`, () => equal(bytesToFree({ capacityBytes: 1000, availableBytes }, limits), wanted));

test("images: the longest unused go first, as few as needed; used, pinned, our own and the sandboxes' stay", () => {
  const images = [
    image("a", 10),
    image("b", 10),
    image("c", 10),
    image("pinned", 10, { pinned: true }),
    image("hello", 10, { repo_tags: ["coracle.local/hello:v1"] }),
    image("pause", 10, { repo_tags: ["registry.k8s.io/pause:3.10"] }),
  ];
  const first = recordImages(undefined, images, new Set(["a", "b"]), 1_000_000);
  const second = recordImages(first, images, new Set(["a"]), 2_000_000);
  const unused = unusedImages(second, new Set(["a"]));
  equal(ids(unused), "c,b");
  equal(ids(imagesToRemove(unused, 1, limits, 2_000_000)), "c");
  equal(ids(imagesToRemove(unused, 11, limits, 2_000_000)), "c,b");
});

test("images: what has just come stays; what was there before us has always been", () => {
  const before = recordImages(undefined, [image("old", 10)], new Set(), 1_000_000);
  const after = recordImages(before, [image("old", 10), image("new", 10)], new Set(), 1_060_000);
  equal(ids(imagesToRemove(unusedImages(after, new Set()), 100, limits, 1_100_000)), "old");
  deepEqual(ids(tooOldImages(unusedImages(after, new Set()), { ...limits, maximumAgeMs: 30_000 }, 1_100_000)), "old,new");
});

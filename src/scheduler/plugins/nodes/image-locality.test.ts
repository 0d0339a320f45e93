import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { clusterOf, nodeOf, podOf, scoresOf } from "../../test-support/cluster.ts";

const mebibyte = 1024 * 1024;
const withImage = (name: string, image: string, mebibytes: number) => nodeOf(name, { images: [{ names: [image], sizeBytes: mebibytes * mebibyte }] });

test("images: a node that has the image is better; small ones do not count", () => {
  deepEqual(scoresOf("ImageLocality", clusterOf([withImage("has", "img:latest", 600), nodeOf("not")]), podOf("p")), { has: 28, not: 0 });
  deepEqual(scoresOf("ImageLocality", clusterOf([withImage("has", "img:latest", 20), nodeOf("not")]), podOf("p")), { has: 0, not: 0 });
  deepEqual(scoresOf("ImageLocality", clusterOf([withImage("has", "img:v2", 600), nodeOf("not")]), podOf("p")), undefined);
});

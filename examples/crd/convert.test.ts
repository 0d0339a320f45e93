import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, convert } from "./convert.ts";
import type { Backup } from "./convert.ts";

const backup = (apiVersion: string, spec: object, annotations?: Record<string, string>): Backup => ({
  apiVersion,
  kind: "Backup",
  metadata: { name: "b", ...(annotations !== undefined && { annotations }) },
  spec: { volume: "v", ...spec },
});
const zone = { "example.com/time-zone": "Europe/Berlin" };

test("example crd: backups in either version, there and back", () => {
  const rows: [v1: Backup, v2: Backup][] = [
    [backup("example.com/v1", { schedule: "0 3 * * *", keep: 7 }, {}), backup("example.com/v2", { when: { cron: "0 3 * * *", timeZone: "UTC" }, keep: 7 }, {})],
    [
      backup("example.com/v1", { schedule: "0 3 * * *" }, { a: "b", ...zone }),
      backup("example.com/v2", { when: { cron: "0 3 * * *", timeZone: "Europe/Berlin" } }, { a: "b" }),
    ],
  ];
  for (const [v1, v2] of rows) {
    assert.deepEqual(convert(v1, "example.com/v2"), v2);
    assert.deepEqual(convert(v2, "example.com/v1"), v1);
    assert.equal(convert(v1, "example.com/v1"), v1);
  }
});

test("example crd: an answer has all objects, or says why not", () => {
  const review = (desiredAPIVersion: string) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    request: { uid: "u", desiredAPIVersion, objects: [backup("example.com/v1", { schedule: "0 3 * * *" })] },
  });
  const head = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" };
  assert.deepEqual(answer(review("example.com/v1")), {
    ...head,
    response: { uid: "u", convertedObjects: [backup("example.com/v1", { schedule: "0 3 * * *" })], result: { status: "Success" } },
  });
  assert.deepEqual(answer(review("example.com/v9")), {
    ...head,
    response: { uid: "u", convertedObjects: [], result: { status: "Failure", message: "there is no version example.com/v9" } },
  });
});

/**
 * Random objects of every kind pass through JSON, YAML, protobuf, CBOR, the store, lists and watches, and come out as they went in. Three of each
 * kind; a hundred for each of CORACLE_SEEDS.
 */
import { equal, deepEqual } from "node:assert/strict";
import { after, before, test } from "node:test";
import { typeRegistry } from "../../../src/api/registry.ts";
import { encodeCbor } from "../../../src/apimachinery/cbor/write-cbor.ts";
import { decodeObject } from "../../../src/apimachinery/decode/decode-object.ts";
import { canonicalize } from "../../../src/apimachinery/encode/canonical.ts";
import { goJson } from "../../../src/apimachinery/json.ts";
import type { JsonObject } from "../../../src/apimachinery/json.ts";
import { apiVersionOf } from "../../../src/apimachinery/object.ts";
import type { GroupVersionKind } from "../../../src/apimachinery/object.ts";
import { decodeProtobuf, encodeProtobuf } from "../../../src/apimachinery/protobuf/envelope.ts";
import type { StructSchema } from "../../../src/apimachinery/schema.ts";
import { jsonToYaml } from "../../../src/apimachinery/yaml/yaml-writer.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { TestCluster } from "../../../src/testing/cluster.ts";
import { seedsOr } from "../../../src/testing/seeds.ts";
import { randomObject } from "./random-object.ts";
import { ServedObjects } from "./served-objects.ts";

const objectsPerKind = Math.round(100 * seedsOr(0.03));
/** Objects that lie in the store at a time. */
const batch = 100;
const timeout = 3_600_000;

let cluster: TestCluster;
before(async () => {
  cluster = await TestCluster.start({ flags: { "runtime-config": "api/all=true", "feature-gates": "AllAlpha=true,AllBeta=true" } });
});
after(() => cluster.close());

for (const kind of kinds()) {
  const { schema, gvk } = kind;
  test(`round trip: ${apiVersionOf(gvk.group, gvk.version)} ${gvk.kind}`, { timeout }, async () => {
    const served = ServedObjects.of(cluster, gvk);
    for (let from = 0; from < objectsPerKind; from += batch) {
      const objects = Array.from({ length: Math.min(batch, objectsPerKind - from) }, (_, index) => objectOf(kind, from + index));
      for (const [index, object] of objects.entries()) throughFormats(object, schema, `seed ${from + index}`);
      await served?.pass(objects, (seen, index, way) => isSame(textOf(seen, schema), goJson(objects[index]), `${way}, seed ${from + index}`));
    }
  });
}

interface Kind {
  readonly gvk: GroupVersionKind;
  readonly schema: StructSchema;
}

/** Every kind that has a message of its own; a WatchEvent has no envelope. */
function kinds(): Kind[] {
  return typeRegistry.names.flatMap((name) => {
    const schema = typeRegistry.struct(name)!;
    const [first] = schema.gvk;
    return first === undefined || first[2] === "WatchEvent" ? [] : [{ schema, gvk: { group: first[0], version: first[1], kind: first[2] } }];
  });
}

/** The object of a seed, as the store would keep it. */
function objectOf({ gvk, schema }: Kind, seed: number): JsonObject {
  const object = randomObject(schema, seededRandom(seed));
  return canonicalize({ ...object, kind: gvk.kind, apiVersion: apiVersionOf(gvk.group, gvk.version) }, schema, { emptiesVanish: true });
}

function textOf(object: JsonObject, schema: StructSchema): string {
  return goJson(canonicalize(object, schema, { emptiesVanish: true }));
}

function throughFormats(object: JsonObject, schema: StructSchema, seed: string): void {
  const expected = goJson(object);
  const json = decodeObject(Buffer.from(expected), schema, { mediaType: "json" });
  deepEqual(json.faults, [], seed);
  isSame(textOf(json.object, schema), expected, `JSON, ${seed}`);
  throughYaml(object, schema, seed);
  isSame(textOf(decodeObject(encodeCbor(object, schema), schema, { mediaType: "cbor" }).object, schema), expected, `CBOR, ${seed}`);
  const gvk = { apiVersion: object["apiVersion"] as string, kind: object["kind"] as string };
  const bytes = encodeProtobuf(json.object, schema, gvk);
  const decoded = decodeProtobuf(bytes, typeRegistry).object;
  isSame(textOf(decoded, schema), expected, `protobuf, ${seed}`);
  equal(Buffer.compare(encodeProtobuf(decoded, schema, gvk), bytes), 0, `protobuf again, ${seed}`);
}

function throughYaml(object: JsonObject, schema: StructSchema, seed: string): void {
  const expected = goJson(object);
  // In YAML 1.0 is the number 1 (sigs.k8s.io/yaml).
  if (/[:[,]1\.0[,}\]]/.test(expected)) return;
  const { object: decoded, faults } = decodeObject(Buffer.from(jsonToYaml(object)), schema, { mediaType: "yaml" });
  deepEqual(faults, [], seed);
  isSame(textOf(decoded, schema), expected, `YAML, ${seed}`);
}

/** Fails with the place where two texts part: objects are long. */
function isSame(actual: string, expected: string, what: string): void {
  if (actual === expected) return;
  let at = 0;
  while (actual[at] === expected[at]) at++;
  const [from, to] = [Math.max(0, at - 80), at + 80];
  equal(actual.slice(from, to), expected.slice(from, to), what);
}

// Every kind's recorded JSON, YAML and protobuf are one object, and come out again as they went in; through CBOR, too.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { encodeCbor } from "../src/apimachinery/cbor/write-cbor.ts";
import { decodeObject } from "../src/apimachinery/decode/decode-object.ts";
import { canonicalize } from "../src/apimachinery/encode/canonical.ts";
import { decodeProtobuf, encodeProtobuf } from "../src/apimachinery/protobuf/envelope.ts";
import { apiVersionOf } from "../src/apimachinery/object.ts";
import { typeRegistry } from "../src/api/registry.ts";

const folder = new URL("../../shared/fixtures/roundtrip-1.36/", import.meta.url);
const isThere = existsSync(folder);
/** Kinds that gained fields since the fixtures were made have a second set. */
const names = isThere ? readdirSync(folder).flatMap((file) => /^(.*\.v\d\w*\.\w+)\.json$/.exec(file)?.[1] ?? []) : [];

test("fixtures", { skip: isThere ? false : "the fixtures are not beside the repository" }, async (context) => {
  for (const name of names) {
    const [, group, version, kind] = /^(.*)\.(v\d\w*)\.(\w+)$/.exec(name)! as unknown as [string, string, string, string];
    const groupName = group === "core" ? "" : group;
    const schema = typeRegistry.kind(groupName, version, kind);
    // A WatchEvent on the wire has no envelope.
    if (schema === undefined || kind === "WatchEvent") continue;
    await context.test(name, () => {
      const read = (extension: string) => {
        const roundTripped = new URL(`${name}.after_roundtrip.${extension}`, folder);
        return readFileSync(existsSync(roundTripped) ? roundTripped : new URL(`${name}.${extension}`, folder));
      };
      const json = read("json");
      const expected = JSON.stringify(JSON.parse(json.toString("utf8")));
      const { object, faults } = decodeObject(json, schema, { mediaType: "json" });
      assert.deepEqual(faults, []);
      assert.equal(JSON.stringify(canonicalize(object, schema)), expected);
      assert.equal(JSON.stringify(canonicalize(decodeObject(read("yaml"), schema, { mediaType: "yaml" }).object, schema)), expected);
      assert.equal(JSON.stringify(canonicalize(decodeObject(encodeCbor(object, schema), schema, { mediaType: "cbor" }).object, schema)), expected);
      const protobuf = read("pb");
      assert.equal(JSON.stringify(canonicalize(decodeProtobuf(protobuf, typeRegistry).object, schema)), expected);
      assert.deepEqual(Buffer.from(encodeProtobuf(object, schema, { apiVersion: apiVersionOf(groupName, version), kind })), protobuf);
    });
  }
});

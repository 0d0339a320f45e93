import { test } from "node:test";
import { equal, throws } from "node:assert/strict";
import { typeRegistry } from "../../api/registry.ts";
import { encodeCbor } from "../../apimachinery/cbor/write-cbor.ts";
import { encodeProtobuf } from "../../apimachinery/protobuf/envelope.ts";
import { normalizeStored } from "./normalize.ts";

const own = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u"},"data":{"k":"v"}}';
const normalized = (value: Uint8Array) => normalizeStored("k", value).toString();

test("stored values: ours stay, those of other servers take our form", () => {
  equal(normalized(Buffer.from(own)), own);
  const object = { metadata: { name: "a", uid: "u" }, data: { k: "v" } };
  const schema = typeRegistry.kind("", "v1", "ConfigMap")!;
  equal(JSON.stringify(JSON.parse(normalized(encodeProtobuf(object, schema, { apiVersion: "v1", kind: "ConfigMap" })))), own);
  equal(normalized(Buffer.from('{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"uid":"u","resourceVersion":"7","name":"a"}}')), own);
  equal(
    normalized(Buffer.from('{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"b":1,"a":2}}')),
    '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a"},"spec":{"b":1,"a":2}}',
  );
  const foreign = { metadata: { uid: "u", name: "a" }, kind: "ConfigMap", data: { k: "v" }, apiVersion: "v1" };
  equal(normalized(encodeCbor(foreign, schema)), own);
  throws(() => normalized(Buffer.from("nonsense")));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { TypeRegistry } from "../schema.ts";
import type { JsonObject } from "../json.ts";
import { canonicalize } from "./canonical.ts";

const meta = "apimachinery.pkg.apis.meta.v1";
const registry = new TypeRegistry({
  [`${meta}.ObjectMeta`]: {
    fields: [
      ["name", "string", "e", 1],
      ["creationTimestamp", `${meta}.Time`, "ez", 8],
    ],
  },
  "api.test.v1.Inner": {
    fields: [
      ["name", "string", "", 1],
      ["note", "string", "e", 2],
    ],
  },
  "api.test.v1.Thing": {
    fields: [
      ["kind", "string", "e", 0],
      ["apiVersion", "string", "e", 0],
      ["metadata", `${meta}.ObjectMeta`, "e", 1],
      ["count", "int32", "", 2],
      ["isOn", "bool", "", 3],
      ["list", "[]string", "", 4],
      ["map", "map[string]string", "", 5],
      ["inner", "api.test.v1.Inner", "e", 6],
      ["pointer", "*api.test.v1.Inner", "e", 7],
      ["flag", "*bool", "e", 8],
      ["when", `${meta}.Time`, "e", 9],
      ["optional", "[]string", "e", 10],
      ["text", "string", "e", 11],
      ["raw", "apimachinery.pkg.runtime.RawExtension", "e", 12],
      ["size", "apimachinery.pkg.api.resource.Quantity", "", 13],
    ],
    gvk: [["test", "v1", "Thing"]],
  },
});
const canonical = (object: JsonObject) => JSON.stringify(canonicalize(object, registry.kind("test", "v1", "Thing")!));

test("an empty object", () => {
  assert.equal(canonical({}), '{"metadata":{},"count":0,"isOn":false,"list":null,"map":null,"inner":{"name":""},"when":null,"raw":null,"size":"0"}');
});

test("order, unknown fields, emptiness", () => {
  const object = {
    unknown: 1,
    flag: false,
    optional: [],
    text: "",
    pointer: {},
    list: [],
    map: { b: "1", a: "2" },
    metadata: { creationTimestamp: null, name: "x" },
    apiVersion: "test/v1",
    kind: "Thing",
  };
  assert.equal(
    canonical(object),
    '{"kind":"Thing","apiVersion":"test/v1","metadata":{"name":"x"},"count":0,"isOn":false,"list":[],"map":{"a":"2","b":"1"},"inner":{"name":""},"pointer":{"name":""},"flag":false,"when":null,"raw":null,"size":"0"}',
  );
});

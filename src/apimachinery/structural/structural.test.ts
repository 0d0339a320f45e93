import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FieldPath } from "../field-path.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { applyDefaults, dropNulls } from "./defaults.ts";
import { isComplete } from "./is-complete.ts";
import { listTypeErrors } from "./list-types.ts";
import { prune } from "./prune.ts";
import { parseStructuralSchema } from "./structural-schema.ts";
import { schemaErrors } from "./validation/validate.ts";
import { hasFormat } from "./validation/formats.ts";

const object = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({ type: "object", properties, ...rest });
const open = { "x-kubernetes-preserve-unknown-fields": true };
const text = { type: "string" };

test("prune drops what the schema does not declare and tells where", () => {
  const rows: [name: string, schema: JsonObject, value: JsonObject, left: JsonObject, unknown: string[]][] = [
    ["members", object({ a: text }), { kind: "X", metadata: { any: 1 }, a: "1", b: 2 }, { kind: "X", metadata: { any: 1 }, a: "1" }, ["b"]],
    ["items", object({ l: { type: "array", items: object({ a: text }) } }), { l: [{ a: "1", b: 1 }, { c: 1 }] }, { l: [{ a: "1" }, {}] }, ["l[0].b", "l[1].c"]],
    [
      "values of maps",
      object({ m: { type: "object", additionalProperties: object({ a: text }) } }),
      { m: { k: { a: "1", b: 1 } } },
      { m: { k: { a: "1" } } },
      ["m.k.b"],
    ],
    [
      "additionalProperties: true keeps one level",
      object({ m: { type: "object", additionalProperties: true } }),
      { m: { a: 1, b: { c: 1 } } },
      { m: { a: 1, b: {} } },
      ["m.b.c"],
    ],
    [
      "open objects are kept",
      object({ s: object({ in: object({ x: text }) }, open) }),
      { s: { y: { z: 1 }, in: { x: "1", y: 1 } } },
      { s: { y: { z: 1 }, in: { x: "1" } } },
      ["s.in.y"],
    ],
    [
      "embedded resources keep their type",
      object({ e: object({ spec: text }, { "x-kubernetes-embedded-resource": true }) }),
      { e: { kind: "A", spec: "1", status: 1 } },
      { e: { kind: "A", spec: "1" } },
      ["e.status"],
    ],
  ];
  for (const [name, schema, value, left, unknown] of rows) {
    assert.deepEqual(prune(value, parseStructuralSchema(schema)), unknown, name);
    assert.deepEqual(value, left, name);
  }
});

test("defaults fill what is absent, and nulls that are not allowed", () => {
  const withDefault = { type: "string", default: "d" };
  const rows: [name: string, schema: JsonObject, value: JsonObject, expected: JsonObject][] = [
    ["absent", object({ a: withDefault }), {}, { a: "d" }],
    ["given", object({ a: withDefault }), { a: "x" }, { a: "x" }],
    ["null becomes the default", object({ a: withDefault }), { a: null }, { a: "d" }],
    ["nullable null stays", object({ a: { ...withDefault, nullable: true } }), { a: null }, { a: null }],
    ["null without a default goes", object({ a: text }), { a: null }, {}],
    ["null in a map goes", object({ m: { type: "object", additionalProperties: text } }), { m: { k: null } }, { m: {} }],
    ["null in a list stays", object({ l: { type: "array", items: text } }), { l: [null] }, { l: [null] }],
    ["defaults within a default", object({ o: object({ a: withDefault }, { default: {} }) }), {}, { o: { a: "d" } }],
    ["nothing below what is absent", object({ o: object({ a: withDefault }) }), {}, {}],
    ["items", object({ l: { type: "array", items: object({ a: withDefault }) } }), { l: [{}, { a: "x" }] }, { l: [{ a: "d" }, { a: "x" }] }],
  ];
  for (const [name, source, value, expected] of rows) {
    const schema = parseStructuralSchema(source);
    dropNulls(value, schema);
    applyDefaults(value, schema);
    assert.deepEqual(value, expected, name);
  }
});

test("faults of values", () => {
  const rows: [schema: JsonObject, value: JsonValue, faults: string[]][] = [
    [text, 1, ['f: Invalid value: "integer": f in body must be of type string: "integer"']],
    [text, null, ['f: Invalid value: "null": f in body must be of type string: "null"']],
    [
      { type: "integer" },
      1.5,
      [
        'f: Invalid value: "number": f in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in f',
      ],
    ],
    [{ type: "integer", format: "int32" }, 2_147_483_648, ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in f']],
    [{ "x-kubernetes-int-or-string": true }, true, ['f: Invalid value: "boolean": f in body must be of type integer,string: "boolean"']],
    [{ type: "integer", maximum: 10, exclusiveMaximum: true }, 10, ["f: Invalid value: 10: f in body should be less than 10"]],
    [{ type: "number", minimum: 1.5 }, 1, ["f: Invalid value: 1: f in body should be greater than or equal to 1.5"]],
    [{ type: "number", multipleOf: 0.1 }, 0.3, []],
    [{ type: "number", multipleOf: 0.1 }, 0.35, ["f: Invalid value: 0.35: f in body should be a multiple of 0.1"]],
    [{ type: "string", maxLength: 1 }, "éé", ["f: Too long: may not be more than 1 bytes".replace("bytes", "byte")]],
    [{ type: "string", maxLength: 2 }, "😀😀", []],
    [{ type: "string", minLength: 2 }, "😀", ['f: Invalid value: "😀": f in body should be at least 2 chars long']],
    [{ type: "string", minLength: 2 }, "é", ['f: Invalid value: "é": f in body should be at least 2 chars long']],
    [{ type: "string", pattern: "^[a-z]+$" }, "A", ["f: Invalid value: \"A\": f in body should match '^[a-z]+$'"]],
    [{ type: "string", enum: ["a", "b"] }, "c", ['f: Unsupported value: "c": supported values: "a", "b"']],
    [
      { type: "array", maxItems: 1, items: text },
      ["a", 1],
      ['f[1]: Invalid value: "integer": f[1] in body must be of type string: "integer"', "f: Too many: 2: must have at most 1 item"],
    ],
    [
      object({ a: text }, { required: ["a", "b"] }),
      { a: 1 },
      ['f.a: Invalid value: "integer": f.a in body must be of type string: "integer"', "f.b: Required value"],
    ],
    [{ type: "object", additionalProperties: false }, { a: 1 }, ['f: Invalid value: "a": f.a in body is a forbidden property']],
    [
      { type: "integer", anyOf: [{ minimum: 10 }, { maximum: 0 }] },
      5,
      ['<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)', "f: Invalid value: 5: f in body should be greater than or equal to 10"],
    ],
    [
      { type: "integer", oneOf: [{ minimum: 10 }, { minimum: 20 }] },
      25,
      ['<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      { type: "integer", allOf: [{ minimum: 10 }, { multipleOf: 4 }] },
      8,
      ["f: Invalid value: 8: f in body should be greater than or equal to 10", '<nil>: Invalid value: "": "f" must validate all the schemas (allOf)'],
    ],
    [{ type: "integer", not: { minimum: 10 } }, 12, ['<nil>: Invalid value: "": "f" must not validate the schema (not)']],
  ];
  for (const [schema, value, faults] of rows) {
    const errors = schemaErrors({ f: value }, parseStructuralSchema(object({ f: schema })));
    assert.deepEqual(
      errors.map(({ field, message }) => `${field}: ${message}`),
      faults,
      JSON.stringify([schema, value]),
    );
  }
});

test("an update may keep faults where nothing changes", () => {
  const list = (listType: string): JsonObject => ({
    type: "array",
    items: object({ k: text, v: { type: "string", maxLength: 1 } }),
    "x-kubernetes-list-type": listType,
    ...(listType === "map" && { "x-kubernetes-list-map-keys": ["k"] }),
  });
  const rows: [name: string, schema: JsonObject, old: JsonValue, value: JsonValue, fields: string[]][] = [
    ["the same value", { type: "string", maxLength: 1 }, "long", "long", []],
    ["another value", { type: "string", maxLength: 1 }, "long", "other", ["f"]],
    [
      "an item found by its key",
      list("map"),
      [{ k: "a", v: "long" }],
      [
        { k: "b", v: "x" },
        { k: "a", v: "long" },
      ],
      [],
    ],
    ["an item of an atomic list", list("atomic"), [{ k: "a", v: "long" }], [{ k: "a", v: "long" }, { k: "b" }], ["f[0].v"]],
    ["a required member of a changed object", object({ a: text }, { required: ["b"] }), { a: "1" }, { a: "2" }, ["f.b"]],
  ];
  for (const [name, schema, old, value, fields] of rows) {
    const errors = schemaErrors({ f: value }, parseStructuralSchema(object({ f: schema })), { old: { f: old } });
    assert.deepEqual(
      errors.map(({ field }) => field),
      fields,
      name,
    );
  }
});

test("sets and maps hold no item twice", () => {
  const set = { type: "array", items: text, "x-kubernetes-list-type": "set" };
  const map = { type: "array", items: object({ k: text, in: set }), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] };
  const rows: [schema: JsonObject, value: JsonValue, faults: string[]][] = [
    [set, ["a", "b", "a", "b", "a"], ['f[2]: Duplicate value: "a"', 'f[3]: Duplicate value: "b"']],
    [map, [{ k: "a", in: ["x", "x"] }, { k: "a" }], ['f[1]: Duplicate value: {"k":"a"}', 'f[0].in[1]: Duplicate value: "x"']],
    [{ type: "array", items: text }, ["a", "a"], []],
  ];
  for (const [schema, value, faults] of rows) {
    const errors = listTypeErrors({ f: value }, parseStructuralSchema(object({ f: schema })), FieldPath.root());
    assert.deepEqual(
      errors.map(({ field, message }) => `${field}: ${message}`),
      faults,
    );
  }
});

test("formats", () => {
  const rows: [format: string, valid: string[], invalid: string[]][] = [
    ["date-time", ["2024-02-29T10:11:12.345+01:00"], ["2023-02-29T00:00:00Z", "2024-02-29 10:11:12Z", "2024-02-29"]],
    ["date", ["2024-02-29"], ["2023-02-29"]],
    ["duration", ["1h30m", "3 s", "PT1H", "2w"], ["soon"]],
    ["uri", ["https://a.example.com/b?c=d", "/path"], ["a b", "://x", ""]],
    ["hostname", ["a.example.com"], ["a_b", "-a.b", "", `${"a".repeat(64)}.com`]],
    ["ipv4", ["192.0.2.01"], ["::1", "192.0.2.256"]],
    ["mac", ["00:00:5e:00:53:01"], ["00:00:5e:00:53"]],
    ["uuid4", ["025b0d74-00a2-4048-bf57-227c5111bb34"], ["a8098c1a-f86e-11da-bd1a-00112444be1e"]],
    ["creditcard", ["4111-1111-1111-1111"], ["4111-1111-1111-1112"]],
    ["byte", ["aGVsbG8="], ["aGVsbG8", ""]],
    ["made-up", ["anything"], []],
  ];
  for (const [format, valid, invalid] of rows) {
    for (const value of valid) assert.equal(hasFormat(value, format), true, `${format} ${value}`);
    for (const value of invalid) assert.equal(hasFormat(value, format), false, `${format} ${value}`);
  }
});

test("what is complete stays as it is, and what is made complete is", () => {
  const names = fc.constantFrom("a", "b", "c");
  const { schema, value } = fc.letrec<{ schema: JsonObject; value: JsonValue }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.record(
        { type: fc.constant("string"), nullable: fc.boolean(), default: fc.constantFrom("x", "y") },
        { requiredKeys: ["type"] },
      ) as fc.Arbitrary<JsonObject>,
      fc.record(
        {
          type: fc.constant("object"),
          nullable: fc.boolean(),
          "x-kubernetes-preserve-unknown-fields": fc.boolean(),
          properties: fc.dictionary(names, tie("schema"), { maxKeys: 3 }),
        },
        { requiredKeys: ["type"] },
      ) as fc.Arbitrary<JsonObject>,
      fc.record({ type: fc.constant("object"), additionalProperties: fc.oneof(tie("schema"), fc.boolean()) }) as fc.Arbitrary<JsonObject>,
      fc.record({ type: fc.constant("array"), items: tie("schema") }) as fc.Arbitrary<JsonObject>,
    ),
    value: fc.oneof({ maxDepth: 3 }, fc.constantFrom<JsonValue>(null, "x", 1), fc.array(tie("value"), { maxLength: 2 }), fc.dictionary(names, tie("value"))),
  }));
  let complete = 0;
  fc.assert(
    fc.property(fc.dictionary(names, schema), fc.dictionary(names, value), (properties, content) => {
      const structural = parseStructuralSchema(object(properties));
      const made = structuredClone(content);
      const changes = [prune(made, structural).length > 0, dropNulls(made, structural), applyDefaults(made, structural)];
      const isKept = !changes.includes(true);
      if (isComplete(content, structural)) {
        complete++;
        assert.ok(isKept, JSON.stringify({ properties, content }));
      } else if (isKept) assert.match(JSON.stringify(content), /\[(.*,)?null/, JSON.stringify({ properties, content }));
      if (!JSON.stringify(made).includes("null")) assert.ok(isComplete(made, structural), JSON.stringify({ properties, content, made }));
    }),
    { numRuns: 2000, seed: 1 },
  );
  assert.ok(complete > 100);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import type { RuleContext } from "../strategy.ts";
import { fieldTypeAt } from "./field-type.ts";
import { internalDefinition } from "./internal-definition.ts";
import type { JSONSchemaProps } from "./types.ts";
import { validateValidation } from "./validation-rules.ts";

const faults = (schema: JSONSchemaProps) =>
  validateValidation({ openAPIV3Schema: schema }, false, {} as RuleContext, FieldPath.root("v"))
    .map(fieldErrorText)
    .map((text) => text.replace("v.openAPIV3Schema", "~"));
const withField = (f: JSONSchemaProps): JSONSchemaProps => ({ type: "object", properties: { f } });

test("faults of schemas", () => {
  const table: [schema: JSONSchemaProps, faults: string[]][] = [
    [{ type: "object" }, []],
    [{}, ["~.type: Required value: must not be empty at the root"]],
    [withField({}), ["~.properties[f].type: Required value: must not be empty for specified object fields"]],
    [withField({ type: "array" }), ["~.properties[f].items: Required value: must be specified"]],
    [withField({ $ref: "#/x" }), ["~.properties[f].$ref: Forbidden: $ref is not supported"]],
    [withField({ type: "string", $schema: "x" }), ["~: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"]],
    [withField({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }), []],
    [
      withField({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "string" }] }),
      ["~.properties[f].anyOf[0].type: Forbidden: must be empty to be structural"],
    ],
    [
      { type: "object", properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } } },
      ["~.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified"],
    ],
    [
      { type: "object", oneOf: [{ properties: { b: { minLength: 1 } } }] },
      ["~.properties[b]: Required value: because it is defined in ~.oneOf[0].properties[b]"],
    ],
    [
      withField({ type: "array", items: { type: "object" }, "x-kubernetes-list-type": "set" }),
      ["~.properties[f].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set"],
    ],
    [
      withField({ type: "string", pattern: "a(" }),
      ['~.properties[f].pattern: Invalid value: "a(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `a(`'],
    ],
  ];
  for (const [schema, expected] of table)
    assert.deepEqual(
      faults(schema),
      expected.map((text) => text.replaceAll("in ~", "in v.openAPIV3Schema")),
      JSON.stringify(schema),
    );
});

test("what versions have in common stands above them", () => {
  const schema = { openAPIV3Schema: { type: "object" } };
  const version = { name: "v1", served: true, storage: true, schema };
  assert.deepEqual(internalDefinition({ versions: [version] }), { common: { schema }, versions: [{ name: "v1", served: true, storage: true }], version: "v1" });
  const { common, versions } = internalDefinition({
    versions: [version, { ...version, name: "v2", schema: { openAPIV3Schema: { type: "object", description: "x" } } }],
  });
  assert.deepEqual(common, {});
  assert.deepEqual(versions[0], version);
});

test("paths of selectable fields", () => {
  const schema: JSONSchemaProps = { type: "object", properties: { spec: { type: "object", properties: { a: { type: "string" } } } } };
  assert.deepEqual(fieldTypeAt(schema, ".spec.a"), { type: "string" });
  assert.deepEqual(fieldTypeAt(schema, ".spec.z"), { fault: "does not refer to a valid field" });
  assert.deepEqual(fieldTypeAt(schema, ".spec.a[0]"), { fault: "array notation is not allowed" });
});

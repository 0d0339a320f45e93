import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { RuleContext } from "../../../api/strategy.ts";
import { ruleSet } from "./cel-rules.ts";
import { schemaRuleErrors } from "./schema-rule-checks.ts";

const rules = (...sources: JsonObject[]) => ({ "x-kubernetes-validations": sources });
const spec = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({ type: "object", properties: { spec: { type: "object", properties, ...rest } } });
const object = (content: JsonObject): KubeObject => ({ apiVersion: "e.com/v1", kind: "W", metadata: { name: "x" }, spec: content });

function check(schema: JsonObject, content: JsonObject, old?: JsonObject) {
  const warnings: string[] = [];
  const context = { warn: (text: string) => warnings.push(text) } as unknown as RuleContext;
  const errors = ruleSet(schema).check(object(content), old === undefined ? undefined : object(old), [], context);
  return { errors: errors.map(({ field, message }) => `${field}: ${message}`), warnings };
}

test("rules of an object", () => {
  const integer = (...sources: JsonObject[]) => spec({ f: { type: "integer", ...rules(...sources) } });
  const rows: [schema: JsonObject, content: JsonObject, faults: string[]][] = [
    [integer({ rule: "self > 3" }), { f: 3 }, ["spec.f: Invalid value: 3: failed rule: self > 3"]],
    [
      integer({ rule: "self > 3", message: "more" }, { rule: "self % 2 == 0" }),
      { f: 3 },
      ["spec.f: Invalid value: 3: more", "spec.f: Invalid value: 3: failed rule: self % 2 == 0"],
    ],
    [integer({ rule: "self > 3", messageExpression: "self == 3 ? 'three' : ''" }), { f: 3 }, ["spec.f: Invalid value: 3: three"]],
    [integer({ rule: "self > 3", messageExpression: "self == 3 ? 'three' : ''" }), { f: 2 }, ["spec.f: Invalid value: 2: failed rule: self > 3"]],
    [integer({ rule: "self > 3", reason: "FieldValueForbidden", message: "no" }), { f: 3 }, ["spec.f: Forbidden: no"]],
    [integer({ rule: "10 % self == 0" }), { f: 0 }, ['spec.f: Invalid value: "integer": modulus by zero evaluating rule: 10 % self == 0']],
    [spec({ a: { type: "integer" } }, rules({ rule: "self.a < 5", fieldPath: ".a", message: "small" })), { a: 9 }, ["spec.a: Invalid value: small"]],
    [
      spec({ l: { type: "array", items: { type: "integer", ...rules({ rule: "self > 0" }) } } }),
      { l: [1, 0] },
      ["spec.l[1]: Invalid value: 0: failed rule: self > 0"],
    ],
    [
      spec({ m: { type: "object", additionalProperties: { type: "integer", ...rules({ rule: "self > 0" }) } } }),
      { m: { a: 0 } },
      ["spec.m[a]: Invalid value: 0: failed rule: self > 0"],
    ],
  ];
  for (const [schema, content, faults] of rows) assert.deepEqual(check(schema, content).errors, faults, JSON.stringify(schema));
});

test("rules of an update", () => {
  const immutable = spec({ f: { type: "string", ...rules({ rule: "self == oldSelf", message: "fixed" }) } });
  const optional = spec({
    f: { type: "integer", ...rules({ rule: "oldSelf.hasValue() ? self == oldSelf.value() : self == 1", optionalOldSelf: true, message: "opt" }) },
  });
  const keyed = spec({
    l: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", properties: { k: { type: "string" }, v: { type: "integer", ...rules({ rule: "self >= oldSelf", message: "shrinks" }) } } },
    },
  });
  const plain = spec({ f: { type: "integer", ...rules({ rule: "self > 0", message: "positive" }) }, g: { type: "integer" } });
  const rows: [schema: JsonObject, old: JsonObject | undefined, content: JsonObject, faults: string[], warnings: string[]][] = [
    [immutable, undefined, { f: "a" }, [], []],
    [immutable, { f: "a" }, { f: "b" }, ['spec.f: Invalid value: "b": fixed'], []],
    [optional, undefined, { f: 2 }, ["spec.f: Invalid value: 2: opt"], []],
    [optional, { f: 2 }, { f: 2 }, [], []],
    [
      keyed,
      { l: [{ k: "a", v: 5 }] },
      {
        l: [
          { k: "b", v: 1 },
          { k: "a", v: 4 },
        ],
      },
      ["spec.l[1].v: Invalid value: 4: shrinks"],
      [],
    ],
    [plain, { f: -1 }, { f: -1, g: 1 }, [], ["spec.f: Invalid value: -1: positive"]],
    [plain, { f: -1 }, { f: -2 }, ["spec.f: Invalid value: -2: positive"], []],
  ];
  for (const [schema, old, content, faults, warnings] of rows) assert.deepEqual(check(schema, content, old), { errors: faults, warnings });
});

test("rules of a schema", () => {
  const rows: [schema: JsonObject, faults: RegExp[]][] = [
    [spec({ f: { type: "integer", ...rules({ rule: "self > 1" }) } }), []],
    [spec({ f: { type: "integer", ...rules({ rule: " " }) } }), [/\.rule: Required value: rule is not specified$/]],
    [spec({ f: { type: "integer", ...rules({ rule: "self + 1" }) } }), [/: cel expression must evaluate to a bool$/]],
    [
      spec({ f: { type: "integer", ...rules({ rule: "other > 1" }) } }),
      [/"Rule":"other \\u003e 1".*: compilation failed: ERROR: <input>:1:1: undeclared reference to 'other'/s],
    ],
    [spec({ f: { type: "integer", ...rules({ rule: "self > 1", optionalOldSelf: false }) } }), [/may not be set if oldSelf is not used in rule$/]],
    [
      spec({ f: { type: "array", maxItems: 5, items: { type: "integer", ...rules({ rule: "self >= oldSelf" }) } } }),
      [/uncorrelatable portion of the schema within s\.properties\[spec\]\.properties\[f\]$/],
    ],
    [spec({ f: { type: "object", properties: { a: { type: "integer" } }, ...rules({ rule: "self.a > 1", fieldPath: ".l[0]" }) } }), [/must be a valid path$/]],
    [
      spec({ f: { type: "array", items: { type: "array", items: { type: "string" } }, ...rules({ rule: "self.all(a, a.all(b, b.contains('x')))" }) } }),
      [
        /estimated rule cost exceeds budget by factor of more than 100x/,
        /contributed to estimated rule cost total/,
        /^s: Forbidden: x-kubernetes-validations estimated rule cost total/,
      ],
    ],
  ];
  for (const [schema, faults] of rows) {
    const found = schemaRuleErrors(schema, FieldPath.root("s")).map(({ field, message }) => `${field}: ${message}`);
    assert.equal(found.length, faults.length, found.join("\n"));
    for (const [index, fault] of faults.entries()) assert.match(found[index]!, fault);
  }
});

/** Compiling and evaluating beyond single expressions: caches, limits, hostile input, environments, declared types. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  activationOf,
  admissionVariables,
  AuthorizerValue,
  baseEnvironment,
  boolType,
  builtInType,
  compile,
  createEnvironment,
  deviceEnvironment,
  deviceType,
  dynType,
  escapePropertyName,
  estimateCost,
  evaluate,
  fromJson,
  intType,
  isCelError,
  jsonPatchType,
  listType,
  mentions,
  mutationEnvironment,
  objectLiteralType,
  policyVariablesType,
  sizeOfDeclared,
  stringType,
  structuralType,
  toJson,
} from "./index.ts";
import type { CelAuthorizationAttributes, CelType, Environment, Program, StructuralSchema, Value } from "./index.ts";
import { TypeRegistry } from "../schema.ts";

function programOf(environment: Environment, text: string): Program {
  const compilation = compile(environment, text);
  assert.ok("program" in compilation, "errors" in compilation ? compilation.errors : "");
  return compilation.program;
}

function run(environment: Environment, text: string, variables: Record<string, Value> = {}): unknown {
  const evaluation = evaluate(programOf(environment, text), activationOf(variables));
  if ("error" in evaluation) return { error: evaluation.error };
  const json = toJson(evaluation.value);
  return isCelError(json) ? { error: json.message } : json;
}

function errorsOf(environment: Environment, text: string, ...expected: CelType[]): string {
  const compilation = compile(environment, text, ...expected);
  assert.ok("errors" in compilation);
  return compilation.errors;
}

test("a text is compiled once per environment", () => {
  const environment = baseEnvironment.withVariables({ x: intType });
  assert.equal(programOf(environment, "x > 1"), programOf(environment, "x > 1"));
  assert.notEqual(programOf(environment, "x > 1"), programOf(baseEnvironment.withVariables({ x: intType }), "x > 1"));
});

test("the type of the result is held against the expected ones", () => {
  assert.equal(errorsOf(baseEnvironment, "1", boolType), "must evaluate to bool but got int");
  assert.equal(errorsOf(baseEnvironment, "1", stringType, { kind: "null" }), "must evaluate to one of [string null_type] but got int");
  assert.equal(errorsOf(mutationEnvironment, "[]", listType(jsonPatchType)), "must evaluate to list(JSONPatch) but got list(dyn)");
  assert.equal(errorsOf(baseEnvironment.withVariables({ d: dynType }), "d", boolType), "must evaluate to bool but got dyn");
});

test("costs are limited", () => {
  const environment = baseEnvironment.withVariables({ l: listType(intType) });
  const program = programOf(environment, "l.all(x, l.all(y, x + y >= 0))");
  const activation = activationOf({
    l: fromJson(
      Array.from({ length: 1000 }, (_, index) => index),
      listType(intType),
    ),
  });
  const stopped = evaluate(program, activation);
  assert.deepEqual(stopped, { error: "operation cancelled: actual cost limit exceeded", cost: 1_000_001, isCostExceeded: true });
  const budgeted = evaluate(program, activation, { costBudget: 100 });
  assert.ok("error" in budgeted && budgeted.isCostExceeded && budgeted.cost <= 110);
});

const hostile: ReadonlyArray<readonly [name: string, text: string, fault: RegExp]> = [
  ["too long", "1".repeat(100_001), /^ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000$/],
  ["deep brackets", "(".repeat(90_000), /^ERROR: <input>:-1:0: expression recursion limit exceeded: 250$/],
  ["deep lists, broken", `${"[".repeat(240)}1 2 3`, /mismatched input '2' expecting \{'\]', ','\}/],
  ["long chain", `a${".b".repeat(251)}`, /^ERROR: <input>:-1:0: max recursion depth exceeded$/],
  ["many faults", Array.from({ length: 150 }, (_, index) => `x${index}`).join(" + "), /50 more errors were truncated$/],
  ["tokens without end", "a ".repeat(49_000), /mismatched input 'a' expecting <EOF>/],
  ["an open text", `"${"x".repeat(90_000)}`, /token recognition error/],
];
for (const [name, text, fault] of hostile) test(`hostile text: ${name}`, () => assert.match(errorsOf(baseEnvironment, text), fault));

test("what is legal though deep evaluates", () => {
  const nested = 249;
  assert.equal(run(baseEnvironment, `${"[1].all(x, ".repeat(nested)}true${")".repeat(nested)}`), true);
  assert.equal(run(baseEnvironment, `true${" && true".repeat(9000)}`), true);
  assert.deepEqual(run(baseEnvironment, "lists.range(1000000).size()"), { error: "operation cancelled: actual cost limit exceeded" });
});

test("patterns match in linear time", () => {
  const environment = baseEnvironment.withVariables({ s: stringType });
  assert.equal(run(environment, "s.matches('^(a+)+$')", { s: `${"a".repeat(5000)}!` }), false);
});

const schema: StructuralSchema = {
  type: "object",
  required: ["replicas"],
  properties: {
    replicas: { type: "integer" },
    "max-replicas": { type: "integer" },
    in: { type: "string", maxLength: 10 },
    when: { type: "string", format: "date-time" },
    day: { type: "string", format: "date" },
    every: { type: "string", format: "duration" },
    data: { type: "string", format: "byte" },
    ratio: { type: "number" },
    port: { "x-kubernetes-int-or-string": true },
    tags: { type: "array", "x-kubernetes-list-type": "set", maxItems: 5, items: { type: "string", maxLength: 3 } },
    items: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", properties: { k: { type: "string" }, v: { type: "integer" } } },
    },
    labels: { type: "object", additionalProperties: { type: "string" } },
  },
};
const object = {
  replicas: 3,
  "max-replicas": 5,
  in: "x",
  when: "2024-01-01T00:00:00Z",
  day: "2024-01-02",
  every: "3 days",
  data: "aGk=",
  ratio: 1,
  port: "80%",
  tags: ["a", "b"],
  items: [
    { k: "x", v: 1 },
    { k: "y", v: 2 },
  ],
  labels: { app: "web" },
};

test("data of a structural schema", () => {
  const declared = structuralType(schema, "self")!;
  const environment = baseEnvironment.withVariables({ self: declared.type });
  const self = fromJson(object, declared.type);
  const rows: ReadonlyArray<readonly [string, unknown]> = [
    ["self.replicas <= self.max__dash__replicas && self.__in__ == 'x'", true],
    ["self.when < timestamp('2025-01-01T00:00:00Z') && self.day.getDate() == 2", true],
    ["self.every == duration('72h') && self.data == b'hi' && self.ratio == 1.0", true],
    ["type(self.port) == string && self.port.endsWith('%')", true],
    ["self.tags == ['b', 'a']", true],
    ["(self.tags + ['b', 'c']).size()", 3],
    ["self.items.map(i, i.v).sum() + self.labels.size()", 4],
    ["self.labels.app == 'web' && !has(self.labels.none)", true],
    ["self == self && self.items[1].k == 'y'", true],
  ];
  for (const [text, expected] of rows) assert.deepEqual(run(environment, text, { self }), expected, text);
  assert.match(errorsOf(environment, "self.nothing"), /undefined field 'nothing'/);
  assert.match(errorsOf(environment, "self.items == self.tags"), /applied to '\(list\(self.items.@idx\), list\(string\)\)'/);
});

test("estimates follow the schema's limits", () => {
  const declared = structuralType(schema, "self")!;
  const environment = baseEnvironment.withVariables({ self: declared.type });
  const estimate = (text: string) => estimateCost(programOf(environment, text), sizeOfDeclared(declared));
  assert.deepEqual(estimate("self.tags.all(t, t.contains('a'))"), { min: 3, max: 33 });
  assert.deepEqual(estimate("self.__in__.matches('abcd')"), { min: 3, max: 7 });
  // A million entries, whose keys count as empty; their values do not.
  const entries = declared.fields!.get("labels")!.maxElements;
  assert.ok(estimate("self.labels.all(k, k.contains('a'))").max < entries * 10);
  assert.ok(estimate("self.labels.all(k, self.labels[k].contains('a'))").max > entries * 1e5);
});

test("resource roots have type and metadata", () => {
  const declared = structuralType({ type: "object", properties: {} }, "self", true)!;
  const environment = baseEnvironment.withVariables({ self: declared.type });
  assert.equal(run(environment, "self.metadata.name + self.kind", { self: fromJson({ kind: "K", metadata: { name: "n" } }, declared.type) }), "nK");
  assert.match(errorsOf(environment, "self.metadata.labels"), /undefined field 'labels'/);
  assert.equal(structuralType({}, "self"), undefined);
});

test("built-in kinds have types that may refer to themselves", () => {
  const registry = new TypeRegistry({
    "a.Node": {
      fields: [
        ["name", "string", "", 1],
        ["next", "*a.Node", "e", 2],
        ["size", "int32", "", 3],
        ["extra", "map[string]string", "", 4],
      ],
    },
  });
  const declared = builtInType(registry.struct("a.Node")!);
  const environment = baseEnvironment.withVariables({ object: declared.type });
  assert.match(errorsOf(environment, "object.next.next.size > 'x'"), /found no matching overload for '_>_' applied to '\(int, string\)'/);
  assert.equal(run(environment, "object.next.name", { object: fromJson({ name: "a", next: { name: "b" } }, declared.type) }), "b");
});

test("names of properties", () => {
  const rows: ReadonlyArray<readonly [string, string | undefined]> = [
    ["a-b", "a__dash__b"],
    ["a.b/c", "a__dot__b__slash__c"],
    ["a__b", "a__underscores__b"],
    ["in", "__in__"],
    ["if", "__if__"],
    ["plain", "plain"],
    ["1a", undefined],
    ["a b", undefined],
  ];
  for (const [name, escaped] of rows) assert.equal(escapePropertyName(name), escaped, name);
});

test("mutations: object literals and JSON patches", () => {
  const environment = mutationEnvironment.withVariables(admissionVariables(), objectLiteralType);
  const variables = { object: fromJson({ data: { a: "b" } }, dynType) };
  assert.deepEqual(run(environment, "Object{spec: Object.spec{replicas: 2, ?paused: optional.none()}}", variables), { spec: { replicas: 2 } });
  assert.deepEqual(run(environment, "[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c~'), value: object.data}]", variables), [
    { op: "add", path: "/a/b~1c~0", value: { a: "b" } },
  ]);
  assert.match(errorsOf(environment, "JSONPatch{operation: 'add'}"), /expected type of field 'operation' is '' but provided type is 'string'/);
  assert.equal(errorsOf(environment, "Object.metadata{}", objectLiteralType("Object")!), "must evaluate to Object but got Object.metadata");
});

test("variables of policies are typed one by one", () => {
  const environment = baseEnvironment.withVariables(admissionVariables({ variables: policyVariablesType({ a: intType }) }));
  assert.match(errorsOf(environment, "variables.a == 'x'"), /applied to '\(int, string\)'/);
  assert.match(errorsOf(environment, "variables.b"), /undefined field 'b'/);
  assert.match(errorsOf(environment, "params.x"), /undeclared reference to 'params'/);
  assert.match(errorsOf(environment, "request.nothing"), /undefined field 'nothing'/);
});

test("only device selectors have cel.bind", () => {
  const environment = deviceEnvironment.withVariables({ device: deviceType });
  assert.equal(run(environment, "cel.bind(x, device.driver, x + x)", { device: fromJson({ driver: "d" }, deviceType) }), "dd");
  assert.match(errorsOf(baseEnvironment, "cel.bind(x, 1, x)"), /undeclared reference to 'cel'/);
});

test("the authorizer is asked with what the expression gathered", () => {
  const asked: CelAuthorizationAttributes[] = [];
  const authorizer = new AuthorizerValue({
    authorize: (attributes) => {
      asked.push(attributes);
      return { isAllowed: attributes.verb === "get", reason: "because", ...(attributes.verb === "bad" && { error: "broken" }) };
    },
  });
  const environment = baseEnvironment.withVariables(admissionVariables());
  const ask = (text: string) => run(environment, text, { authorizer });
  assert.equal(
    ask("authorizer.group('apps').resource('deployments').subresource('scale').namespace('n').name('x').fieldSelector('a=b').check('get').allowed()"),
    true,
  );
  assert.equal(ask("authorizer.serviceAccount('ns', 'sa').path('/healthz').check('post').reason()"), "because");
  assert.equal(ask("authorizer.path('/x').check('bad').errored() ? authorizer.path('/x').check('bad').error() : ''"), "broken");
  assert.deepEqual(asked.slice(0, 2), [
    {
      verb: "get",
      resource: { group: "apps", resource: "deployments", subresource: "scale", namespace: "n", name: "x", fieldSelector: "a=b", labelSelector: "" },
    },
    { verb: "post", path: "/healthz", serviceAccount: { namespace: "ns", name: "sa" } },
  ]);
  assert.deepEqual(ask("authorizer.path(' ').check('get').allowed()"), { error: "path must not be empty" });
  assert.deepEqual(ask("authorizer.serviceAccount('N', 'sa').path('/').check('get').allowed()"), { error: "Invalid service account namespace" });
  const checks = "authorizer.path('/').check('get').allowed()";
  assert.deepEqual(ask(`${checks} && ${checks} && ${checks}`), { error: "operation cancelled: actual cost limit exceeded" });
});

test("programs tell which variables they mention, variables are asked for once", () => {
  const environment = createEnvironment({ variables: { a: intType, b: intType } });
  const program = programOf(environment, "a > 1 || a > 2");
  assert.deepEqual([mentions(program, "a"), mentions(program, "b")], [true, false]);
  let times = 0;
  evaluate(program, activationOf({ a: () => times++ }));
  assert.equal(times, 1);
});

test("bound names are evaluated when they are first asked for, once", () => {
  const costOf = (text: string) => evaluate(programOf(deviceEnvironment, text), activationOf({})).cost;
  assert.equal(costOf("cel.bind(x, [1, 2, 3].map(a, a + 1), 1)"), 0);
  assert.ok(costOf("cel.bind(x, [1, 2, 3].map(a, a + 1), x.size() + x.size())") < 2 * costOf("[1, 2, 3].map(a, a + 1).size()"));
  assert.deepEqual(run(deviceEnvironment, "cel.bind(x, [1, 2].map(a, a), [3, 4].map(b, [5].map(c, x.map(d, d + b)[1] + c)))"), [[10], [11]]);
  assert.equal(run(deviceEnvironment, "cel.bind(x, 1 / 0, true || x > 0)"), true);
});

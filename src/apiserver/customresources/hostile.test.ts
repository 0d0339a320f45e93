import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../apimachinery/json.ts";
import { ask } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";
import type { WebhookAnswer, WebhookConnector } from "../webhooks/webhook-connector.ts";

/** Who may write definitions or run webhooks may still not bring the server down: every answer comes within the test's time. */
const limited = { timeout: 60_000 };

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const things = (version = "v1") => `/apis/e.com/${version}/namespaces/default/things`;
const thing = (content: object, version = "v1") => ({ apiVersion: `e.com/${version}`, kind: "Thing", metadata: { name: "a" }, ...content });

function definition(openAPIV3Schema: object, conversion?: object) {
  const version = (name: string) => ({ name, served: true, storage: name === "v1", schema: { openAPIV3Schema } });
  const versions = conversion === undefined ? [version("v1")] : [version("v1"), version("v2")];
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.e.com" },
    spec: { group: "e.com", scope: "Namespaced", names: { kind: "Thing", plural: "things" }, versions, ...(conversion !== undefined && { conversion }) },
  };
}

const nested = (levels: number): object => {
  let schema: object = { type: "string" };
  for (let level = 0; level < levels; level++) schema = { type: "object", properties: { a: schema } };
  return schema;
};
const ruled = (rule: string) => ({
  type: "object",
  properties: { l: { type: "array", maxItems: 100_000, items: { type: "string", maxLength: 1000 } } },
  "x-kubernetes-validations": [{ rule }],
});

test("hostile schemas and rules are refused, each with its reason", limited, async () => {
  await using cluster = await TestCluster.start();
  const rows: readonly [what: string, schema: object, message: RegExp][] = [
    ["nested levels", nested(2000), /is invalid: spec.versions\[0\].schema.openAPIV3Schema: Forbidden: must not be nested deeper than 512 levels$/],
    ["more nested levels", nested(4000), /must not be nested deeper than 512 levels$/],
    ["a rule that costs too much", ruled("self.l.all(a, self.l.all(b, self.l.all(c, a == b && b == c)))"), /estimated rule cost exceeds budget by factor of/],
    [
      "a pattern that grows",
      { type: "object", properties: { s: { type: "string", pattern: "((a{1,100}){1,100}){1,100}b" } } },
      /must be a valid regular expression, but isn't: error parsing regexp: invalid repeat count: `\{1,100\}`$/,
    ],
    ["nested parentheses", ruled(`${"(".repeat(10_000)}true${")".repeat(10_000)}`), /expression recursion limit exceeded/],
    ["nested lists", ruled(`${"[".repeat(5000)}${"]".repeat(5000)} == []`), /expression recursion limit exceeded/],
    ["nested conditions", ruled(`${"true ? true : ".repeat(5000)}true`), /expression recursion limit exceeded/],
  ];
  for (const [what, schema, message] of rows) {
    const { status, json } = await ask(cluster, "POST", crds, definition(schema));
    assert.deepEqual([what, status], [what, 422]);
    assert.match(String(json["message"]), message, what);
  }
  assert.equal((await ask(cluster, "GET", "/openapi/v2", undefined, { accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" })).status, 200);
});

test("a schema of ten thousand properties can be used", limited, async () => {
  await using cluster = await TestCluster.start();
  const members = (value: unknown) => Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, value]));
  assert.equal(
    (
      await ask(
        cluster,
        "POST",
        crds,
        definition({ type: "object", properties: { spec: { type: "object", properties: members({ type: "string", maxLength: 5 }) } } }),
      )
    ).status,
    201,
  );
  await cluster.turn();
  assert.equal((await ask(cluster, "POST", things(), thing({ spec: members("x") }))).status, 201);
  const apply = await ask(cluster, "PATCH", `${things()}/a?fieldManager=m&force=true`, thing({ spec: members("y") }), {
    "content-type": "application/apply-patch+yaml",
  });
  assert.deepEqual([apply.status, Object.keys(apply.json["spec"] as JsonObject).length], [200, 10_000]);
  assert.equal((await ask(cluster, "PATCH", `${things()}/a`, { spec: { p9999: "too long" } }, { "content-type": "application/merge-patch+json" })).status, 422);
  for (const path of ["/openapi/v3/apis/e.com/v1", "/openapi/v2"]) assert.equal((await ask(cluster, "GET", path)).status, 200);
});

test("patterns with catastrophic matches, and rules with catastrophic patterns, take no time", limited, async () => {
  await using cluster = await TestCluster.start();
  const text = { type: "string", maxLength: 1_000_000 };
  const schema = {
    type: "object",
    properties: { s: { ...text, pattern: "^(a+)+$" }, t: { ...text, pattern: "(a{1,30}){1,30}b" }, u: { type: "string", maxLength: 100 } },
    "x-kubernetes-validations": [{ rule: "!has(self.u) || self.u.matches('^(a|a)*$')" }],
  };
  assert.equal((await ask(cluster, "POST", crds, definition(schema))).status, 201);
  await cluster.turn();
  for (const content of [{ s: `${"a".repeat(500_000)}!` }, { t: "a".repeat(100_000) }, { u: `${"a".repeat(99)}!` }])
    assert.equal((await ask(cluster, "POST", things(), thing(content))).status, 422, JSON.stringify(Object.keys(content)));
});

test("rules that cost too much when they run are stopped, one alone and all together", limited, async () => {
  await using cluster = await TestCluster.start();
  const rule = "self.l.all(a, self.l.all(b, a + b >= 0))";
  const list = { type: "array", maxItems: 800, items: { type: "integer" } };
  const schema = {
    type: "object",
    properties: { l: list },
    "x-kubernetes-validations": Array.from({ length: 15 }, (_, index) => ({ rule: `${rule} || ${index} < 0` })),
  };
  assert.equal((await ask(cluster, "POST", crds, definition(schema))).status, 201);
  await cluster.turn();
  for (const [items, message] of [
    [800, "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: " + rule],
    [350, "validation failed due to running out of cost budget, no further validation rules will be run"],
  ] as const) {
    const { status, json } = await ask(cluster, "POST", things(), thing({ l: Array.from({ length: items }, (_, index) => index) }));
    assert.equal(status, 422);
    assert.ok(String(json["message"]).includes(message), String(json["message"]));
  }
});

/** Answers every question with the same bytes. */
class Liar implements WebhookConnector {
  body: Buffer = Buffer.alloc(0);
  post(): Promise<WebhookAnswer> {
    return Promise.resolve({ status: 200, headers: { "content-type": "application/json" }, body: this.body });
  }
}

const megabytes = 10 * 1024 * 1024;
const garbage: readonly [what: string, body: Buffer, message: RegExp][] = [
  ["spaces", Buffer.alloc(megabytes, " "), /json parse error/],
  ["a text", Buffer.alloc(megabytes, "a: b\n"), /json parse error/],
  ["open lists", Buffer.alloc(megabytes, "["), /json parse error.*exceeded max depth/],
  ["open objects", Buffer.alloc(megabytes, '{"a":'), /json parse error.*exceeded max depth/],
  ["a list", Buffer.from(`[${"1,".repeat(megabytes / 2)}1]`), /cannot unmarshal array into Go value/],
  ["nested objects", Buffer.from(`{"response":${'{"a":'.repeat(9000)}1${"}".repeat(9000)}}`), /webhook|no response|uid/],
];

test("webhooks that answer ten megabytes of garbage are told by it", limited, async () => {
  const liar = new Liar();
  await using cluster = await TestCluster.start({ webhooks: liar });
  const clientConfig = { url: "https://liar.example.com/" };
  assert.equal(
    (
      await ask(
        cluster,
        "POST",
        crds,
        definition(
          { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig } },
        ),
      )
    ).status,
    201,
  );
  await cluster.turn();
  assert.equal((await ask(cluster, "POST", things(), thing({}))).status, 201);
  const webhook = {
    name: "liar.example.com",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig,
    rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
  };
  const configuration = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "liar" },
    webhooks: [webhook],
  };
  assert.equal((await ask(cluster, "POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", configuration)).status, 201);
  await cluster.turn();
  for (const [what, body, message] of garbage) {
    liar.body = body;
    for (const answer of [
      await ask(cluster, "GET", `${things("v2")}/a`),
      await ask(cluster, "POST", "/api/v1/namespaces/default/configmaps", { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "x" } }),
    ]) {
      assert.deepEqual([what, answer.status], [what, 500]);
      assert.match(String(answer.json["message"]), message, what);
    }
  }
});

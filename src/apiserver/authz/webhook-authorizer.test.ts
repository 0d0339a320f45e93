import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { AuthorizationAttributes } from "./authorizer.ts";
import { webhookAuthorizer } from "./webhook-authorizer.ts";
import type { WebhookAuthorizerOptions } from "./webhook-authorizer.ts";

const attributes = (username: string, verb = "list"): AuthorizationAttributes => ({
  kind: "resource",
  user: { username, groups: ["g"] },
  verb,
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace: "ns",
  name: "",
  fieldSelector: [{ field: "spec.nodeName", isEqual: true, value: "n" }],
});

function authorizer(answers: Record<string, object>, options: Partial<WebhookAuthorizerOptions> = {}) {
  const asked: { spec: { user: string } & Record<string, unknown> }[] = [];
  const clock = new VirtualClock();
  const send: WebhookAuthorizerOptions["send"] = async (body) => {
    const review = JSON.parse(Buffer.from(body).toString()) as (typeof asked)[number];
    asked.push(review);
    const status = answers[review.spec.user];
    return status === undefined ? { status: 404, body: Buffer.from("") } : { status: 200, body: Buffer.from(JSON.stringify({ status })) };
  };
  const made = webhookAuthorizer(
    { send, version: "v1", timeoutMs: 1000, authorizedTtlMs: 60_000, unauthorizedTtlMs: 10_000, failurePolicy: "NoOpinion", matchConditions: [], ...options },
    clock,
  );
  return { made, asked, clock };
}

test("answers become decisions", async () => {
  const { made, asked } = authorizer({
    yes: { allowed: true, reason: "because" },
    no: { allowed: false, denied: true },
    dunno: { allowed: false, reason: "not mine" },
    both: { allowed: true, denied: true },
  });
  const table: [user: string, expected: object][] = [
    ["yes", { verdict: "allow", reason: "because" }],
    ["no", { verdict: "deny", reason: "" }],
    ["dunno", { verdict: "no-opinion", reason: "not mine" }],
    ["both", { verdict: "no-opinion", reason: "", evaluationError: "webhook subject access review returned both allow and deny response" }],
    ["lost", { verdict: "no-opinion", reason: "", evaluationError: "the server could not find the requested resource" }],
  ];
  for (const [user, expected] of table) assert.deepEqual(await made.authorize(attributes(user)), expected);
  assert.deepEqual(asked[0]!.spec, {
    resourceAttributes: {
      namespace: "ns",
      verb: "list",
      version: "v1",
      resource: "pods",
      fieldSelector: { requirements: [{ key: "spec.nodeName", operator: "In", values: ["n"] }] },
    },
    user: "yes",
    groups: ["g"],
  });
});

test("answers are remembered as long as they may be, failures never", async () => {
  const { made, asked, clock } = authorizer({ yes: { allowed: true }, no: { allowed: false } });
  const ask = async (...users: string[]) => {
    for (const user of users) await made.authorize(attributes(user));
  };
  await ask("yes", "no", "yes", "no", "lost", "lost");
  assert.deepEqual(
    asked.map(({ spec }) => spec.user),
    ["yes", "no", "lost", "lost"],
  );
  await clock.advance(15_000, async () => undefined);
  await ask("yes", "no");
  assert.equal(asked.length, 5);
});

test("conditions decide whether it is asked at all", async () => {
  const { made, asked } = authorizer(
    {},
    { failurePolicy: "Deny", matchConditions: ["request.resourceAttributes.verb == 'get'", "request.resourceAttributes.fieldSelector.rawSelector == ''"] },
  );
  assert.deepEqual(await made.authorize(attributes("u")), { verdict: "no-opinion", reason: "" });
  assert.equal((await made.authorize(attributes("u", "get"))).verdict, "deny");
  assert.equal(asked.length, 0);
});

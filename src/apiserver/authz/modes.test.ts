import { test } from "node:test";
import { deepEqual, rejects } from "node:assert/strict";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { sendReview } from "../webhooks/review-webhook.ts";
import { chosenAuthorizers } from "./modes.ts";

const own = { node: { name: "node", authorize: () => ({ verdict: "no-opinion", reason: "" }) as const }, clock: new VirtualClock() };
const rbac = { ...own.node, name: "rbac", rulesFor: () => [] };
const webhook = {
  send: async () => ({ status: 200, body: Buffer.from("<html></html>") }),
  version: "v1",
  timeoutMs: 1000,
  authorizedTtlMs: 1,
  unauthorizedTtlMs: 1,
  failurePolicy: "NoOpinion",
  matchConditions: [],
} as const;

test("who cannot list rules says so to those whom it may allow things", () => {
  const authorizers = [
    { type: "Node", name: "node" },
    { type: "Webhook", name: "a", webhook },
    { type: "RBAC", name: "rbac" },
  ];
  const { ruleSource } = chosenAuthorizers({ authorizers }, { ...own, rbac });
  const [node, hook] = ["node", "webhook"].map((name) => `${name} authorizer does not support user rule resolution`);
  deepEqual(ruleSource.unresolved!({ username: "jane", groups: [] }), [hook]);
  deepEqual(ruleSource.unresolved!({ username: "system:node:n", groups: ["system:nodes"] }), [node, hook]);
});

test("a webhook's answer that is no JSON is told as a text", async () => {
  const options = { send: webhook.send, clock: own.clock, kind: "SubjectAccessReview", apiVersion: "authorization.k8s.io/v1", timeoutMs: 1000 } as const;
  await rejects(sendReview(options, {}, {}), {
    message:
      'couldn\'t get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  });
});

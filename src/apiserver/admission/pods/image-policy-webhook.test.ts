import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "../../../base/virtual-clock.ts";
import { WebhookError } from "../../webhooks/review-webhook.ts";
import type { AdmissionRequest } from "../chain.ts";
import { imagePolicyWebhook } from "./image-policy-webhook.ts";

const spec = {
  containers: [{ name: "c", image: "app" }],
  initContainers: [{ name: "i", image: "init" }],
  ephemeralContainers: [{ name: "e", image: "debug" }],
};

function setUp(answer: () => object, defaultAllow = false) {
  const asked: unknown[] = [];
  const clock = new VirtualClock();
  const send = async (body: Uint8Array) => {
    asked.push((JSON.parse(Buffer.from(body).toString()) as { spec: unknown }).spec);
    return { status: 200, body: Buffer.from(JSON.stringify({ status: answer() })) };
  };
  const plugin = imagePolicyWebhook({ imagePolicy: { allowTTL: 50, denyTTL: 50, retryBackoff: 1, defaultAllow }, send });
  const object = { metadata: { name: "a", annotations: { "x.image-policy.k8s.io/why": "me", other: "no" } }, spec };
  const admit = async (subresource = "") =>
    plugin.validate!({
      context: { server: { clock } },
      operation: "CREATE",
      definition: { group: "", resource: "pods" },
      subresource,
      namespace: "ns",
      name: "a",
      object,
      oldObject: undefined,
      isDryRun: false,
    } as unknown as AdmissionRequest);
  return { asked, clock, admit };
}

const unreachable = () => {
  throw new WebhookError("connection refused");
};

test("the answer decides", async () => {
  await setUp(() => ({ allowed: true })).admit();
  await assert.rejects(setUp(() => ({ allowed: false })).admit(), /pods "a" is forbidden: one or more images rejected by webhook backend/);
  await assert.rejects(setUp(() => ({ reason: "old" })).admit(), /image policy webhook backend denied one or more images: old/);
});

test("without an answer the default decides", async () => {
  await assert.rejects(setUp(unreachable).admit(), /pods "a" is forbidden: connection refused/);
  await setUp(unreachable, true).admit();
});

test("a debug container is asked for alone, and answers are kept", async () => {
  const { asked, clock, admit } = setUp(() => ({ allowed: true }));
  await admit();
  await admit();
  await admit("ephemeralcontainers");
  await admit("status");
  const annotations = { "x.image-policy.k8s.io/why": "me" };
  assert.deepEqual(asked, [
    { containers: [{ image: "init" }, { image: "app" }], annotations, namespace: "ns" },
    { containers: [{ image: "debug" }], annotations, namespace: "ns" },
  ]);
  await clock.advance(51_000, async () => undefined);
  await admit();
  assert.equal(asked.length, 3);
});

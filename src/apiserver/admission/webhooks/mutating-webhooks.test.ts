import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loopTurn } from "../../../base/virtual-clock.ts";
import { ask } from "../../../testing/ask.ts";
import { TestCluster } from "../../../testing/cluster.ts";
import type { WebhookAnswer, WebhookConnector } from "../../webhooks/webhook-connector.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const mergePatch = { "content-type": "application/merge-patch+json" };
const configMap = (metadata: object) => ({ kind: "ConfigMap", apiVersion: "v1", metadata });

/** Answers every review with the same JSON patch, or never. */
class Patcher implements WebhookConnector {
  patch: readonly object[] = [];
  hangs = false;

  post(_target: object, body: Uint8Array, signal: AbortSignal): Promise<WebhookAnswer> {
    if (this.hangs) return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    const { uid } = (JSON.parse(Buffer.from(body).toString()) as { request: { uid: string } }).request;
    const response = { uid, allowed: true, patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(this.patch)).toString("base64") };
    const review = { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response };
    return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(review)) });
  }
}

async function start(webhooks: Patcher, options: object = {}): Promise<TestCluster> {
  const cluster = await TestCluster.start({ webhooks });
  await ask(cluster, "POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "patcher" },
    webhooks: [
      {
        name: "patcher.example.com",
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        clientConfig: { url: "https://patcher.example.com/" },
        rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
        ...options,
      },
    ],
  });
  await cluster.turn();
  return cluster;
}

describe("mutating webhooks", () => {
  test("what they patch gets its generated name afterwards, or the name that they give", async () => {
    const webhook = new Patcher();
    await using cluster = await start(webhook);
    const nameOf = async (patch: readonly object[]) => {
      webhook.patch = patch;
      const { status, json } = await ask(cluster, "POST", configMaps, configMap({ generateName: "x-" }));
      assert.equal(status, 201, JSON.stringify(json));
      return (json["metadata"] as { name: string }).name;
    };
    assert.match(await nameOf([{ op: "add", path: "/data", value: { a: "b" } }]), /^x-[a-z0-9]{5}$/);
    assert.match(await nameOf([{ op: "add", path: "/metadata/labels", value: { a: "b" } }]), /^x-[a-z0-9]{5}$/);
    assert.equal(await nameOf([{ op: "add", path: "/metadata/name", value: "given" }]), "given");
  });

  test("they cannot move an object into another namespace, nor rename it", async () => {
    const webhook = new Patcher();
    await using cluster = await start(webhook);
    assert.equal((await ask(cluster, "POST", configMaps, configMap({ name: "old" }))).status, 201);
    webhook.patch = [{ op: "replace", path: "/metadata/namespace", value: "kube-system" }];
    for (const answer of [
      await ask(cluster, "POST", configMaps, configMap({ name: "new" })),
      await ask(cluster, "PUT", `${configMaps}/old`, configMap({ name: "old" })),
      await ask(cluster, "PATCH", `${configMaps}/old`, { data: { a: "b" } }, mergePatch),
    ])
      assert.deepEqual([answer.status, answer.json["message"]], [400, "the namespace of the provided object does not match the namespace sent on the request"]);
    assert.equal((await ask(cluster, "GET", "/api/v1/namespaces/kube-system/configmaps/new")).status, 404);
    webhook.patch = [{ op: "replace", path: "/metadata/name", value: "other" }];
    const renamed = await ask(cluster, "PATCH", `${configMaps}/old`, { data: { a: "b" } }, mergePatch);
    assert.deepEqual(
      [renamed.status, renamed.json["message"]],
      [422, 'ConfigMap "other" is invalid: metadata.name: Invalid value: "other": field is immutable'],
    );
  });

  test("what they copy has a limit", async () => {
    const webhook = new Patcher();
    await using cluster = await start(webhook);
    webhook.patch = [
      { op: "add", path: "/data", value: { text: "x".repeat(1000) } },
      ...Array.from({ length: 30 }, (_, index) => ({ op: "copy", from: "/data", path: `/data/copy${index}` })),
    ];
    const { status, json } = await ask(cluster, "POST", configMaps, configMap({ name: "a" }));
    assert.equal(status, 500);
    assert.match(String(json["message"]), /Unable to complete the copy, the accumulated size increase of copy is \d+, exceeding the limit 3145728/);
  });

  for (const [failurePolicy, expected] of [
    [
      "Fail",
      [
        500,
        'Internal error occurred: failed calling webhook "patcher.example.com": failed to call webhook: Post "https://patcher.example.com/?timeout=3s": context deadline exceeded',
      ],
    ],
    ["Ignore", [201, undefined]],
  ] as const) {
    test(`one that hangs is given up after its time; ${failurePolicy}`, async () => {
      const webhook = new Patcher();
      await using cluster = await start(webhook, { timeoutSeconds: 3, failurePolicy });
      webhook.hangs = true;
      let isAnswered = false;
      const pending = ask(cluster, "POST", configMaps, configMap({ name: "a" })).finally(() => (isAnswered = true));
      await cluster.clock.advance(2900, loopTurn);
      assert.equal(isAnswered, false);
      // Others do not wait for it.
      assert.equal((await ask(cluster, "GET", configMaps)).status, 200);
      await cluster.clock.advance(200, loopTurn);
      const { status, json } = await pending;
      assert.deepEqual([status, json["message"]], expected);
    });
  }
});

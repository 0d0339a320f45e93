import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "../../../base/clock.ts";
import type { Clock } from "../../../base/clock.ts";
import { loopTurn } from "../../../base/virtual-clock.ts";
import { ask, openWatch } from "../../../testing/ask.ts";
import { TestCluster } from "../../../testing/cluster.ts";
import type { WebhookAnswer, WebhookConnector } from "../../webhooks/webhook-connector.ts";

interface Widget {
  apiVersion: string;
  kind?: string;
  metadata: Record<string, unknown>;
  spec?: Record<string, unknown>;
}
interface Review {
  apiVersion: string;
  kind: string;
  request: { uid: string; desiredAPIVersion: string; objects: Widget[] };
  response?: Record<string, unknown>;
}

/** v1 has `spec.size`, v2 `spec.dimensions.size`; both remember who converted them. */
function converted(object: Widget, apiVersion: string): Widget {
  const { size, dimensions, ...rest } = (object.spec ?? {}) as { size?: number; dimensions?: { size?: number } };
  const given = size ?? dimensions?.size;
  const spec = given === undefined ? rest : apiVersion.endsWith("/v2") ? { ...rest, dimensions: { size: given } } : { ...rest, size: given };
  return { ...object, apiVersion, spec };
}

/** A conversion webhook in the test's process; `change` bends what it answers. */
class Webhook implements WebhookConnector {
  readonly asked: Review[] = [];
  clock: Clock | undefined;
  delayMs = 0;
  change: (answer: Review) => unknown = (answer) => answer;
  answer: (text: string) => WebhookAnswer = (text) => ({ status: 200, headers: { "content-type": "application/json" }, body: Buffer.from(text) });

  async post(_target: unknown, body: Uint8Array, signal: AbortSignal): Promise<WebhookAnswer> {
    const review = JSON.parse(Buffer.from(body).toString()) as Review;
    this.asked.push(review);
    if (this.delayMs > 0) await sleep(this.clock!, this.delayMs, signal);
    const { uid, desiredAPIVersion, objects } = review.request;
    const convertedObjects = objects.map((object) => converted(object, desiredAPIVersion));
    return this.answer(JSON.stringify(this.change({ ...review, response: { uid, convertedObjects, result: { status: "Success" } } })));
  }
}

const property = (name: string, schema: object) => ({ type: "object", properties: { spec: { type: "object", properties: { [name]: schema } } } });
const v1Schema = property("size", { type: "integer" });
const v2Schema = property("dimensions", { type: "object", properties: { size: { type: "integer" } } });

function definition(stored: "v1" | "v2", conversionReviewVersions = ["v1"]) {
  const version = (name: string, openAPIV3Schema: object) => ({ name, served: true, storage: name === stored, schema: { openAPIV3Schema } });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.e.com" },
    spec: {
      group: "e.com",
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets" },
      versions: [version("v1", v1Schema), version("v2", v2Schema)],
      conversion: { strategy: "Webhook", webhook: { conversionReviewVersions, clientConfig: { url: "https://converter.e.com/convert" } } },
    },
  };
}

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const widgets = (version: string) => `/apis/e.com/${version}/namespaces/default/widgets`;
const widget = (name: string, size: number) => ({ apiVersion: "e.com/v1", kind: "Widget", metadata: { name }, spec: { size } });

async function start(webhook: Webhook, crd: object = definition("v1")): Promise<TestCluster> {
  const cluster = await TestCluster.start({ webhooks: webhook });
  webhook.clock = cluster.clock;
  assert.equal((await ask(cluster, "POST", crds, crd)).status, 201);
  await cluster.turn();
  return cluster;
}

test("conversion webhooks: read, list, watch, write in the version that is not stored", async () => {
  const webhook = new Webhook();
  await using cluster = await start(webhook);
  for (const [name, size] of [
    ["a", 1],
    ["b", 2],
  ] as const)
    assert.equal((await ask(cluster, "POST", widgets("v1"), widget(name, size))).status, 201);
  assert.equal(webhook.asked.length, 0, "the stored version needs none");

  const got = await ask(cluster, "GET", `${widgets("v2")}/a`);
  assert.deepEqual(got.json["spec"], { dimensions: { size: 1 } });
  const [{ request, ...review } = assert.fail()] = webhook.asked;
  assert.deepEqual(review, {
    kind: "ConversionReview",
    apiVersion: "apiextensions.k8s.io/v1",
    response: { uid: "", convertedObjects: null, result: { metadata: {} } },
  });
  assert.equal(request.desiredAPIVersion, "e.com/v2");
  assert.deepEqual(Object.keys(request.objects[0]!.metadata), ["creationTimestamp", "generation", "managedFields", "name", "namespace", "uid"]);
  assert.equal(
    (got.json["metadata"] as { resourceVersion: string }).resourceVersion,
    ((await ask(cluster, "GET", `${widgets("v1")}/a`)).json["metadata"] as { resourceVersion: string }).resourceVersion,
  );

  for (const name of ["c", "d"]) await ask(cluster, "POST", widgets("v1"), widget(name, 3));
  webhook.asked.length = 0;
  const listed = (await ask(cluster, "GET", widgets("v2"))).json["items"] as unknown as Widget[];
  assert.deepEqual(
    listed.map(({ apiVersion, spec }) => [apiVersion, spec]),
    [1, 2, 3, 3].map((size) => ["e.com/v2", { dimensions: { size } }]),
  );
  assert.deepEqual(
    webhook.asked.map(({ request: { objects } }) => objects.map(({ metadata }) => metadata["name"])),
    [["b", "c", "d"]],
    "all that is not known yet in one call",
  );

  const watch = await openWatch(cluster, `${widgets("v2")}?watch=true&labelSelector=kept%3Dtrue`);
  await ask(cluster, "PATCH", `${widgets("v1")}/a`, { metadata: { labels: { kept: "true" } } }, { "content-type": "application/merge-patch+json" });
  await ask(cluster, "PATCH", `${widgets("v2")}/a`, { spec: { dimensions: { size: 7 } } }, { "content-type": "application/merge-patch+json" });
  await ask(cluster, "PATCH", `${widgets("v1")}/a`, { metadata: { labels: { kept: null } } }, { "content-type": "application/merge-patch+json" });
  await cluster.turn();
  assert.deepEqual(
    watch.events.map(({ type, object }) => [type, object["apiVersion"], object["spec"]]),
    [
      ["ADDED", "e.com/v2", { dimensions: { size: 1 } }],
      ["MODIFIED", "e.com/v2", { dimensions: { size: 7 } }],
      ["DELETED", "e.com/v2", { dimensions: { size: 7 } }],
    ],
  );
  watch.stop();
  await watch.ended;
  assert.deepEqual((await ask(cluster, "GET", `${widgets("v1")}/a`)).json["spec"], { size: 7 });

  const made = await ask(cluster, "POST", widgets("v2"), {
    apiVersion: "e.com/v2",
    kind: "Widget",
    metadata: { name: "e" },
    spec: { dimensions: { size: 9 } },
  });
  assert.deepEqual([made.status, made.json["apiVersion"], made.json["spec"]], [201, "e.com/v2", { dimensions: { size: 9 } }]);
  assert.deepEqual((await ask(cluster, "GET", `${widgets("v1")}/e`)).json["spec"], { size: 9 });
  assert.equal((await ask(cluster, "DELETE", `${widgets("v2")}/e`)).status, 200);
});

test("conversion webhooks: server-side apply across versions keeps and gives up fields", async () => {
  const webhook = new Webhook();
  await using cluster = await start(webhook);
  const apply = (version: string, manager: string, spec: object, force = false) =>
    ask(
      cluster,
      "PATCH",
      `${widgets(version)}/w?fieldManager=${manager}${force ? "&force=true" : ""}`,
      { apiVersion: `e.com/${version}`, kind: "Widget", metadata: { name: "w" }, spec },
      { "content-type": "application/apply-patch+yaml" },
    );
  assert.equal((await apply("v1", "one", { size: 1 })).status, 201);
  const conflict = await apply("v2", "two", { dimensions: { size: 2 } });
  assert.deepEqual([conflict.status, conflict.json["message"]], [409, 'Apply failed with 1 conflict: conflict with "one": .spec.size']);
  assert.equal((await apply("v2", "two", { dimensions: { size: 2 } }, true)).status, 200);
  const { metadata, spec } = (await ask(cluster, "GET", `${widgets("v1")}/w`)).json as unknown as Widget;
  assert.deepEqual(spec, { size: 2 });
  assert.deepEqual(
    (metadata["managedFields"] as { manager: string; apiVersion: string; fieldsV1: object }[]).map(({ manager, apiVersion, fieldsV1 }) => [
      manager,
      apiVersion,
      fieldsV1,
    ]),
    [["two", "e.com/v2", { "f:spec": { "f:dimensions": { "f:size": {} } } }]],
  );
});

test("conversion webhooks: what is stored stays readable when the stored version changes; v1beta1 is spoken", async () => {
  const webhook = new Webhook();
  await using cluster = await start(webhook, definition("v1", ["v1beta1", "v1"]));
  await ask(cluster, "POST", widgets("v1"), widget("old", 1));
  const { spec } = definition("v2", ["v1beta1"]);
  assert.equal((await ask(cluster, "PATCH", `${crds}/widgets.e.com`, { spec }, { "content-type": "application/merge-patch+json" })).status, 200);
  await cluster.turn();
  await ask(cluster, "POST", widgets("v1"), widget("new", 2));
  for (const [version, expected] of [
    ["v1", [{ size: 2 }, { size: 1 }]],
    ["v2", [{ dimensions: { size: 2 } }, { dimensions: { size: 1 } }]],
  ] as const) {
    assert.deepEqual(
      ((await ask(cluster, "GET", widgets(version))).json["items"] as unknown as Widget[]).map((item) => item.spec),
      expected,
      version,
    );
  }
  assert.ok(webhook.asked.every(({ apiVersion }) => apiVersion === "apiextensions.k8s.io/v1beta1"));
  assert.deepEqual((await ask(cluster, "GET", `${crds}/widgets.e.com`)).json["status"]!["storedVersions" as never], ["v1", "v2"]);
});

const only = (change: (object: Widget) => unknown) => (review: Review) => ({
  ...review,
  response: { ...review.response, convertedObjects: (review.response!["convertedObjects"] as Widget[]).map(change) },
});
const withResponse = (response: unknown) => (review: Review) => ({
  ...review,
  response: response === undefined ? undefined : { ...review.response, ...(response as object) },
});
const refused: readonly [what: string, change: (review: Review) => unknown, expected: RegExp][] = [
  ["a failure", withResponse({ result: { status: "Failed", message: "cannot convert" } }), / failed: cannot convert$/],
  ["a failure without a text", withResponse({ result: { status: "Failure" } }), / failed: response.result.status was 'Failure', not 'Success'$/],
  ["no result", withResponse({ result: undefined }), / failed: response.result.status was '', not 'Success'$/],
  ["no response", withResponse(undefined), / failed: no response provided$/],
  ["another uid", withResponse({ uid: "wrong" }), / failed: expected response.uid="[-0-9a-f]{36}", got "wrong"$/],
  [
    "objects that are none",
    withResponse({ convertedObjects: "x" }),
    / failed: json: cannot unmarshal string into Go struct field ConversionResponse.response.convertedObjects of type \[\]runtime.RawExtension$/,
  ],
  ["no objects", withResponse({ convertedObjects: [] }), / returned 0 objects, expected 1$/],
  [
    "the wrong version",
    only((object) => ({ ...object, apiVersion: "e.com/v3" })),
    / returned invalid object at index 0: invalid groupVersion \(expected e.com\/v2, received e.com\/v3\)$/,
  ],
  [
    "another kind",
    only((object) => ({ ...object, kind: "Gadget" })),
    / returned invalid object at index 0: invalid kind \(expected Widget, received Gadget\)$/,
  ],
  ["no kind", only((object) => ({ ...object, kind: undefined })), /revision=\d+: Object 'Kind' is missing in '\{"apiVersion":"e.com\/v2"/],
  ["a text", only(() => "x"), / returned invalid object at index 0: invalid object type \(expected an object, received string\)$/],
  [
    "another name",
    only((object) => ({ ...object, metadata: { ...object.metadata, name: "other" } })),
    / returned invalid object: must have the same name: a != other$/,
  ],
  [
    "another namespace",
    only((object) => ({ ...object, metadata: { ...object.metadata, namespace: "kube-system" } })),
    / returned invalid object: must have the same namespace: default != kube-system$/,
  ],
  [
    "another uid of the object",
    only((object) => ({ ...object, metadata: { ...object.metadata, uid: "u" } })),
    / returned invalid object: must have the same UID: [-0-9a-f]{36} != u$/,
  ],
  ["no metadata", only((object) => ({ ...object, metadata: undefined })), / returned invalid object: must have the same name: a != $/],
  [
    "a label that is none",
    only((object) => ({ ...object, metadata: { ...object.metadata, labels: { "bad key": "1" } } })),
    / returned invalid metadata: metadata.labels: Invalid value: "bad key": name part must consist of/,
  ],
  [
    "labels that are no texts",
    only((object) => ({ ...object, metadata: { ...object.metadata, labels: { a: 1 } } })),
    / returned invalid metadata: metadata.labels\[a\] must be a string, but is int64 in converted object$/,
  ],
  [
    "another version of the review",
    (review) => ({ ...review, apiVersion: "apiextensions.k8s.io/v1beta1" }),
    / failed: converting \(v1beta1.ConversionReview\) to \(v1.ConversionReview\): unknown conversion$/,
  ],
  [
    "another review",
    (review) => ({ ...review, kind: "AdmissionReview" }),
    / failed: no kind "AdmissionReview" is registered for version "apiextensions.k8s.io\/v1" in scheme "pkg\/runtime\/scheme.go:111"$/,
  ],
  ["a text", () => "hello", / failed: couldn't get version\/kind; json parse error: json: cannot unmarshal string into Go value of type struct/],
];

test("conversion webhooks: answers that cannot be used, and what may change", async () => {
  const webhook = new Webhook();
  await using cluster = await start(webhook);
  await ask(cluster, "POST", widgets("v1"), widget("a", 1));
  for (const [what, change, expected] of refused) {
    webhook.change = change;
    const { status, json } = await ask(cluster, "GET", `${widgets("v2")}/a`);
    assert.equal(status, 500, what);
    assert.match(
      String(json["message"]),
      /^Internal error occurred: StorageError: corrupt object, Code: 7, Key: \/e.com\/widgets\/default\/a, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=\d+: (conversion webhook for e.com\/v1, Kind=Widget|Object 'Kind')/,
      what,
    );
    assert.match(String(json["message"]), expected, what);
  }
  webhook.answer = () => ({ status: 500, headers: {}, body: Buffer.from("boom") });
  const list = await ask(cluster, "GET", widgets("v2"));
  assert.deepEqual(
    [list.status, list.json["message"]],
    [
      429,
      `storage is (re)initializing: failed to list <unspecified>: failed to read one or more widgets.e.com from the storage: ${String(
        (await ask(cluster, "GET", `${widgets("v2")}/a`)).json["message"],
      )
        .replace("Internal error occurred: ", "")
        .replace("Key: /", "Key: /registry/")}`,
    ],
  );
  const create = await ask(cluster, "POST", widgets("v2"), { apiVersion: "e.com/v2", kind: "Widget", metadata: { name: "z" } });
  assert.deepEqual(
    [create.status, create.json["message"]],
    [500, 'conversion webhook for e.com/v2, Kind=Widget failed: an error on the server ("boom") has prevented the request from succeeding'],
  );

  webhook.answer = new Webhook().answer;
  webhook.change = only((object) => ({ ...object, metadata: { ...object.metadata, labels: { l: "1" }, generation: 8, finalizers: ["x/y"] }, unknown: 1 }));
  for (const [method, path] of [
    ["POST", widgets("v2")],
    ["PUT", `${widgets("v2")}/a`],
  ] as const) {
    const name = method === "PUT" ? "a" : "dry";
    const { resourceVersion = "" } =
      method === "PUT" ? ((await ask(cluster, "GET", `${widgets("v1")}/a`)).json["metadata"] as { resourceVersion: string }) : {};
    const dry = await ask(cluster, method, `${path}?dryRun=All`, {
      apiVersion: "e.com/v2",
      kind: "Widget",
      metadata: { name, ...(resourceVersion !== "" && { resourceVersion }) },
      spec: { dimensions: { size: 1 } },
    });
    const { labels, resourceVersion: told = "" } = dry.json["metadata"] as { labels?: object; resourceVersion?: string };
    assert.deepEqual([labels, told, dry.json["apiVersion"]], [{ l: "1" }, resourceVersion, "e.com/v2"], `a dry run of ${method} goes there and back`);
  }
  const { json } = await ask(cluster, "GET", `${widgets("v2")}/a`);
  const { labels, generation, finalizers } = json["metadata"] as { labels?: object; generation?: number; finalizers?: string[] };
  assert.deepEqual([labels, generation, finalizers, json["unknown"]], [{ l: "1" }, 1, undefined, undefined]);
});

test("conversion webhooks: one that hangs is given up after 30 s, and nothing waits for it but who asked", async () => {
  const webhook = new Webhook();
  await using cluster = await start(webhook);
  await ask(cluster, "POST", widgets("v1"), widget("a", 1));
  webhook.delayMs = 3_600_000;
  const pending = ask(cluster, "GET", `${widgets("v2")}/a`);
  await cluster.clock.advance(29_000, loopTurn);
  assert.equal((await ask(cluster, "GET", `${widgets("v1")}/a`)).status, 200);
  await cluster.clock.advance(2000, loopTurn);
  assert.match(
    String((await pending).json["message"]),
    /conversion webhook for e.com\/v1, Kind=Widget failed: Post "https:\/\/converter.e.com\/convert\?timeout=30s": context deadline exceeded$/,
  );
});

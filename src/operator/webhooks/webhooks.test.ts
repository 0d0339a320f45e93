import { deepEqual, equal, match, notEqual, ok, rejects } from "node:assert/strict";
import { request } from "node:https";
import { test } from "node:test";
import fc from "fast-check";
import { systemClock } from "../../base/clock.ts";
import { seededRandom, systemRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { applyJsonPatch } from "../../apimachinery/patch/json-patch.ts";
import type { JsonValue } from "../../apimachinery/json.ts";
import { resources } from "../../client/index.ts";
import { TestCluster } from "../../testing/index.ts";
import { defineResource } from "../definition/define-resource.ts";
import { schema } from "../definition/schema.ts";
import { webhooksAt } from "../running/serve-webhooks.ts";
import { issueCertificate, sharedCertificate } from "./certificates.ts";
import { definitionWith } from "./configurations.ts";
import { jsonDifference } from "./json-difference.ts";
import { answerReview } from "./review.ts";
import { mutating, validating } from "./webhook.ts";

const sizes = defineResource({
  group: "example.com",
  kind: "Size",
  version: "v2",
  spec: schema.object({ bytes: schema.integer() }),
  versions: [
    {
      name: "v1",
      spec: schema.object({ kilobytes: schema.integer() }),
      toStored: ({ spec, ...rest }) => ({ ...rest, spec: { bytes: Number(spec["kilobytes"]) * 1000 } }),
      fromStored: ({ spec, ...rest }) => ({ ...rest, spec: { kilobytes: Math.round(Number(spec["bytes"]) / 1000) } }),
    },
  ],
});

test("a difference leads from any value to any other", () => {
  fc.assert(
    fc.property(
      fc.object({ maxDepth: 3, values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)] }),
      fc.object({ maxDepth: 3, values: [fc.string(), fc.integer(), fc.constant(null)] }),
      (raw, rawAfter) => {
        const [before, after] = [raw, rawAfter].map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
        deepEqual(applyJsonPatch(before!, jsonDifference(before, after) as never), after);
      },
    ),
  );
});

test("differences are small: what did not change is not named, names are escaped", () => {
  deepEqual(jsonDifference({ a: { b: 1, c: [1] }, "x/y~z": 1 }, { a: { b: 2, c: [1] }, d: {} }), [
    { op: "remove", path: "/x~1y~0z" },
    { op: "add", path: "/d", value: {} },
    { op: "replace", path: "/a/b", value: 2 },
  ]);
});

const review = (path: string, request: object, parts: Partial<Parameters<typeof answerReview>[2]> = {}) => {
  const { status, body } = answerReview(
    path,
    JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: { uid: "u1", ...request } }),
    { webhooks: [], definitions: [], ...parts },
  );
  return status === 200 ? (JSON.parse(body) as { response: Record<string, unknown> }).response : { status, body };
};

test("admission: verdicts, patches, and a webhook that throws refuses", () => {
  const validate = validating({
    for: resources.configMaps,
    validate: ({ object, old }) => (old !== undefined && object.data?.["a"] !== old.data?.["a"] ? ["a cannot change", "really"] : { warnings: ["old"] }),
  });
  const mutate = mutating({ for: resources.configMaps, mutate: ({ object }) => ({ ...object, data: { ...object.data, added: "1" } }) });
  const failing = validating({
    for: resources.secrets,
    operations: ["DELETE"],
    validate: () => {
      throw new Error("out of order");
    },
  });
  const webhooks = [validate, mutate, failing];
  const object = { metadata: { name: "c" }, data: { a: "1" } };
  deepEqual(review(validate.path, { operation: "CREATE", object, userInfo: { username: "u" } }, { webhooks }), { uid: "u1", allowed: true, warnings: ["old"] });
  deepEqual(review(validate.path, { operation: "UPDATE", object, oldObject: { ...object, data: { a: "2" } } }, { webhooks }), {
    uid: "u1",
    allowed: false,
    status: { message: "a cannot change; really", reason: "Invalid", code: 422 },
  });
  const patched = review(mutate.path, { operation: "CREATE", object }, { webhooks }) as { patch: string };
  deepEqual(JSON.parse(Buffer.from(patched.patch, "base64").toString()), [{ op: "add", path: "/data/added", value: "1" }]);
  match(JSON.stringify(review(failing.path, { operation: "DELETE", object: null, oldObject: object }, { webhooks })), /the webhook failed: out of order/);
  deepEqual(review("/nowhere", {}, { webhooks }), { status: 404, body: "404 page not found\n" });
  deepEqual(answerReview("/x", "{", { webhooks, definitions: [] }), { status: 400, body: "the body is no review\n" });
});

test("conversion goes by way of the stored version, both ways, and keeps metadata and status", () => {
  const definitions = [sizes];
  const object = { apiVersion: "example.com/v1", kind: "Size", metadata: { name: "s", uid: "x" }, spec: { kilobytes: 2 }, status: { seen: true } };
  const up = review("/convert", { desiredAPIVersion: "example.com/v2", objects: [object] }, { definitions });
  const stored = { ...object, apiVersion: "example.com/v2", spec: { bytes: 2000 } };
  deepEqual(up, { uid: "u1", convertedObjects: [stored], result: { status: "Success" } });
  deepEqual(review("/convert", { desiredAPIVersion: "example.com/v1", objects: [stored] }, { definitions }), {
    uid: "u1",
    convertedObjects: [object],
    result: { status: "Success" },
  });
  deepEqual(review("/convert", { desiredAPIVersion: "example.com/v3", objects: [stored] }, { definitions }), {
    uid: "u1",
    convertedObjects: [],
    result: { status: "Failed", message: "Size has no version example.com/v3" },
  });
  const { spec } = definitionWith(sizes, (path) => ({ url: `https://host${path}` }));
  deepEqual(
    spec.versions?.map(({ name, storage }) => [name, storage]),
    [
      ["v2", true],
      ["v1", false],
    ],
  );
  equal(spec.conversion?.webhook?.clientConfig?.url, "https://host/convert");
});

test("replicas agree on one certificate, kept in a Secret, and made anew before it ends", async () => {
  await using cluster = await TestCluster.start();
  const { client, clock } = cluster;
  const secret = { namespace: "default", name: "op-webhooks" };
  const never = new AbortController().signal;
  const get = (seed: number, hosts = ["op.default.svc"]) => sharedCertificate(client, secret, { clock, random: seededRandom(seed), hosts }, never);
  const [one, two] = await Promise.all([get(1), get(2)]);
  equal(one.certificate, two.certificate);
  equal((await client.get(resources.secrets, "default", "op-webhooks")).type, "kubernetes.io/tls");
  equal((await get(3)).certificate, one.certificate);
  notEqual((await get(4, ["other.default.svc"])).certificate, one.certificate);
  const before = await get(5, ["other.default.svc"]);
  await cluster.advance(250 * 24 * 3_600_000);
  notEqual((await get(6, ["other.default.svc"])).certificate, before.certificate);
});

test("reviews over TLS: the authority told is the one that signed, and nothing but POST is answered", async () => {
  const clock = systemClock();
  const stopping = new AbortController();
  const told = Promise.withResolvers<{ url: string; caBundle: string }>();
  const serve = webhooksAt({ clock, random: systemRandom(), port: 0, reach: { kind: "host", host: "127.0.0.1" } });
  const served = serve(
    (path, body) => ({ status: 200, body: JSON.stringify({ path, length: body.length }) }),
    async (at) => told.resolve(at("/validating/x") as { url: string; caBundle: string }),
    stopping.signal,
  );
  const { url, caBundle } = await told.promise;
  const ask = (method: string, ca: string | undefined) =>
    new Promise<string>((resolve, reject) => {
      request(url, { method, ...(ca !== undefined && { ca }) }, (response) => {
        response.on("data", (chunk) => resolve(`${response.statusCode} ${chunk}`));
      })
        .on("error", reject)
        .end(method === "POST" ? "x".repeat(100_000) : undefined);
    });
  const ca = Buffer.from(caBundle, "base64").toString();
  equal(await ask("POST", ca), '200 {"path":"/validating/x","length":100000}');
  equal(await ask("GET", ca), "405 only POST is allowed\n");
  await rejects(ask("POST", undefined), /certificate|self.signed/);
  stopping.abort();
  await served;
});

test("a certificate names its hosts and lasts a year", async () => {
  const clock = new VirtualClock();
  const made = await issueCertificate({ clock, random: seededRandom(1), hosts: ["a.b.svc", "10.0.0.1"] });
  const { X509Certificate } = await import("node:crypto");
  const certificate = new X509Certificate(made.certificate);
  equal(certificate.subjectAltName, "DNS:a.b.svc, IP Address:10.0.0.1");
  ok(certificate.verify(new X509Certificate(made.authority).publicKey));
  equal(made.renewMs - clock.nowMs(), (365 * 24 * 3_600_000 * 2) / 3);
});

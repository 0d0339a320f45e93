import { test } from "node:test";
import { deepEqual, equal, match } from "node:assert/strict";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ask } from "../../testing/ask.ts";
import type { Answer } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";
const configMap = (metadata: object) => ({ kind: "ConfigMap", apiVersion: "v1", metadata });
const merge = { "content-type": "application/merge-patch+json" };
const objectOf = (answer: Answer) => answer.json as unknown as KubeObject;
const pod = (name: string, spec: object = {}) => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name },
  spec: { containers: [{ name: "c", image: "i" }], automountServiceAccountToken: false, ...spec },
});

/** The default service account, which pods need. */
async function withAccount(): Promise<TestCluster> {
  const cluster = await TestCluster.start();
  await ask(cluster, "POST", "/api/v1/namespaces/default/serviceaccounts", { kind: "ServiceAccount", apiVersion: "v1", metadata: { name: "default" } });
  return cluster;
}

test("delete: at once, with a Status that names what went", async () => {
  await using cluster = await TestCluster.start();
  const { uid } = objectOf(await ask(cluster, "POST", configMaps, configMap({ name: "a" }))).metadata;
  equal((await ask(cluster, "DELETE", `${configMaps}/a?dryRun=All`)).status, 200);
  const answer = await ask(cluster, "DELETE", `${configMaps}/a`);
  equal(answer.status, 200);
  deepEqual(answer.json, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details: { name: "a", kind: "configmaps", uid } });
  const again = await ask(cluster, "DELETE", `${configMaps}/a`);
  deepEqual([again.status, again.json["message"]], [404, 'configmaps "a" not found']);
});

test("delete: preconditions", async () => {
  await using cluster = await TestCluster.start();
  const { uid, resourceVersion } = objectOf(await ask(cluster, "POST", configMaps, configMap({ name: "a" }))).metadata;
  const table: [preconditions: object, status: number, message: RegExp][] = [
    [
      { uid: "other" },
      409,
      /the UID in the precondition \(other\) does not match the UID in record \(.*\)\. The object might have been deleted and then recreated$/,
    ],
    [{ resourceVersion: "1" }, 409, /ResourceVersion|resourceVersion/],
    [{ uid, resourceVersion: "1" }, 409, /ResourceVersion|resourceVersion/],
    [{ uid, resourceVersion }, 200, /^$/],
  ];
  for (const [preconditions, status, message] of table) {
    const answer = await ask(cluster, "DELETE", `${configMaps}/a`, { preconditions });
    equal(answer.status, status, answer.text);
    match((answer.json["message"] as string | undefined) ?? "", message);
  }
});

test("delete: finalizers hold an object until the last one goes", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", configMaps, configMap({ name: "a", finalizers: ["example.com/one", "example.com/two"] }));
  await cluster.advance(5000);
  const marked = await ask(cluster, "DELETE", `${configMaps}/a`);
  deepEqual(
    [marked.status, objectOf(marked).kind, objectOf(marked).metadata.deletionTimestamp, objectOf(marked).metadata.deletionGracePeriodSeconds],
    [200, "ConfigMap", "2026-01-01T00:00:05Z", 0],
  );
  await cluster.advance(5000);
  equal((await ask(cluster, "DELETE", `${configMaps}/a`)).text, marked.text);
  const added = await ask(cluster, "PATCH", `${configMaps}/a`, { metadata: { finalizers: ["example.com/one", "example.com/three"] } }, merge);
  equal(added.status, 422);
  match(added.json["message"] as string, /no new finalizers can be added if the object is being deleted/);
  equal((await ask(cluster, "PATCH", `${configMaps}/a`, { metadata: { finalizers: ["example.com/two"] } }, merge)).status, 200);
  equal((await ask(cluster, "PATCH", `${configMaps}/a`, { metadata: { finalizers: null } }, merge)).status, 200);
  equal((await ask(cluster, "GET", `${configMaps}/a`)).status, 404);
});

test("delete: propagation becomes the garbage collector's finalizers", async () => {
  await using cluster = await TestCluster.start();
  const table: [query: string, status: number, finalizers: string[] | undefined][] = [
    ["", 200, undefined],
    ["?propagationPolicy=Background", 200, undefined],
    ["?propagationPolicy=Foreground", 200, ["foregroundDeletion"]],
    ["?propagationPolicy=Orphan", 200, ["orphan"]],
    ["?orphanDependents=true", 200, ["orphan"]],
    ["?orphanDependents=false", 200, undefined],
  ];
  for (const [index, [query, status, finalizers]] of table.entries()) {
    await ask(cluster, "POST", configMaps, configMap({ name: `a${index}` }));
    const answer = await ask(cluster, "DELETE", `${configMaps}/a${index}${query}`);
    equal(answer.status, status, query);
    const left = await ask(cluster, "GET", `${configMaps}/a${index}`);
    deepEqual(left.status === 404 ? undefined : objectOf(left).metadata.finalizers, finalizers, query);
  }
  // The choice may be changed while the object is there.
  equal((await ask(cluster, "DELETE", `${configMaps}/a2?propagationPolicy=Background`)).status, 200);
  equal((await ask(cluster, "GET", `${configMaps}/a2`)).status, 404);
});

test("delete: pods get grace, which can be cut short but not prolonged", async () => {
  await using cluster = await withAccount();
  await ask(cluster, "POST", pods, pod("unscheduled"));
  equal((await ask(cluster, "DELETE", `${pods}/unscheduled`)).status, 200);
  equal((await ask(cluster, "GET", `${pods}/unscheduled`)).status, 404);
  await ask(cluster, "POST", pods, pod("web", { nodeName: "n" }));
  const seen: unknown[] = [];
  for (const query of ["", "?gracePeriodSeconds=60", "?gracePeriodSeconds=10", "?gracePeriodSeconds=20"]) {
    const { metadata } = objectOf(await ask(cluster, "DELETE", `${pods}/web${query}`));
    seen.push([metadata.deletionGracePeriodSeconds, metadata.deletionTimestamp]);
  }
  deepEqual(seen, [
    [30, "2026-01-01T00:00:30Z"],
    [30, "2026-01-01T00:00:30Z"],
    [10, "2026-01-01T00:00:10Z"],
    [10, "2026-01-01T00:00:10Z"],
  ]);
  equal((await ask(cluster, "DELETE", `${pods}/web?gracePeriodSeconds=0`)).status, 200);
  equal((await ask(cluster, "GET", `${pods}/web`)).status, 404);
});

test("delete: a collection, as far as it is selected", async () => {
  await using cluster = await TestCluster.start();
  for (const name of ["a", "b", "c"]) await ask(cluster, "POST", configMaps, configMap({ name, labels: { keep: name === "c" ? "yes" : "no" } }));
  const answer = await ask(cluster, "DELETE", `${configMaps}?labelSelector=keep%3Dno`);
  deepEqual([answer.status, (answer.json["items"] as unknown as KubeObject[]).map(({ metadata }) => metadata.name)], [200, ["a", "b"]]);
  const left = (await ask(cluster, "GET", configMaps)).json["items"] as unknown as KubeObject[];
  deepEqual(
    left.map(({ metadata }) => metadata.name),
    ["c"],
  );
});

test("delete: a collection of many goes whole, and a refusal is told", async () => {
  await using cluster = await TestCluster.start();
  const names = Array.from({ length: 200 }, (_, index) => `object-${String(index).padStart(3, "0")}`);
  for (const name of names) await ask(cluster, "POST", configMaps, configMap({ name }));
  const refused = await ask(cluster, "DELETE", configMaps, { preconditions: { uid: "other" } });
  deepEqual([refused.status, (refused.json["message"] as string).includes("the UID in the precondition (other)")], [409, true]);
  equal(((await ask(cluster, "GET", configMaps)).json["items"] as unknown[]).length, names.length);
  equal((await ask(cluster, "DELETE", configMaps)).status, 200);
  equal(((await ask(cluster, "GET", configMaps)).json["items"] as unknown[]).length, 0);
});

test("delete: of a collection nothing goes that comes after a refused one", async () => {
  await using cluster = await TestCluster.start();
  for (const name of ["a", "b", "c"]) await ask(cluster, "POST", configMaps, configMap({ name }));
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["DELETE"], resources: ["configmaps"] }];
  const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic";
  const policy = { matchConstraints: { resourceRules: rules }, validations: [{ expression: "oldObject.metadata.name != 'b'" }] };
  await ask(cluster, "POST", `${policies}ies`, { kind: "ValidatingAdmissionPolicy", metadata: { name: "keep" }, spec: policy });
  const binding = { policyName: "keep", validationActions: ["Deny"] };
  await ask(cluster, "POST", `${policies}ybindings`, { kind: "ValidatingAdmissionPolicyBinding", metadata: { name: "keep" }, spec: binding });
  await cluster.turn();
  equal((await ask(cluster, "DELETE", configMaps)).status, 422);
  const left = (await ask(cluster, "GET", configMaps)).json["items"] as unknown as KubeObject[];
  deepEqual(
    left.map(({ metadata }) => metadata.name),
    ["b", "c"],
  );
});

test("delete: of many at once one is told that it did it", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", configMaps, configMap({ name: "a" }));
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(cluster, "DELETE", `${configMaps}/a`)));
  deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 9 }, () => 404)]);
});

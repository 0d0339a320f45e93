import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../apimachinery/object.ts";
import { StatusError } from "../../apimachinery/status.ts";
import type { Client, ResourceType } from "../../client/index.ts";
import { TestCluster } from "../../testing/index.ts";

const core = (resource: string, kind: string, isNamespaced = true): ResourceType => ({ group: "", version: "v1", resource, kind, isNamespaced });
const namespaces = core("namespaces", "Namespace", false);
const nodes = core("nodes", "Node", false);
const pods = core("pods", "Pod");
const secrets = core("secrets", "Secret");
const configMaps = core("configmaps", "ConfigMap");
const quotas = core("resourcequotas", "ResourceQuota");
const accounts = core("serviceaccounts", "ServiceAccount");

test("a hundred requests at once against a quota of fifty leave fifty", async () => {
  await using cluster = await namespaced();
  const { client } = cluster;
  const hard = { "count/configmaps": "50" };
  const quota = await client.create(quotas, object("q", { spec: { hard } }));
  await client.updateStatus(quotas, { ...quota, status: { hard, used: { "count/configmaps": "0" } } });
  const results = await Promise.allSettled(Array.from({ length: 100 }, (_, index) => client.create(configMaps, object(`c${index}`))));
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 50);
  assert.deepEqual((await client.get(quotas, "ns", "q"))?.["status"], { hard, used: { "count/configmaps": "50" } });
});

test("pods get an account, its token and tolerations", async () => {
  await using cluster = await namespaced();
  assert.match(await refusal(cluster.client.create(pods, pod("a"))), /error looking up service account ns\/default: serviceaccount "default" not found/);
  await cluster.client.create(accounts, object("default"));
  const made = (await cluster.client.create(pods, pod("a"))) as unknown as {
    spec: { volumes: { name: string }[]; containers: { volumeMounts: { name: string }[] }[]; tolerations: object[]; priority: number };
  };
  assert.equal(made.spec.containers[0]!.volumeMounts[0]!.name, made.spec.volumes[0]!.name);
  assert.deepEqual([made.spec.tolerations.length, made.spec.priority], [2, 0]);
});

test("a node reads what its pods need, as long as they are there", async () => {
  await using cluster = await namespaced();
  const { client } = cluster;
  await client.create(accounts, object("default"));
  await client.create(secrets, object("s"));
  for (const name of ["n1", "n2"]) await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name } });
  const node = (name: string) => cluster.clientFor({ username: `system:node:${name}`, groups: ["system:nodes", "system:authenticated"] });
  const mayRead = (name: string) =>
    node(name)
      .get(secrets, "ns", "s")
      .then(
        () => true,
        () => false,
      );
  assert.equal(await mayRead("n1"), false);
  await client.create(pods, pod("p", { nodeName: "n1", volumes: [{ name: "v", secret: { secretName: "s" } }] }));
  assert.deepEqual([await mayRead("n1"), await mayRead("n2")], [true, false]);
  assert.match(await refusal(node("n2").delete(pods, "ns", "p")), /node "n2" can only delete pods with spec.nodeName set to itself/);
  await node("n1").delete(pods, "ns", "p", { gracePeriodSeconds: 0 });
  assert.equal(await mayRead("n1"), false);
});

test("nobody grants what they do not hold", async () => {
  await using cluster = await namespaced();
  const rbac = (resource: string, kind: string): ResourceType => ({ group: "rbac.authorization.k8s.io", version: "v1", resource, kind, isNamespaced: true });
  const roles = rbac("roles", "Role");
  const role = (name: string, verbs: string[]) => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name, namespace: "ns" },
    rules: [{ apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs }],
  });
  await cluster.client.create(roles, role("maker", ["create", "update"]));
  await cluster.client.create(rbac("rolebindings", "RoleBinding"), {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "maker", namespace: "ns" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "maker" },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "u" }],
  });
  const user = cluster.clientFor({ username: "u", groups: ["system:authenticated"] });
  await user.create(roles, role("same", ["create"]));
  assert.match(
    await refusal(user.create(roles, role("more", ["create", "delete"]))),
    /attempting to grant RBAC permissions not currently held:\n\{APIGroups:\["rbac.authorization.k8s.io"\], Resources:\["roles"\], Verbs:\["delete"\]\}$/,
  );
});

async function namespaced(): Promise<TestCluster> {
  const cluster = await TestCluster.start();
  await cluster.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "ns" } });
  return cluster;
}

function object(name: string, rest: object = {}): KubeObject {
  return { metadata: { name, namespace: "ns" }, ...rest };
}

function pod(name: string, spec: object = {}): KubeObject {
  return object(name, { spec: { containers: [{ name: "c", image: "i" }], ...spec } });
}

async function refusal(attempt: ReturnType<Client["create"]> | Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
  return "not refused";
}

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Deployment } from "../api/apps-v1/types.ts";
import { resources } from "../client/index.ts";
import { startCluster } from "../testing/index.ts";
import { child, condition, defineOperator, defineReconciler, defineResource, mutating, schema, validating, viewOf } from "./index.ts";
import type { Desired, ObjectOf, PlanInput } from "./index.ts";

const websites = defineResource({
  group: "example.com",
  kind: "Website",
  shortNames: ["site"],
  spec: schema.object({
    image: schema.text().default("nginx:1.29"),
    replicas: schema.integer({ minimum: 0, maximum: 5 }).default(1),
    domain: schema.text().immutable("the domain cannot be changed"),
    isPublic: schema.boolean().optional(),
  }),
  status: schema.object({ ready: schema.integer().optional(), url: schema.text().optional() }),
  columns: [{ name: "Ready", path: ".status.ready", type: "integer" }],
});
type Website = ObjectOf<typeof websites>;

function planWebsite({ object, child: childOf }: PlanInput<Website>): Desired<Website> {
  const { image, replicas, domain, isPublic } = object.spec;
  const name = object.metadata.name ?? "";
  const labels = { website: name };
  const ready = childOf(resources.deployments, name)?.status?.readyReplicas ?? 0;
  return {
    children: [
      child(resources.deployments, {
        metadata: { name },
        spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: "web", image }] } } },
      }),
      ...(isPublic === true ? [child(resources.services, { metadata: { name }, spec: { selector: labels, ports: [{ port: 80 }] } })] : []),
    ],
    status: { ready, url: `https://${domain}` },
    conditions: [condition("Ready", ready >= replicas, ready >= replicas ? "AllReady" : "Starting", `${ready} of ${replicas} are ready`)],
    events: ready >= replicas ? [{ type: "Normal", reason: "Ready", message: `${domain} is served` }] : [],
    reasons: [`${ready} of ${replicas} ready`],
  };
}

const cleaned: string[] = [];
const operator = (parts: { isClean?: () => boolean } = {}) =>
  defineOperator({
    name: "website-operator",
    definitions: [websites],
    reconcilers: [
      defineReconciler({
        for: websites,
        owns: [resources.deployments, resources.services],
        plan: planWebsite,
        ...(parts.isClean !== undefined && {
          finalize: ({ object }) => {
            cleaned.push(object.metadata.name ?? "");
            return { isDone: parts.isClean!(), requeueAfterMs: 30_000 };
          },
        }),
      }),
    ],
    webhooks: [
      mutating({ for: websites, mutate: ({ object }) => ({ ...object, spec: { ...object.spec, domain: object.spec.domain.toLowerCase() } }) }),
      validating({
        for: websites,
        validate: ({ object }) => ({
          refusals: object.spec.domain.endsWith(".test") ? [] : [`spec.domain: ${object.spec.domain} is not ours`],
          warnings: object.spec.replicas === 0 ? ["nobody serves it"] : [],
        }),
      }),
    ],
  });

const website = (name: string, spec: Partial<Website["spec"]> = {}) => websites.object({ name, namespace: "default" }, { domain: `${name}.test`, ...spec });

test("children are made, changed, pruned; status follows with conditions and the generation it speaks of", async () => {
  await using cluster = await startCluster();
  await cluster.run(operator());
  await cluster.apply(website("a", { replicas: 2, isPublic: true }));
  await cluster.settled();
  const { status, metadata } = await cluster.client.get(websites, "default", "a");
  deepEqual(
    { ...status, conditions: status?.conditions?.map(({ lastTransitionTime: _time, ...rest }) => rest) },
    {
      ready: 2,
      url: "https://a.test",
      observedGeneration: 1,
      conditions: [{ type: "Ready", status: "True", observedGeneration: 1, reason: "AllReady", message: "2 of 2 are ready" }],
    },
  );
  const deployment = await cluster.client.get(resources.deployments, "default", "a");
  deepEqual(deployment.metadata.ownerReferences, [
    { apiVersion: "example.com/v1", kind: "Website", name: "a", uid: metadata.uid, controller: true, blockOwnerDeletion: true },
  ]);
  equal(
    (await cluster.client.list(resources.services, "default")).items.some((service) => service.metadata.name === "a"),
    true,
  );
  ok((await cluster.events("default")).some(({ reason, message, count }) => reason === "Ready" && message === "a.test is served" && count === 1));

  await cluster.client.patch(websites, "default", "a", { type: "merge", body: { spec: { replicas: 1, isPublic: null } } });
  await cluster.settled();
  equal((await cluster.client.get(resources.deployments, "default", "a")).spec?.replicas, 1);
  await rejects(cluster.client.get(resources.services, "default", "a"), /not found/);
  equal((await cluster.client.get(websites, "default", "a")).status?.observedGeneration, 2);

  await cluster.client.delete(websites, "default", "a");
  await cluster.settled();
  await rejects(cluster.client.get(resources.deployments, "default", "a"), /not found/);
});

test("what somebody else changes in a child comes back; what the plan does not name stays", async () => {
  await using cluster = await startCluster();
  await cluster.run(operator());
  await cluster.apply(website("a"));
  await cluster.settled();
  await cluster.client.patch(resources.deployments, "default", "a", {
    type: "merge",
    body: { metadata: { labels: { team: "x" } }, spec: { replicas: 4, minReadySeconds: 3 } },
  });
  await cluster.settled();
  const { spec, metadata } = await cluster.client.get(resources.deployments, "default", "a");
  deepEqual([spec?.replicas, spec?.minReadySeconds, metadata.labels?.["team"]], [1, 3, "x"]);
});

test("a settled object costs no write, nor does a new start of the operator change anything", async () => {
  await using cluster = await startCluster();
  await cluster.run(operator());
  await cluster.apply(website("a"), website("b"));
  await cluster.settled();
  const before = (await cluster.client.list(websites, "default")).items.map(({ metadata }) => metadata.resourceVersion);
  await cluster.stop("website-operator");
  await cluster.run(operator());
  await cluster.advance("1h");
  deepEqual(
    (await cluster.client.list(websites, "default")).items.map(({ metadata }) => metadata.resourceVersion),
    before,
  );
  const atMs = cluster.clock.nowMs();
  await cluster.client.patch(websites, "default", "a", { type: "merge", body: { metadata: { annotations: { note: "x" } } } });
  await cluster.settled();
  deepEqual(
    cluster.writes().filter((write) => write.by === "website-operator" && write.atMs >= atMs),
    [],
  );
});

test("a child's name that is taken is told, not taken over", async () => {
  await using cluster = await startCluster();
  const foreign: Deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a" },
    spec: {
      replicas: 0,
      selector: { matchLabels: { x: "y" } },
      template: { metadata: { labels: { x: "y" } }, spec: { containers: [{ name: "c", image: "i" }] } },
    },
  };
  await cluster.apply(foreign);
  await cluster.run(operator());
  await cluster.apply(website("a"));
  await cluster.advance("5s");
  const told = (await cluster.events("default")).find(({ reason }) => reason === "ReconcileFailed");
  match(told?.message ?? "", /^Deployment default\/a exists and is not a child of Website default\/a: /);
  equal((await cluster.client.get(resources.deployments, "default", "a")).metadata.ownerReferences, undefined);
});

test("the finalizer keeps the object until the cleaning is done, over restarts of the operator", async () => {
  await using cluster = await startCluster();
  let isClean = false;
  cleaned.length = 0;
  await cluster.run(operator({ isClean: () => isClean }));
  await cluster.apply(website("a"));
  await cluster.settled();
  deepEqual((await cluster.client.get(websites, "default", "a")).metadata.finalizers, ["website-operator.example.com/cleanup"]);
  await cluster.client.delete(websites, "default", "a");
  await cluster.advance("1m");
  ok(cleaned.length >= 2);
  await cluster.stop("website-operator");
  isClean = true;
  await cluster.advance("1m");
  equal((await cluster.client.list(websites, "default")).items.length, 1);
  await cluster.run(operator({ isClean: () => isClean }));
  await cluster.settled();
  equal((await cluster.client.list(websites, "default")).items.length, 0);
});

test("the schema is enforced: defaults, limits, rules; the webhooks mutate, refuse and warn", async () => {
  await using cluster = await startCluster({ nodes: 1 });
  await cluster.run(operator());
  const [made] = (await cluster.apply(website("a", { domain: "A.Test" }))) as Website[];
  deepEqual(made?.spec, { image: "nginx:1.29", replicas: 1, domain: "a.test" });
  await rejects(cluster.apply(website("b", { replicas: 9 })), /spec\.replicas: Invalid value: 9: .*less than or equal to 5/);
  await rejects(cluster.apply(website("a", { domain: "other.test" })), /the domain cannot be changed/);
  await rejects(
    cluster.apply(website("b", { domain: "b.example.org" })),
    /admission webhook "validating\.websites\.example\.com\.website-operator\.operator" denied the request: spec\.domain: b\.example\.org is not ours/,
  );
  await cluster.stop("website-operator");
  await rejects(cluster.apply(website("b")), /failed calling webhook .* no such host/);
});

test("a resource in two versions: each is read and written in either, stored in one", async () => {
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
        fromStored: ({ spec, ...rest }) => ({ ...rest, spec: { kilobytes: Number(spec["bytes"]) / 1000 } }),
      },
    ],
  });
  await using cluster = await startCluster({ nodes: 0 });
  await cluster.run(defineOperator({ name: "sizes", definitions: [sizes] }));
  await cluster.apply({ apiVersion: "example.com/v1", kind: "Size", metadata: { name: "s" }, spec: { kilobytes: 5 } });
  deepEqual((await cluster.client.get(sizes, "default", "s")).spec, { bytes: 5000 });
  await cluster.client.patch(sizes, "default", "s", { type: "merge", body: { spec: { bytes: 7000 } } });
  const old = await cluster.client.get({ ...sizes, version: "v1" }, "default", "s");
  deepEqual(old.spec as unknown, { kilobytes: 7 });
});

test("the plan is a function: the same test without a cluster", () => {
  const object: Website = { ...website("a"), metadata: { name: "a", namespace: "default", uid: "u" }, spec: { domain: "a.test", image: "nginx", replicas: 2 } };
  const deployment: Deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a", ownerReferences: [{ apiVersion: "example.com/v1", kind: "Website", name: "a", uid: "u", controller: true }] },
    status: { readyReplicas: 1 },
  };
  const desired = planWebsite({ object, observed: undefined, nowMs: 0, ...viewOf(object, [deployment]) });
  deepEqual(desired.conditions, [{ type: "Ready", status: "False", reason: "Starting", message: "1 of 2 are ready" }]);
  equal(desired.children?.length, 1);
});

test("manifests: definition, rights, Service and Deployment, as kubectl takes them", async () => {
  await using cluster = await startCluster({ nodes: 0 });
  const yaml = operator().yaml({ image: "registry.example.com/website-operator:1", replicas: 2 });
  const objects = await cluster.apply(yaml);
  deepEqual(
    objects.map(({ kind }) => kind),
    ["CustomResourceDefinition", "Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "Deployment"],
  );
  deepEqual(
    operator()
      .manifests()
      .find(({ kind }) => kind === "ClusterRole")?.["rules"],
    [
      { apiGroups: ["example.com"], resources: ["websites"], verbs: ["get", "list", "watch", "patch"] },
      { apiGroups: ["example.com"], resources: ["websites/status"], verbs: ["patch"] },
      { apiGroups: ["example.com"], resources: ["websites/finalizers"], verbs: ["update"] },
      { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
      { apiGroups: [""], resources: ["services"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
      { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
      { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: ["create"] },
      {
        apiGroups: ["apiextensions.k8s.io"],
        resources: ["customresourcedefinitions"],
        resourceNames: ["websites.example.com"],
        verbs: ["get", "list", "watch", "patch"],
      },
      { apiGroups: ["admissionregistration.k8s.io"], resources: ["validatingwebhookconfigurations"], verbs: ["create"] },
      {
        apiGroups: ["admissionregistration.k8s.io"],
        resources: ["validatingwebhookconfigurations"],
        resourceNames: ["website-operator"],
        verbs: ["get", "patch"],
      },
      { apiGroups: ["admissionregistration.k8s.io"], resources: ["mutatingwebhookconfigurations"], verbs: ["create"] },
      {
        apiGroups: ["admissionregistration.k8s.io"],
        resources: ["mutatingwebhookconfigurations"],
        resourceNames: ["website-operator"],
        verbs: ["get", "patch"],
      },
    ],
  );
});

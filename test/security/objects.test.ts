/** Classes of past mistakes in what is let into the store: one test for each. docs/security.md tells which guard each one watches. */
import { test } from "node:test";
import { equal, match, notEqual } from "node:assert/strict";
import { ask } from "../../src/testing/ask.ts";
import { TestCluster } from "../../src/testing/cluster.ts";
import { as, core, merge, message, pod } from "./asking.ts";

test("security: admission sees the object as it was, whatever changes it", async () => {
  const reviews: { operation: string; subResource?: string; oldObject: { metadata?: { name?: string } } | null; object: unknown }[] = [];
  await using cluster = await TestCluster.start({
    webhooks: {
      post: (_target, body) => {
        const { request } = JSON.parse(Buffer.from(body).toString()) as { request: (typeof reviews)[number] & { uid: string } };
        reviews.push(request);
        return Promise.resolve({
          status: 200,
          headers: { "content-type": "application/json" },
          body: Buffer.from(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid: request.uid, allowed: true } })),
        });
      },
    },
  });
  const rules = [{ apiGroups: ["apps", ""], apiVersions: ["v1"], operations: ["*"], resources: ["deployments", "deployments/*"] }];
  const made = await ask(cluster, "POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
    metadata: { name: "all" },
    webhooks: [
      {
        name: "all.example.com",
        rules,
        clientConfig: { url: "https://example.com" },
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        failurePolicy: "Fail",
      },
    ],
  });
  equal(made.status, 201, made.text);
  const deployments = "/apis/apps/v1/namespaces/default/deployments";
  const spec = { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } } };
  await cluster.turn();
  const created = await ask(cluster, "POST", deployments, { metadata: { name: "d" }, spec });
  equal(created.status, 201, created.text);
  const put = { ...created.json, metadata: { ...(created.json["metadata"] as object), labels: { x: "y" } } };
  equal((await ask(cluster, "PUT", `${deployments}/d`, put)).status, 200);
  for (const [type, body] of [
    ["application/merge-patch+json", { metadata: { labels: { x: "z" } } }],
    ["application/strategic-merge-patch+json", { metadata: { labels: { x: "1" } } }],
    ["application/json-patch+json", [{ op: "add", path: "/metadata/labels/x", value: "2" }]],
  ] as const) {
    equal((await ask(cluster, "PATCH", `${deployments}/d`, body, { "content-type": type })).status, 200);
  }
  equal(
    (
      await ask(
        cluster,
        "PATCH",
        `${deployments}/d?fieldManager=m&force=true`,
        { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d", labels: { x: "3" } } },
        { "content-type": "application/apply-patch+yaml" },
      )
    ).status,
    200,
  );
  equal((await ask(cluster, "PATCH", `${deployments}/d/status`, { status: { replicas: 1 } }, merge)).status, 200);
  equal((await ask(cluster, "PATCH", `${deployments}/d/scale`, { spec: { replicas: 2 } }, merge)).status, 200);
  equal((await ask(cluster, "DELETE", `${deployments}/d`)).status, 200);
  equal(reviews.length, 9);
  for (const { operation, oldObject, subResource } of reviews)
    equal(
      oldObject === null || oldObject === undefined ? undefined : oldObject.metadata?.name,
      operation === "CREATE" ? undefined : "d",
      `${operation} ${subResource ?? ""}`,
    );
  await cluster.turn();
});

test("security: who may only change objects makes none", async () => {
  await using cluster = await TestCluster.start();
  const rules = [{ apiGroups: ["", "coordination.k8s.io"], resources: ["leases", "configmaps", "endpoints", "events"], verbs: ["update", "patch"] }];
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  equal((await ask(cluster, "POST", `${rbac}/clusterroles`, { metadata: { name: "changers" }, rules })).status, 201);
  const binding = {
    metadata: { name: "changers" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "changers" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "changer" }],
  };
  equal((await ask(cluster, "POST", `${rbac}/clusterrolebindings`, binding)).status, 201);
  const changer = as(cluster, "changer");
  const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const apply = { "content-type": "application/apply-patch+yaml" };
  const event = { metadata: { name: "e", namespace: "default" }, involvedObject: { namespace: "default" } };
  const makings: [method: string, path: string, body: object, headers?: Record<string, string>][] = [
    ["PUT", `${leases}/l`, { metadata: { name: "l" }, spec: {} }],
    ["PUT", `${core}/endpoints/e`, { metadata: { name: "e" } }],
    ["PUT", `${core}/events/e`, event],
    ["PATCH", `${core}/configmaps/c?fieldManager=m`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } }, apply],
    ["PATCH", `${leases}/m?fieldManager=m`, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "m" } }, apply],
  ];
  for (const [method, path, body, headers] of makings) {
    const refused = await ask(changer, method, path, body, headers);
    equal(refused.status, 403, `${method} ${path}`);
    match(message(refused), /is forbidden: User "changer" cannot create resource "(leases|endpoints|events|configmaps)" in API group/);
    equal((await ask(cluster, method, path, body, headers)).status, 201);
    notEqual((await ask(changer, method, path, body, headers)).status, 403, "what is there may be changed");
  }
});

test("security: no container is forgotten", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", "/api/v1/namespaces", { metadata: { name: "strict", labels: { "pod-security.kubernetes.io/enforce": "baseline" } } });
  await ask(cluster, "POST", "/api/v1/namespaces/strict/serviceaccounts", { metadata: { name: "default" } });
  const bad = { name: "bad", image: "i", securityContext: { privileged: true } };
  const good = { name: "good", image: "i" };
  for (const spec of [
    { containers: [good, bad] },
    { containers: [good], initContainers: [bad] },
    { containers: [good], initContainers: [{ ...bad, restartPolicy: "Always" }] },
  ]) {
    equal((await ask(cluster, "POST", "/api/v1/namespaces/strict/pods", pod("p", spec))).status, 403, JSON.stringify(spec));
  }
  equal((await ask(cluster, "POST", "/api/v1/namespaces/strict/pods", pod("ok", { containers: [good] }))).status, 201);
  const debug = await ask(
    cluster,
    "PATCH",
    "/api/v1/namespaces/strict/pods/ok/ephemeralcontainers",
    { spec: { ephemeralContainers: [bad] } },
    { "content-type": "application/strategic-merge-patch+json" },
  );
  equal(debug.status, 403, debug.text);
});

test("security: a node changes only what is its own", async () => {
  await using cluster = await TestCluster.start();
  const node = as(cluster, "system:node:n1", ["system:nodes"]);
  for (const name of ["n1", "n2"]) await ask(cluster, "POST", "/api/v1/nodes", { metadata: { name } });
  await ask(cluster, "POST", `${core}/serviceaccounts`, { metadata: { name: "default" } });
  const changes: [say: string, path: string, change: object][] = [
    ["another node", "/api/v1/nodes/n2", { metadata: { annotations: { a: "b" } } }],
    ["a label that isolates", "/api/v1/nodes/n1", { metadata: { labels: { "node-restriction.kubernetes.io/x": "y" } } }],
    ["its taints", "/api/v1/nodes/n1", { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }],
    ["its owners", "/api/v1/nodes/n1", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n2", uid: "u" }] } }],
  ];
  for (const [say, path, change] of changes) equal((await ask(node, "PATCH", path, change, merge)).status, 403, say);
  const mirror = (metadata: object, spec: object = {}) =>
    pod("mirror-n1", { nodeName: "n1", ...spec }, { annotations: { "kubernetes.io/config.mirror": "x" }, ...metadata });
  const { uid } = (await ask(cluster, "GET", "/api/v1/nodes/n1")).json["metadata"] as { uid: string };
  const owner = { apiVersion: "v1", kind: "Node", name: "n1", uid, controller: true };
  const pods: [say: string, object: object][] = [
    ["a pod that is no mirror", pod("p", { nodeName: "n1" })],
    ["a mirror of another node", mirror({ ownerReferences: [owner] }, { nodeName: "n2" })],
    ["a mirror owned by something else", mirror({ ownerReferences: [{ ...owner, kind: "Pod" }] })],
    ["a mirror owned by another node", mirror({ ownerReferences: [{ ...owner, name: "n2" }] })],
    ["a mirror of two owners", mirror({ ownerReferences: [owner, { apiVersion: "v1", kind: "Secret", name: "s", uid: "u" }] })],
    ["a mirror that names a secret", mirror({ ownerReferences: [owner] }, { volumes: [{ name: "v", secret: { secretName: "s" } }] })],
    ["a mirror with an account", mirror({ ownerReferences: [owner] }, { serviceAccountName: "default" })],
  ];
  for (const [say, object] of pods) equal((await ask(node, "POST", `${core}/pods`, object)).status, 403, say);
});

test("security: a seccomp profile is named, and leads to no other file", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", `${core}/serviceaccounts`, { metadata: { name: "default" } });
  for (const seccompProfile of [{ type: "Localhost" }, { type: "Localhost", localhostProfile: "../x" }, { type: "" }]) {
    for (const spec of [{ securityContext: { seccompProfile } }, { containers: [{ name: "c", image: "i", securityContext: { seccompProfile } }] }]) {
      equal((await ask(cluster, "POST", `${core}/pods`, pod("p", spec))).status, 422, JSON.stringify(spec));
    }
  }
});

test("security: endpoints lead neither to the node itself nor to its link", async () => {
  await using cluster = await TestCluster.start();
  for (const ip of ["127.0.0.1", "169.254.169.254", "::1", "fe80::1", "0.0.0.0"]) {
    const endpoints = await ask(cluster, "POST", `${core}/endpoints`, { metadata: { name: "e" }, subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] });
    equal(endpoints.status, 422, ip);
    const slice = await ask(cluster, "POST", `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices`, {
      metadata: { name: "e" },
      addressType: ip.includes(":") ? "IPv6" : "IPv4",
      endpoints: [{ addresses: [ip] }],
      ports: [],
    });
    equal(slice.status, 422, ip);
    const service = await ask(cluster, "POST", `${core}/services`, { metadata: { name: "s" }, spec: { ports: [{ port: 80 }], externalIPs: [ip] } });
    equal(service.status, 422, ip);
  }
  match(
    message(await ask(cluster, "POST", `${core}/services`, { metadata: { name: "s" }, spec: { ports: [{ port: 80 }], externalIPs: ["127.0.0.1"] } })),
    /loopback/,
  );
});

test("security: nothing that a pod says breaks out of its line in hosts, resolv.conf or a rule", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", `${core}/serviceaccounts`, { metadata: { name: "default" } });
  const evil = ["a\n127.0.0.1 evil", 'a"b', "a}b", "a b", "a;b"];
  for (const text of evil) {
    for (const spec of [
      { hostAliases: [{ ip: "10.0.0.1", hostnames: [text] }] },
      { hostAliases: [{ ip: text, hostnames: ["a"] }] },
      { hostname: text },
      { subdomain: text },
      { dnsPolicy: "None", dnsConfig: { nameservers: [text] } },
      { dnsPolicy: "None", dnsConfig: { nameservers: ["10.0.0.1"], searches: [text] } },
    ]) {
      equal((await ask(cluster, "POST", `${core}/pods`, pod("p", spec))).status, 422, JSON.stringify(spec));
    }
    for (const spec of [
      { ports: [{ port: 80, name: text }] },
      { ports: [{ port: 80 }], clusterIP: text },
      { ports: [{ port: 80 }], externalIPs: [text] },
      { ports: [{ port: 80 }], type: "LoadBalancer", loadBalancerSourceRanges: [text] },
    ]) {
      equal((await ask(cluster, "POST", `${core}/services`, { metadata: { name: "s" }, spec })).status, 422, JSON.stringify(spec));
    }
    equal((await ask(cluster, "POST", `${core}/services`, { metadata: { name: text }, spec: { ports: [{ port: 80 }] } })).status, 422, text);
  }
});

import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { silentLog } from "../../base/log.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { resources } from "../../client/index.ts";
import { runControllers } from "../../controllers/index.ts";
import { runApprover } from "../../joining/index.ts";
import { TestCluster } from "../../testing/index.ts";
import { quotaRules } from "../components/apiserver/quota-rules.ts";
import { Certificates } from "../certificates/certificates.ts";
import { keysInMemory, readPair } from "../certificates/key-store.ts";
import { tellNodes } from "./joined-authority.ts";
import { settingsName } from "./prepare-joining.ts";
import { nodeCertificates, renewNodeCertificates } from "./node-certificates.ts";

const dayMs = 86_400_000;
const name = "n1";
const address = "192.0.2.7";
const node = { username: `system:node:${name}`, groups: ["system:nodes", "system:authenticated"] };
const binding = {
  kind: "ClusterRoleBinding",
  apiVersion: "rbac.authorization.k8s.io/v1",
  metadata: { name: "coracle:renew-node" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient" },
  subjects: [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "system:nodes" }],
};

test("a node renews its certificates as itself before they end, and keeps the old ones until the new are there", async () => {
  const nowMs = new VirtualClock().nowMs();
  const [own, store] = [keysInMemory(), keysInMemory()];
  await new Certificates(own, new VirtualClock(nowMs - 300 * dayMs)).handOut(store, { name, hosts: [name, address] });
  await using cluster = await TestCluster.start({ startMs: nowMs });
  await cluster.client.create(resources.clusterRoleBindings, binding);
  const certificates = nodeCertificates(name, address);
  const kept = () => Promise.all(certificates.map(async ({ file }) => (await readPair(store, file))!.certificate));
  const before = await kept();
  let warnings = 0;
  const log = { ...silentLog, warn: (message: string) => void (message === "Could not renew a certificate" && warnings++) };
  cluster.startComponent("node", ({ signal, clock, transportFor }) =>
    renewNodeCertificates(certificates, { store, clock, log, transport: transportFor(node) }, signal),
  );

  // Nobody signs.
  await cluster.until(() => warnings === certificates.length, 30 * dayMs);
  deepEqual(await kept(), before);

  const authority = new Certificates(own, cluster.clock);
  const [caBundle, signer] = [await authority.authority(), await authority.signer()];
  cluster.startComponent("controllers", (context) =>
    runControllers({
      ...context,
      caBundle,
      signer,
      quotaRules,
      flags: new Map(),
      selection: ["certificatesigningrequest-approving-controller", "certificatesigningrequest-signing-controller"],
    }),
  );
  cluster.startComponent("approver", ({ signal, transportFor, ...context }) =>
    runApprover({ ...context, transport: transportFor({ username: "approver", groups: ["system:masters"] }) }, signal),
  );
  const isRenewed = async () => (await kept()).every((certificate, index) => certificate !== before[index]);
  await cluster.until(isRenewed, 30 * dayMs);
  for (const [index, pem] of (await kept()).entries()) {
    const [renewed, old] = [new X509Certificate(pem), new X509Certificate(before[index]!)];
    ok(renewed.verify(new X509Certificate(caBundle).publicKey));
    ok(renewed.validToDate.getTime() > old.validToDate.getTime() + 200 * dayMs);
    if (index !== 1) equal(renewed.subject, old.subject);
    else equal(renewed.subjectAltName, `DNS:${name}, IP Address:${address}`);
  }
  const after = await kept();
  await cluster.advance(dayMs / 2);
  deepEqual(await kept(), after);
});

test("a node keeps the authorities that the cluster tells, for those who join and those who have", async () => {
  const store = keysInMemory();
  await using cluster = await TestCluster.start();
  const certificates = new Certificates(keysInMemory(), cluster.clock);
  await certificates.handOut(store, { name, hosts: [name, address] });
  const [first, other] = [await certificates.authority(), await new Certificates(keysInMemory(), cluster.clock).authority()];
  await tellNodes(cluster.client, first);
  const info = { server: "https://192.0.2.1:6443", "certificate-authority-data": Buffer.from(first).toString("base64") };
  const kubeconfig = JSON.stringify({ clusters: [{ name: "", cluster: info }] });
  await cluster.client.create(resources.configMaps, { metadata: { namespace: "kube-public", name: "cluster-info" }, data: { kubeconfig } });
  await cluster.client.create(resources.configMaps, { metadata: { namespace: "kube-system", name: settingsName }, data: { settings: "{}" } });
  const namespaced = { namespace: "kube-system", name: "reading" };
  const rules = [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [settingsName], verbs: ["get"] }];
  const apiGroup = "rbac.authorization.k8s.io";
  await cluster.client.create(resources.roles, { metadata: namespaced, rules });
  const subjects = [{ kind: "Group", apiGroup, name: "system:nodes" }];
  await cluster.client.create(resources.roleBindings, { metadata: namespaced, subjects, roleRef: { apiGroup, kind: "Role", name: "reading" } });
  await tellNodes(cluster.client, `${first}\n${other}`);
  const told = await cluster.client.get(resources.configMaps, "kube-public", "cluster-info");
  ok(told.data!["kubeconfig"]!.includes(Buffer.from(`${first}\n${other}`).toString("base64")));
  ok(told.data!["kubeconfig"]!.includes("https://192.0.2.1:6443"));
  cluster.startComponent("node", ({ signal, clock, transportFor }) =>
    renewNodeCertificates(nodeCertificates(name, address), { store, clock, log: silentLog, transport: transportFor(node) }, signal),
  );
  await cluster.until(async () => (await store.read("ca.crt")) === `${first}\n${other}`);
});

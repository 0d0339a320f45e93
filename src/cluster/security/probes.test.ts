import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { listenTls } from "../../apimachinery/listener/tls-listener.ts";
import type { TlsProtocol } from "../../apimachinery/listener/tls-listener.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import { resources } from "../../client/index.ts";
import { TestCluster } from "../../testing/index.ts";
import { Certificates } from "../certificates/certificates.ts";
import { keysInMemory } from "../certificates/key-store.ts";
import { answersStrangers, meet, rightsOf } from "./probes.ts";

test("probes: what a server takes of TLS, and whether it answers strangers", async () => {
  await using stack = new AsyncDisposableStack();
  const serving = await new Certificates(keysInMemory(), systemClock()).serving("s", ["127.0.0.1"]);
  const server = async (status: number, protocol: TlsProtocol) => {
    const handler = async () => bytesResponse(status, "text/plain", "");
    const { port } = stack.adopt(await listenTls({ address: "127.0.0.1", port: 0, ...serving, protocol, handler, log: silentLog, maxBodyBytes: 0 }), (opened) =>
      opened.close(),
    );
    return { name: "s", host: "127.0.0.1", port };
  };
  const [strong, weak] = [await server(401, {}), await server(200, { minVersion: "TLSv1", ciphers: "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0" })];
  deepEqual(await meet(strong), { name: "s", takesOldVersion: false, weakSuite: undefined });
  deepEqual(await meet(weak), { name: "s", takesOldVersion: true, weakSuite: "ECDHE-ECDSA-AES128-SHA" });
  equal(await answersStrangers(strong), false);
  equal(await answersStrangers(weak), true);
});

test("probes: rights that somebody gave to everybody are found", async () => {
  await using cluster = await TestCluster.start();
  const ask = () =>
    Promise.all([rightsOf(cluster.client, "system:anonymous", ["system:unauthenticated"]), rightsOf(cluster.client, "nobody", ["system:authenticated"])]);
  deepEqual(await ask(), [[], []]);
  const bind = (role: string, kind: string, name: string) =>
    cluster.client.create(resources.clusterRoleBindings, {
      kind: "ClusterRoleBinding",
      apiVersion: "rbac.authorization.k8s.io/v1",
      metadata: { name: `${role}-${name}` },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects: [{ kind, apiGroup: "rbac.authorization.k8s.io", name }],
    });
  await bind("cluster-admin", "User", "system:anonymous");
  await bind("system:monitoring", "Group", "system:authenticated");
  await cluster.turn();
  const [anonymous, user] = await ask();
  deepEqual(user, ["get /metrics"]);
  deepEqual(anonymous, [
    "list secrets",
    "create pods",
    "create pods/exec",
    "get nodes/proxy",
    "update clusterroles",
    "impersonate users",
    "get /metrics",
    "get /debug/pprof/",
    "get /logs",
  ]);
});

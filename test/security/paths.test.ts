/** Paths, queries and headers that are read in two ways: what is authorized is what is done. */
import { test } from "node:test";
import { equal, ok } from "node:assert/strict";
import type { UserInfo } from "../../src/apimachinery/request.ts";
import { ask } from "../../src/testing/ask.ts";
import { TestCluster } from "../../src/testing/cluster.ts";
import { core } from "./asking.ts";

const secret = Buffer.from("nobody's business").toString("base64");

async function start(rules: readonly object[]) {
  const cluster = await TestCluster.start();
  for (const name of ["a", "b"]) await ask(cluster, "POST", `${core}/secrets`, { metadata: { name }, data: { [name]: secret } });
  await ask(cluster, "POST", `${core}/configmaps`, { metadata: { name: "cm" } });
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  await ask(cluster, "POST", `${rbac}/clusterroles`, { metadata: { name: "some" }, rules });
  await ask(cluster, "POST", `${rbac}/clusterrolebindings`, {
    metadata: { name: "some" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "some" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "somebody" }],
  });
  const identity: UserInfo = { username: "somebody", groups: ["system:authenticated"] };
  const send = async (method: string, target: string, headers: Record<string, string> = {}) => {
    const [path = "", query = ""] = target.split("?");
    const peer = { address: "192.0.2.1", isHttp2: false, identity };
    const { status, body } = await cluster.handle({ method, path, query, headers, body: new Uint8Array(), peer, signal: new AbortController().signal });
    return { status, text: body.kind === "bytes" ? Buffer.from(body.bytes).toString() : "" };
  };
  return { cluster, send };
}

test("security: no spelling of a path leads past what is allowed", async () => {
  const { cluster, send } = await start([
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] },
    { nonResourceURLs: ["/healthz*", "/metrics"], verbs: ["get"] },
  ]);
  await using _ = cluster;
  equal((await send("GET", `${core}/configmaps/cm`)).status, 200);
  const own = `${core}/configmaps`;
  const spellings = {
    doubled: ["//api/v1/secrets", "/api//v1/secrets", "/api/v1//secrets", "/api/v1/secrets/", "/API/v1/secrets", "/%61pi/v1/secrets", "/api/v1/s%65crets"],
    health: [
      "/healthz/../api/v1/secrets",
      "/healthz/%2e%2e/api/v1/secrets",
      "/healthz%2f..%2fapi/v1/secrets",
      "/healthzapi/v1/secrets",
      "/metrics/../api/v1/secrets",
    ],
    upwards: [
      `${own}/../secrets/a`,
      `${own}/%2e%2e/secrets/a`,
      `${own}/..%2fsecrets%2fa`,
      `${own}/cm/../../secrets/a`,
      `${own}\\..\\secrets`,
      `${own};/secrets/a`,
    ],
    namespaces: ["/api/v1/namespaces//secrets", "/api/v1/namespaces/./secrets/a", "/api/v1/namespaces/%20/secrets", "https://host/api/v1/secrets"],
    old: ["/api/v1/watch/secrets", "/api/v1/watch/namespaces/default/secrets/a", "/api/v1/proxy/namespaces/default/secrets/a"],
  };
  for (const target of Object.values(spellings).flat()) {
    const { status, text } = await send("GET", target);
    ok([403, 404].includes(status) && !text.includes(secret), `${target}: ${status}`);
  }
  const changes: [method: string, headers?: Record<string, string>][] = [
    ["get"],
    ["delete"],
    ["DELETE"],
    ["PROPFIND"],
    ["POST", { "x-http-method-override": "GET" }],
  ];
  for (const [method, headers] of changes) equal((await send(method, `${own}/cm`, headers)).status, 403, method);
  equal((await send("GET", `${own}/cm`, { "x-http-method-override": "DELETE" })).status, 200);
  equal((await ask(cluster, "GET", `${own}/cm`)).status, 200, "nobody has deleted it");
});

test("security: a query that says two things says one to everybody", async () => {
  const { cluster, send } = await start([
    { apiGroups: [""], resources: ["configmaps"], verbs: ["list"] },
    { apiGroups: [""], resources: ["secrets"], resourceNames: ["a"], verbs: ["list"] },
  ]);
  await using _ = cluster;
  for (const query of ["watch=1", "watch", "watch=", "watch=yes", "%77atch=1", "watch=true&watch=false"])
    equal((await send("GET", `${core}/configmaps?${query}`)).status, 403, query);
  for (const query of ["watch=false&watch=true", "watch=0&watch=1", "Watch=1"]) {
    const { status, text } = await send("GET", `${core}/configmaps?${query}`);
    ok(status === 200 && text.startsWith('{"kind":"ConfigMapList"'), query);
  }
  const name = (one: string) => `fieldSelector=metadata.name%3D${one}`;
  const named = await send("GET", `${core}/secrets?${name("a")}`);
  ok(named.status === 200 && named.text.includes(`"a":"${secret}"`));
  for (const query of ["", name("b"), `fieldSelector=&${name("a")}`, "fieldSelector=metadata.name!%3Da", `${name("b")}&${name("a")}`])
    equal((await send("GET", `${core}/secrets?${query}`)).status, 403, query);
  for (const query of [`${name("a")}&${name("b")}`, `${name("a")},metadata.name%3Db`]) {
    const { status, text } = await send("GET", `${core}/secrets?${query}`);
    ok(status === 200 && !text.includes(`"b":"${secret}"`), query);
  }
});

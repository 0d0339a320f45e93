import { test } from "node:test";
import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { connectionSettings, formatKubeconfig, KubeconfigError, parseKubeconfig, singleKubeconfig } from "./kubeconfig.ts";

const noFiles = async (path: string): Promise<Uint8Array> => {
  throw new Error(`no file ${path}`);
};

test("kubeconfig: what is written is read again", async () => {
  const config = singleKubeconfig({ name: "coracle", user: "admin", server: "https://127.0.0.1:6443", ca: "CA", certificate: "CERT", key: "KEY" });
  const text = formatKubeconfig(config);
  equal(text.startsWith("apiVersion: v1\nkind: Config\n"), true);
  const settings = await connectionSettings(parseKubeconfig(text), noFiles);
  deepEqual(
    [
      settings.url,
      settings.namespace,
      ...[settings.ca, settings.certificate, settings.key].map((bytes) => Buffer.from(bytes!).toString()),
      settings.bearerToken,
    ],
    ["https://127.0.0.1:6443", "default", "CA", "CERT", "KEY", undefined],
  );
});

test("kubeconfig: files, another context, a token that changes", async () => {
  const config = parseKubeconfig(`
clusters: [{name: c, cluster: {server: "https://a", certificate-authority: /ca.pem}}]
users: [{name: u, user: {tokenFile: /token}}]
contexts: [{name: one, context: {cluster: c, user: u}}, {name: two, context: {cluster: c, user: u, namespace: web}}]
current-context: one
`);
  let reads = 0;
  const settings = await connectionSettings(config, async (path) => Buffer.from(path === "/token" ? `t${++reads}\n` : path), "two");
  deepEqual(
    [settings.namespace, Buffer.from(settings.ca!).toString(), await settings.bearerToken!(), await settings.bearerToken!()],
    ["web", "/ca.pem", "t1", "t2"],
  );
});

test("kubeconfig: what cannot be used says why", async () => {
  throws(() => parseKubeconfig("[1"), KubeconfigError);
  throws(() => parseKubeconfig("text"), /holds no object/);
  await rejects(connectionSettings(parseKubeconfig("current-context: x"), noFiles), /has no context "x"/);
});

/** `coracle envtest-assets`: the programs there, started as envtest starts them, with the keys that it makes. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { Certificates } from "../../src/cluster/certificates/certificates.ts";
import { keyDirectory } from "../../src/cluster/certificates/key-store.ts";
import { kubeconfigText } from "../../src/cluster/files/kubeconfig-text.ts";
import { Session, runCoracle, until } from "./instance.ts";

describe("envtest assets", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "envtest-assets-"));
  const kubeconfig = path.join(folder, "kubeconfig");
  let assets: string;
  let etcdUrl: string;
  let flags: string[];
  const program = (name: string) => path.join(assets, name);
  const kubectl = (...args: string[]) =>
    execFileSync(program("kubectl"), ["--kubeconfig", kubeconfig, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();

  before(async () => {
    assets = runCoracle(["envtest-assets"]).stdout.trim();
    etcdUrl = `http://127.0.0.1:${await freePort()}`;
    const port = await freePort();
    flags = await envtestFlags(folder, kubeconfig, { etcdUrl, port });
  });
  after(() => rmSync(folder, { recursive: true }));

  const startEtcd = async () => {
    const session = new Session(
      spawn(program("etcd"), [
        `--listen-client-urls=${etcdUrl}`,
        `--advertise-client-urls=${etcdUrl}`,
        "--listen-peer-urls=http://127.0.0.1:0",
        `--data-dir=${folder}/etcd`,
        "--unsafe-no-fsync=true",
      ]),
    );
    await until(
      async () => (await fetch(`${etcdUrl}/health`).catch(() => undefined))?.ok || undefined,
      () => `health of etcd: ${session.output}`,
    );
    return session;
  };
  /** Resolves as envtest does: when /healthz answers 200 to anybody. */
  const startApiServer = async (env: Record<string, string> = {}) => {
    const session = new Session(spawn(program("kube-apiserver"), flags, { env: { ...process.env, ...env } }));
    await until(
      async () => (await anonymousGet("/healthz").catch(() => undefined)) === "200 ok" || undefined,
      () => `health of kube-apiserver: ${session.output}`,
    );
    return session;
  };
  const anonymousGet = (target: string) => {
    const port = /--secure-port=(\d+)/.exec(flags.join(" "))![1]!;
    return new Promise<string>((resolve, reject) => {
      request({ host: "127.0.0.1", port, path: target, rejectUnauthorized: false, agent: false }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString())).on("end", () => resolve(`${response.statusCode} ${text}`));
      })
        .on("error", reject)
        .end();
    });
  };

  test("--help tells what envtest looks for: --unsafe-no-fsync, and no --insecure-port", () => {
    assert.match(execFileSync(program("etcd"), ["--help"], { encoding: "utf8" }), /^\s*--unsafe-no-fsync\b/m);
    assert.doesNotMatch(execFileSync(program("kube-apiserver"), ["--help"], { encoding: "utf8" }), /^\s*--insecure-port\b/m);
  });

  test("the server alone: certificates of the given authority, tokens of the given key, no controllers", async () => {
    await using _etcd = await startEtcd();
    await using _server = await startApiServer();
    assert.equal(
      kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.username} {.status.userInfo.groups}"),
      'admin ["system:masters","system:authenticated"]',
    );
    assert.equal(
      kubectl("get", "configmap", "-n", "kube-system", "extension-apiserver-authentication", "-o", "jsonpath={.data.client-ca-file}").includes(
        "BEGIN CERTIFICATE",
      ),
      true,
    );
    kubectl("create", "serviceaccount", "robot");
    const token = kubectl("create", "token", "robot");
    assert.equal(JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()).iss, /--service-account-issuer=(\S+)/.exec(flags.join(" "))![1]);
    const bare = [
      "--kubeconfig",
      "/dev/null",
      "--server",
      /server: (\S+)/.exec(readFileSync(kubeconfig, "utf8"))![1]!,
      "--insecure-skip-tls-verify",
      "--token",
      token,
    ];
    assert.equal(
      execFileSync(program("kubectl"), [...bare, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"], { encoding: "utf8" }),
      "system:serviceaccount:default:robot",
    );
    kubectl("run", "pod", "--image=x");
    assert.equal(kubectl("get", "pod", "pod", "-o", "jsonpath={.status.phase}{.spec.nodeName}"), "Pending");
    assert.equal(kubectl("get", "serviceaccounts", "-o", "name"), "serviceaccount/robot");
    assert.deepEqual(readdirSync(folder).toSorted(), ["certs", "kubeconfig"]);
  });

  test("with CORACLE_ENVTEST_COMPONENTS, controllers and nodes", async () => {
    await using _etcd = await startEtcd();
    await using _server = await startApiServer({ CORACLE_ENVTEST_COMPONENTS: "all" });
    kubectl("create", "deployment", "web", "--image=web", "--replicas=2");
    kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=30s");
    kubectl("create", "namespace", "short");
    kubectl("delete", "namespace", "short", "--timeout=30s");
  });

  test("what is wrong ends in one line", async () => {
    const nobody = spawnText(program("kube-apiserver"), [...flags.filter((flag) => !flag.startsWith("--etcd")), "--etcd-servers=http://127.0.0.1:1"]);
    assert.deepEqual(await nobody, [1, "coracle: no etcd answers at http://127.0.0.1:1: start it first, or name another with --etcd-servers\n"]);
    await using _etcd = await startEtcd();
    assert.deepEqual(await spawnText(program("kube-apiserver"), [...flags, "--client-ca-file=/nothing"]), [
      2,
      "coracle: /nothing cannot be read as a certificate: ENOENT: no such file or directory, open '/nothing'\n",
    ]);
    assert.deepEqual(await spawnText(program("kube-apiserver"), [...flags, "--insecure-port=0"]), [2, "coracle: unknown flag: --insecure-port\n"]);
    const [code, text] = await spawnText(program("etcd"), [`--listen-client-urls=${etcdUrl}`]);
    assert.deepEqual([code, /^etcd: cannot listen on .*EADDRINUSE.*\n$/.test(text)], [1, true]);
  });
});

/** What controller-runtime's envtest passes by default. */
async function envtestFlags(folder: string, kubeconfig: string, { etcdUrl, port }: { etcdUrl: string; port: number }): Promise<string[]> {
  const certificates = path.join(folder, "certs");
  mkdirSync(certificates);
  // Made by two authorities, as envtest does: one signs the server's certificate, another the clients'.
  const keys = await Promise.all(["serving", "clients"].map(async (name) => new Certificates(keyDirectory(path.join(folder, name)), systemClock())));
  const [servers, clients] = keys as [Certificates, Certificates];
  const serving = await servers.serving("apiserver", ["localhost", "127.0.0.1"]);
  const files = {
    "apiserver.crt": serving.certificate,
    "apiserver.key": serving.key,
    "client-cert-auth-ca.crt": await clients.authority(),
    "sa-signer.crt": await servers.authority(),
    "sa-signer.key": (await servers.signer()).key,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(certificates, name), text);
  const client = await clients.client("admin", "admin", ["system:masters"]);
  writeFileSync(kubeconfig, kubeconfigText({ server: `https://127.0.0.1:${port}`, authority: await servers.authority(), user: "admin", client }));
  for (const name of ["serving", "clients"]) rmSync(path.join(folder, name), { recursive: true });
  return [
    "--allow-privileged=true",
    "--authorization-mode=RBAC",
    "--bind-address=127.0.0.1",
    `--cert-dir=${certificates}`,
    `--client-ca-file=${certificates}/client-cert-auth-ca.crt`,
    "--disable-admission-plugins=ServiceAccount",
    `--etcd-servers=${etcdUrl}`,
    `--secure-port=${port}`,
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${certificates}/sa-signer.crt`,
    `--service-account-signing-key-file=${certificates}/sa-signer.key`,
    "--service-cluster-ip-range=10.0.0.0/24",
  ];
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Exit code and what was said on the way. */
async function spawnText(command: string, args: readonly string[]): Promise<[number | null, string]> {
  const session = new Session(spawn(command, args));
  return [await session.ended(), session.output];
}

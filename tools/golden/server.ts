/** Starts the servers that recordings need: `coracle up` with exact components, an empty memory store and the flags of the recorded server. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Group } from "./scenarios.ts";
import { startWebhook, type Webhook } from "./webhook.ts";

export interface Server {
  /** The admin's kubeconfig. */
  readonly kubeconfig: string;
  /** The admin's kubeconfig for request recordings: they were made with a static token, which gives a uid and no credential id. */
  readonly tokenKubeconfig?: string;
  /** What the server asks, where the recordings are exchanges with a webhook. */
  readonly webhook?: Webhook;
  stop(): Promise<void>;
}

/** What is left to end and to remove should this process be ended. */
const running = new Set<ChildProcess>();
const folders = new Set<string>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGTERM");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const root = path.dirname(path.dirname(import.meta.dirname));

/** The flags of the API server that was recorded, besides its defaults. */
const recordedFlags = {
  "authorization-mode": "Node,RBAC",
  "enable-admission-plugins": "NodeRestriction",
  "allow-privileged": "true",
  "service-cluster-ip-range": "10.0.0.0/16",
  "endpoint-reconciler-type": "none",
  "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
  "kubelet-preferred-address-types": "InternalIP",
};

const adminToken = "golden-admin";

/** Those of the recorded servers: administrators, and users of a webhook's exchanges. */
const staticTokens = [
  ...[adminToken, "admintoken"].map((token) => `${token},admin,admin-uid,system:masters\n`),
  ...["noop", "allow", "deny", "http404"].map((user) => `${user}-tok,${user},${user}-uid,g1\n`),
].join("");

/** Starts one server for `group` and waits until it is ready. Throws, with what the server said, when it does not come up. `folder` holds the recordings. */
export async function startServer(group: Group, folder: string): Promise<Server> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "coracle-golden-"));
  folders.add(dataDir);
  writeFileSync(tokenFile(dataDir), staticTokens);
  const helpers: ChildProcess[] = [];
  const webhook = group.needs.includes("webhook") ? await startWebhook(folder, group.recordings[0]!.scenario.webhookAnswers ?? {}) : undefined;
  if (group.needs.includes("issuer")) helpers.push(await startIssuer(path.join(folder, "access", "config", "issuer.mjs")));
  const child = spawn(path.join(root, "bin", "coracle"), ["up", ...serverArguments(group, dataDir, webhook)], { stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (said = (said + data.toString()).slice(-4000)));
  const ended = new Promise<void>((resolve) => child.once("close", () => (running.delete(child), resolve())));
  const stop = async () => {
    for (const helper of helpers) helper.kill("SIGTERM");
    webhook?.close();
    child.kill("SIGTERM");
    await Promise.race([ended, wait(10_000, undefined, { ref: false }).then(() => child.kill("SIGKILL"))]);
    await ended;
    if (group.needs.includes("kubelet")) spawnSync(path.join(root, "bin", "coracle"), ["reset", "--data-dir", dataDir], { stdio: "ignore" });
    rmSync(dataDir, { recursive: true, force: true });
    folders.delete(dataDir);
  };
  const kubeconfig = path.join(dataDir, "kubeconfig");
  const tokenKubeconfig = path.join(dataDir, "golden-token-kubeconfig");
  const deadline = Date.now() + 60_000;
  // An image can be loaded when the node is there, which is later than the API.
  const isReady = () => existsSync(kubeconfig) && (!group.needs.includes("kubelet") || said.includes("Kubernetes is ready."));
  while (!isReady()) {
    if (child.exitCode === null && child.signalCode === null && Date.now() < deadline) await wait(20);
    else {
      await stop();
      throw new Error(`the server did not start: ${said.trim().split("\n").slice(-3).join(" / ") || "it said nothing"}`);
    }
  }
  try {
    if (group.needs.includes("kubelet")) await loadBusybox(dataDir);
    if (!hasTokenFile(group))
      writeFileSync(
        tokenKubeconfig,
        readFileSync(kubeconfig, "utf8")
          .replace(/^( *)"?client-certificate-data.*$/m, `$1token: ${adminToken}`)
          .replace(/^ *"?client-key-data.*\n/m, ""),
      );
  } catch (error) {
    await stop();
    throw error;
  }
  return { kubeconfig, ...(!hasTokenFile(group) && { tokenKubeconfig }), ...(webhook !== undefined && { webhook }), stop };
}

function tokenFile(dataDir: string): string {
  return path.join(dataDir, "golden-tokens.csv");
}

function hasTokenFile({ needs }: Pick<Group, "needs">): boolean {
  return needs.some((need) => need.startsWith("flag:--token-auth-file="));
}

async function loadBusybox(dataDir: string): Promise<void> {
  const { writeBusyboxArchive } = await import("./busybox.ts");
  const archive = path.join(dataDir, "busybox.tar");
  writeBusyboxArchive(archive);
  const { status, stderr } = spawnSync(path.join(root, "bin", "coracle"), ["image", "load", "--data-dir", dataDir, archive], { encoding: "utf8" });
  if (status !== 0) throw new Error(`coracle image load: ${stderr.trim()}`);
}

/** The arguments after `coracle up`. Files that flags name are written below `dataDir`. */
export function serverArguments(group: Pick<Group, "needs" | "controllersFlags" | "config">, dataDir: string, webhook?: Webhook): string[] {
  const files = { dataDir, webhook };
  const flags = new Map<string, string>(Object.entries(recordedFlags));
  const components: string[] = [];
  for (const need of group.needs) {
    const [kind, ...rest] = need.split(":");
    const value = rest.join(":");
    if (kind === "flag") setFlag(flags, value, group.config, files);
    else if (kind === "admission") flags.set("enable-admission-plugins", `${flags.get("enable-admission-plugins")},${value}`);
    else if (kind === "admission-config") flags.set("admission-control-config-file", writeConfig(files, "admission-control-config-file", group.config));
    else if (kind !== "issuer" && kind !== "webhook") components.push(need);
  }
  if (flags.has("authorization-config")) flags.delete("authorization-mode");
  if (!flags.has("token-auth-file")) flags.set("token-auth-file", tokenFile(dataDir));
  const hasNode = components.includes("kubelet");
  // A recording's node has its pods' network; with us that is a component of its own.
  if (hasNode) components.push("network");
  const args = ["--components", components.join(","), "--store", "memory", "--port", "0", "--data-dir", dataDir, "--no-install"];
  for (const [name, value] of flags) args.push(`--apiserver.${name}=${value}`);
  if (components.includes("controllers")) {
    args.push("--controllers.controllers=*,bootstrapsigner,tokencleaner");
    for (const flag of group.controllersFlags.split(/\s+/).filter(Boolean)) args.push(`--controllers.${flag.replace(/^--/, "").replace(/^[^=]+$/, "$&=true")}`);
  }
  // A range of its own: another cluster of this machine may have the usual one.
  if (hasNode) args.push("--runtime", "containerd", "--node-name", "n1", "--pod-cidr", `10.${130 + (process.pid % 40)}.0.0/16`);
  return args;
}

interface Files {
  readonly dataDir: string;
  readonly webhook: Webhook | undefined;
}

/** `--name=value`; the value FILE stands for the part of the recording's `config` with the flag's name. */
function setFlag(flags: Map<string, string>, flag: string, config: unknown, files: Files): void {
  const [name, ...rest] = flag.replace(/^--/, "").split("=");
  const value = rest.join("=");
  flags.set(name!, value === "FILE" ? writeConfig(files, name!, (config as Record<string, unknown>)[name!]) : withKubeconfigs(value, files));
}

/** A list is one JSON object a line. */
function writeConfig(files: Files, name: string, content: unknown): string {
  const text = Array.isArray(content) ? content.map((line) => JSON.stringify(line)).join("\n") : JSON.stringify(content);
  const file = path.join(files.dataDir, `golden-${name}`);
  writeFileSync(file, withKubeconfigs(text, files));
  return file;
}

/** A text that asks for a kubeconfig becomes the path of one. */
function withKubeconfigs(text: string, { dataDir, webhook }: Files): string {
  return text.replace(/\$\{kubeconfig: (any server|webhook) at ([^}]+)\}/g, (_, which: string, at: string) => {
    const isWebhook = which === "webhook";
    const cluster = isWebhook
      ? { server: `${webhook!.origin}${at}`, "certificate-authority-data": Buffer.from(webhook!.certificate).toString("base64") }
      : { server: at };
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "a", cluster }],
      contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
      "current-context": "a",
      users: [{ name: "a", user: isWebhook ? { token: "hook-token" } : {} }],
    };
    const file = path.join(dataDir, `golden-kubeconfig-${at.replace(/[^a-z0-9]+/gi, "-")}`);
    writeFileSync(file, JSON.stringify(kubeconfig));
    return file;
  });
}

async function startIssuer(script: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script], { stdio: "ignore" });
  for (let attempt = 0; attempt < 100; attempt++) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = createConnection(7410, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isUp) break;
    await wait(50);
  }
  running.add(child.once("close", () => running.delete(child)));
  return child;
}

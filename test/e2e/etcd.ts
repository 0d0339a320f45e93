/** A cluster of real etcds for a test: `etcd` on the PATH (Debian: etcd-server), on loopback and ports of its own, its data in a folder that is removed. */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const hasEtcd = spawnSync("etcd", ["--version"]).error === undefined;
export const hasEtcdctl = spawnSync("etcdctl", ["version"]).error === undefined;

interface Member {
  readonly name: string;
  readonly client: string;
  readonly peer: string;
  process: ChildProcess | undefined;
}

export class EtcdCluster implements AsyncDisposable {
  readonly #members: readonly Member[];
  readonly #folder: string;
  readonly #flags: readonly string[];

  private constructor(members: readonly Member[], folder: string, flags: readonly string[]) {
    this.#members = members;
    this.#folder = folder;
    this.#flags = flags;
  }

  /** Resolves when `size` members serve. `flags` are given to each; with `--cert-file` among them clients come over TLS. */
  static async start(size: number, flags: readonly string[] = []): Promise<EtcdCluster> {
    const scheme = flags.some((flag) => flag.startsWith("--cert-file")) ? "https" : "http";
    const ports = await freePorts(2 * size);
    const members = Array.from({ length: size }, (_, index) => ({
      name: `m${index}`,
      client: `${scheme}://127.0.0.1:${ports[2 * index]}`,
      peer: `http://127.0.0.1:${ports[2 * index + 1]}`,
      process: undefined,
    }));
    const cluster = new EtcdCluster(members, await mkdtemp(join(tmpdir(), "coracle-etcd-")), flags);
    await cluster.startAll();
    return cluster;
  }

  /** URLs for clients, in the order of the members. */
  get endpoints(): readonly string[] {
    return this.#members.map(({ client }) => client);
  }

  /** Starts the members that do not run. Their cluster serves then. */
  async startAll(): Promise<void> {
    await Promise.all(this.#members.map((member) => (member.process === undefined ? this.#start(member) : undefined)));
  }

  async kill(index: number): Promise<void> {
    const { process } = this.#members[index]!;
    this.#members[index]!.process = undefined;
    process?.kill("SIGKILL");
    if (process !== undefined && process.exitCode === null && process.signalCode === null) await once(process, "exit");
  }

  async killAll(): Promise<void> {
    await Promise.all(this.#members.map((_, index) => this.kill(index)));
  }

  /** Which member leads. Rejects when none does. */
  async leader(): Promise<number> {
    for (const [index, { client, process }] of this.#members.entries()) {
      if (process === undefined) continue;
      const response = await fetch(`${client}/v3/maintenance/status`, { method: "POST", body: "{}" });
      const { header, leader } = (await response.json()) as { header: { member_id: string }; leader?: string };
      if (leader === header.member_id) return index;
    }
    throw new Error("no etcd leads");
  }

  /** `etcdctl snapshot save`, from one member. */
  save(file: string): void {
    etcdctl("snapshot", "save", file, "--endpoints", this.endpoints[0]!);
  }

  /** Kills all members and puts what `etcdctl snapshot restore` makes of `file` in the place of their data; they do not run then. */
  async restore(file: string): Promise<void> {
    await this.killAll();
    for (const { name, peer } of this.#members) {
      const directory = join(this.#folder, name);
      await rm(directory, { recursive: true });
      const place = ["--data-dir", directory, "--name", name, "--initial-cluster", this.#initialCluster, "--initial-advertise-peer-urls", peer];
      etcdctl("snapshot", "restore", file, ...place);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killAll();
    await rm(this.#folder, { recursive: true });
  }

  get #initialCluster(): string {
    return this.#members.map(({ name, peer }) => `${name}=${peer}`).join(",");
  }

  async #start(member: Member): Promise<void> {
    const { name, client, peer } = member;
    const own = ["--name", name, "--data-dir", join(this.#folder, name), "--listen-client-urls", client, "--advertise-client-urls", client];
    const peers = ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", this.#initialCluster];
    const child = spawn("etcd", [...own, ...peers, ...this.#flags], { stdio: ["ignore", "ignore", "pipe"] });
    member.process = child;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`etcd ended with ${code}:\n${said}`)));
      createInterface({ input: child.stderr }).on("line", (line) => {
        said = `${said}${line}\n`.slice(-4000);
        if (/ready to serve client requests|serving (insecure )?client requests/.test(line)) resolve();
      });
    });
  }
}

/** Throws with what it said when it fails. */
export function etcdctl(...args: string[]): void {
  const { status, stderr } = spawnSync("etcdctl", args, { encoding: "utf8", env: { ...process.env, ETCDCTL_API: "3" } });
  if (status !== 0) throw new Error(`etcdctl ${args.join(" ")} ended with ${status}:\n${stderr}`);
}

/** Ports that nobody listens on, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

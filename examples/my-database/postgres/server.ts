/**
 * One PostgreSQL: its data directory, its process, and the orders that change them. Long orders run one at a time, meanwhile it is busy.
 * Invariants: the server never runs unless an order of this life of the agent started it; what must outlive the agent (term, time of the
 * last order) is on disk before an order is begun.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, cp, lstat, mkdir, open, readFile, readdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { AgentState, Mode, Order } from "../agent.ts";
import { bin, positionOf, run, sql } from "./commands.ts";

export interface ServerOptions {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  /** On the volume. */
  readonly folder: string;
  /** Shared by all databases. */
  readonly backups: string;
  readonly superuserPassword: string;
  readonly replicationPassword: string;
}

interface Kept {
  readonly term: number;
  readonly fence: number;
}

/** A change of who must have each transaction counts once every process of the server has surely heard of it. */
const reloadMs = 1000;

export class PostgresServer {
  readonly #options: ServerOptions;
  readonly #data: string;
  #kept: Kept = { term: 0, fence: 0 };
  #socket = "";
  #process: ChildProcess | undefined;
  #busy: Promise<void> | undefined;
  #following: string | undefined;
  #isDetached = false;
  #requires: { readonly names: readonly string[]; since: number | undefined; readonly atMs: number } = { names: [], since: undefined, atMs: 0 };
  readonly #backupsUnderWay = new Map<string, "Running" | "Failed">();

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#data = path.join(options.folder, "data");
  }

  async open(): Promise<void> {
    const { folder, backups } = this.#options;
    this.#socket = await socketDirectory(folder);
    await mkdir(backups, { recursive: true });
    this.#kept = await readFile(path.join(folder, "agent.json"), "utf8").then(
      (text) => JSON.parse(text) as Kept,
      () => this.#kept,
    );
    // One that an agent before us left behind, perhaps by a kill.
    const pid = Number((await readFile(path.join(this.#data, "postmaster.pid"), "utf8").catch(() => "")).split("\n")[0]);
    if (pid > 0) await endProcess(pid);
  }

  async close(): Promise<void> {
    await this.#busy?.catch(() => undefined);
    await this.#stop();
    await rm(this.#socket, { recursive: true, force: true });
  }

  async state(at: number): Promise<AgentState> {
    if (at > this.#kept.fence) await this.#keep({ ...this.#kept, fence: at });
    const base = { term: this.#kept.term, timeline: 0, position: 0, backups: await this.#listBackups() };
    const mode = this.#mode();
    if (mode === "busy" || mode === "empty" || mode === "stopped") return { ...base, mode };
    try {
      return mode === "primary" ? await this.#primaryState(base) : await this.#standbyState(base, mode);
    } catch (error) {
      // It is just starting, or about to end.
      if (error instanceof Error) return { ...base, mode: "busy" };
      throw error;
    }
  }

  /** Rejects an order of an older term or time; resolves once it has begun. */
  async obey(order: Order, at: number): Promise<void> {
    if (order.term < this.#kept.term || at < this.#kept.fence)
      throw new Error(`term ${order.term} at ${at} is older than ${this.#kept.term} at ${this.#kept.fence}`);
    if (this.#busy !== undefined) throw new Error("busy");
    await this.#keep({ term: order.kind === "backup" ? this.#kept.term : order.term, fence: at });
    if (order.kind === "backup") return this.#backUp(order.backup);
    if (order.kind === "require") return this.#require(order.requires);
    this.#busy = this.#carryOut(order)
      .catch((error: unknown) => console.error(`${order.kind} failed:`, error))
      .finally(() => (this.#busy = undefined));
  }

  #mode(): Mode {
    if (this.#busy !== undefined) return "busy";
    if (!existsSync(path.join(this.#data, "PG_VERSION"))) return "empty";
    if (this.#process === undefined) return "stopped";
    return this.#isDetached ? "detached" : this.#following !== undefined ? "standby" : "primary";
  }

  async #primaryState(base: Omit<AgentState, "mode">): Promise<AgentState> {
    const [row = ""] = await sql(this.#socket, "select pg_is_in_recovery(), (select timeline_id from pg_control_checkpoint()), pg_current_wal_flush_lsn()");
    const [isInRecovery, timeline, lsn = ""] = row.split("|");
    if (isInRecovery === "t") return { ...base, mode: "busy" };
    const standbys = await sql(
      this.#socket,
      "select application_name, flush_lsn, sync_state from pg_stat_replication where state = 'streaming' and flush_lsn is not null and application_name <> 'pg_basebackup'",
    );
    const parts = standbys.map((standby) => standby.split("|") as [name: string, flushed: string, state: string]);
    const requires = this.#requires;
    if (requires.since === undefined && Date.now() - requires.atMs > reloadMs) requires.since = positionOf(lsn);
    return {
      ...base,
      mode: "primary",
      timeline: Number(timeline),
      position: positionOf(lsn),
      requires: requires.names,
      ...(requires.since !== undefined && { requiresSince: requires.since }),
      standbys: Object.fromEntries(parts.map(([name, flushed]) => [name, positionOf(flushed)])),
    };
  }

  async #standbyState(base: Omit<AgentState, "mode">, mode: "standby" | "detached"): Promise<AgentState> {
    const [row = ""] = await sql(
      this.#socket,
      "select (select received_tli from pg_stat_wal_receiver), (select timeline_id from pg_control_checkpoint()), greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), (select count(*) from pg_stat_wal_receiver)",
    );
    const [received = "", checkpoint = "", lsn = "", receivers] = row.split("|");
    // It counts as detached once nothing arrives any more.
    if (mode === "detached" && receivers !== "0") return { ...base, mode: "busy" };
    return {
      ...base,
      mode,
      timeline: Number(received === "" ? checkpoint : received),
      position: positionOf(lsn),
      ...(mode === "standby" && this.#following !== undefined && { following: this.#following }),
    };
  }

  async #carryOut(order: Order): Promise<void> {
    switch (order.kind) {
      case "initialize":
        return this.#initialize(order.backup);
      case "promote":
        return this.#promote(order.requires);
      case "follow":
        return this.#follow(order.primary, order.host);
      case "detach":
        return this.#detach();
      case "require":
      case "backup":
        throw new Error(`${order.kind} is not a long order`);
    }
  }

  async #initialize(backup: string | undefined): Promise<void> {
    if (existsSync(path.join(this.#data, "PG_VERSION"))) return;
    const { folder, backups, superuserPassword, replicationPassword } = this.#options;
    const fresh = path.join(folder, "fresh");
    await rm(fresh, { recursive: true, force: true });
    if (backup !== undefined) {
      await cp(path.join(backups, backup), fresh, { recursive: true, mode: 0 });
      await run("/bin/chmod", ["0700", fresh]);
    } else {
      const passwordFile = path.join(folder, "password");
      await writeFile(passwordFile, superuserPassword, { mode: 0o600 });
      await run("initdb", [
        "-D",
        fresh,
        "-U",
        "postgres",
        "--auth-local=trust",
        "--auth-host=scram-sha-256",
        `--pwfile=${passwordFile}`,
        "--data-checksums",
        "-E",
        "UTF8",
        "--locale=C",
      ]);
      await rm(passwordFile);
      await appendFile(path.join(fresh, "pg_hba.conf"), "host all all all scram-sha-256\nhost replication all all scram-sha-256\n");
      await appendFile(path.join(fresh, "postgresql.conf"), "include_if_exists 'mydb.conf'\n");
      await run("postgres", ["--single", "-D", fresh, "postgres"], {
        input: `create role replication with replication login password '${replicationPassword}'\n`,
      });
    }
    await rm(path.join(fresh, "standby.signal"), { force: true });
    // Whole, or not there.
    await rename(fresh, this.#data);
  }

  async #promote(requires: readonly string[]): Promise<void> {
    const isStandby = existsSync(path.join(this.#data, "standby.signal"));
    const wasPrimary = this.#process !== undefined && this.#following === undefined && !this.#isDetached;
    if (wasPrimary) return;
    this.#requires = { names: requires, since: undefined, atMs: Date.now() };
    await this.#configure({ requires });
    if (this.#process === undefined) await this.#start();
    else await this.#reload();
    if (isStandby) await sql(this.#socket, "select pg_promote(true, 60)");
    this.#following = undefined;
    this.#isDetached = false;
    const { superuserPassword, replicationPassword } = this.#options;
    // A restored database has the passwords of the one that was backed up.
    await sql(
      this.#socket,
      `set synchronous_commit = local; alter role postgres password '${superuserPassword}'; alter role replication password '${replicationPassword}'`,
    );
  }

  async #follow(primary: string, host: string): Promise<void> {
    const { port, superuserPassword, folder } = this.#options;
    const source = (user: string) => `host=${host} port=${port} user=${user} dbname=postgres connect_timeout=3`;
    const env = { PGPASSWORD: superuserPassword };
    await this.#stop();
    const canRewind =
      existsSync(path.join(this.#data, "PG_VERSION")) &&
      (await run("pg_rewind", ["-D", this.#data, `--source-server=${source("postgres")}`], { env }).then(
        () => true,
        () => false,
      ));
    if (!canRewind) {
      const fresh = path.join(folder, "fresh");
      await rm(fresh, { recursive: true, force: true });
      await run("pg_basebackup", ["-D", fresh, "-d", source("postgres"), "-X", "stream", "-c", "fast"], { env });
      await rm(this.#data, { recursive: true, force: true });
      await rename(fresh, this.#data);
    }
    this.#following = primary;
    this.#isDetached = false;
    await this.#configure({ requires: [], host });
    await writeFile(path.join(this.#data, "standby.signal"), "");
    await this.#start();
  }

  async #detach(): Promise<void> {
    if (!existsSync(path.join(this.#data, "PG_VERSION"))) return;
    await writeFile(path.join(this.#data, "standby.signal"), "");
    await this.#configure({ requires: [] });
    if (this.#process !== undefined && this.#following === undefined && !this.#isDetached) await this.#stop();
    this.#isDetached = true;
    this.#following = undefined;
    if (this.#process === undefined) await this.#start();
    else await this.#reload();
  }

  async #require(names: readonly string[]): Promise<void> {
    if (this.#mode() !== "primary") return;
    this.#requires = { names, since: undefined, atMs: Date.now() };
    await this.#configure({ requires: names });
    await this.#reload();
  }

  async #backUp(name: string): Promise<void> {
    if (this.#backupsUnderWay.get(name) === "Running") return;
    this.#backupsUnderWay.set(name, "Running");
    const target = path.join(this.#options.backups, name);
    const part = `${target}.part`;
    const work = async () => {
      await rm(part, { recursive: true, force: true });
      await run("pg_basebackup", ["-D", part, "-h", this.#socket, "-U", "postgres", "-X", "stream", "-c", "fast"]);
      await rename(part, target);
      this.#backupsUnderWay.delete(name);
    };
    void work().catch((error: unknown) => {
      console.error("backup failed:", error);
      this.#backupsUnderWay.set(name, "Failed");
    });
  }

  async #listBackups(): Promise<AgentState["backups"]> {
    const there = await readdir(this.#options.backups);
    const done = await Promise.all(
      there
        .filter((name) => !name.endsWith(".part"))
        .map(async (name) => [name, { phase: "Done", size: (await stat(path.join(this.#options.backups, name, "backup_manifest"))).size }] as const),
    );
    return { ...Object.fromEntries(Array.from(this.#backupsUnderWay, ([name, phase]) => [name, { phase }])), ...Object.fromEntries(done) };
  }

  async #configure({ requires, host }: { readonly requires: readonly string[]; readonly host?: string }): Promise<void> {
    const { name, address, port, replicationPassword } = this.#options;
    const conninfo =
      host === undefined ? "" : `host=${host} port=${port} user=replication password=${replicationPassword} application_name=${name} connect_timeout=3`;
    const settings = {
      listen_addresses: address,
      port,
      unix_socket_directories: this.#socket,
      max_connections: 50,
      shared_buffers: "16MB",
      wal_keep_size: "64MB",
      hot_standby: "on",
      synchronous_commit: "on",
      synchronous_standby_names: requires.map((other) => `"${other}"`).join(", "),
      primary_conninfo: conninfo,
      recovery_target_timeline: "latest",
      wal_receiver_timeout: "5s",
      wal_sender_timeout: "5s",
      wal_retrieve_retry_interval: "500ms",
    };
    await writeFile(
      path.join(this.#data, "mydb.conf"),
      Object.entries(settings)
        .map(([key, value]) => `${key} = '${value}'\n`)
        .join(""),
      { mode: 0o600 },
    );
  }

  /** Resolves when it takes connections. */
  async #start(): Promise<void> {
    const child = spawn(path.join(bin, "postgres"), ["-D", this.#data], { stdio: ["ignore", "inherit", "inherit"] });
    this.#process = child;
    child.once("exit", () => {
      if (this.#process === child) this.#process = undefined;
    });
    while (
      this.#process === child &&
      !(await run("pg_isready", ["-h", this.#socket, "-U", "postgres", "-d", "postgres"]).then(
        () => true,
        () => false,
      ))
    )
      await new Promise((resolve) => setTimeout(resolve, 100));
    if (this.#process !== child) throw new Error("the server ended while it started");
  }

  async #stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    await ended;
  }

  async #reload(): Promise<void> {
    this.#process?.kill("SIGHUP");
  }

  async #keep(kept: Kept): Promise<void> {
    this.#kept = kept;
    const file = path.join(this.#options.folder, "agent.json");
    const handle = await open(`${file}.new`, "w");
    await handle.writeFile(JSON.stringify(kept));
    await handle.sync();
    await handle.close();
    await rename(`${file}.new`, file);
  }
}

/** Of one volume always the same, so that an agent that was killed leaves none behind; paths of sockets must be short. */
async function socketDirectory(folder: string): Promise<string> {
  const directory = path.join(
    tmpdir(),
    `mydb-${createHash("sha256")
      .update(await realpath(folder))
      .digest("hex")
      .slice(0, 12)}`,
  );
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { uid, mode } = await lstat(directory);
  // Whoever can enter it is let in by the server as its superuser.
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) throw new Error(`${directory} is not only ours`);
  return directory;
}

/** Ends a server of an earlier agent, its children with it. */
async function endProcess(pid: number): Promise<void> {
  const isThere = () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  if (!isThere() || !(await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).includes("postgres")) return;
  process.kill(pid, "SIGQUIT");
  while (isThere()) await new Promise((resolve) => setTimeout(resolve, 50));
}

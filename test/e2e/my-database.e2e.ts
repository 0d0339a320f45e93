/**
 * MyDatabase on real PostgreSQL, its instances local processes: writes go on while the primary is killed, and while it hangs; no acknowledged
 * commit is missing; scaling, backup and restore, a new version, a last backup.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { run } from "../../examples/my-database/postgres/commands.ts";
import { Instance, Session, until } from "./instance.ts";
import { PostgresPrograms } from "./postgres-programs.ts";

const example = path.resolve(import.meta.dirname, "../../examples/my-database");
const skip = existsSync("/usr/lib/postgresql/15/bin/postgres") ? false : "needs Debian's package postgresql-15";
const isRoot = process.getuid?.() === 0;
// PostgreSQL does not run as root.
const user = isRoot ? { uid: 65_534 } : {};

test("MyDatabase on PostgreSQL", { skip }, async () => {
  await using programs = await PostgresPrograms.create();
  const { older, newer } = programs;
  await using instance = await Instance.create();
  if (isRoot) await run("/bin/chown", ["-R", "65534:65534", path.dirname(instance.dataDir)]);
  await instance.start({ ...user, args: ["--port", "16481", "--kubelet.port=16482", "--runtime", "process", "--store", "memory"] });
  const backupFolder = path.join(path.dirname(instance.dataDir), "backups");
  await mkdir(backupFolder, { mode: 0o777 });
  if (isRoot) await run("/bin/chown", ["65534:65534", backupFolder]);
  const env = {
    ...process.env,
    KUBECONFIG: path.join(instance.dataDir, "kubeconfig"),
    MYDB_COMMAND: `${process.execPath} ${path.join(example, "postgres", "agent-main.ts")}`,
    MYDB_BACKUPS: backupFolder,
    MYDB_PROGRAMS: programs.folder,
  };
  await using operator = new Session(spawn(process.execPath, ["--conditions=coracle-source", "main.ts"], { cwd: example, env }));
  await operator.saw(/Started operator/, 120_000);
  const database = new Database(instance, "orders");
  try {
    await instance.kubectl("wait", "--for=condition=Established", "crd/mydatabases.mydb.example.com", "--timeout=60s");
    await apply(instance, { kind: "MyDatabase", metadata: { name: "orders" }, spec: { version: older, replicas: 1, storage: "1Gi" } });
    await database.ready(1);
    await database.query("create table t (id int primary key)");
    await database.scale(3);
    await database.ready(3);
    await until(async () => ((await database.field("status.synchronous[*]")) !== "" ? true : undefined), "a synchronous standby", 60_000);

    await using writer = new Writer(database);
    await writer.acknowledges(20);
    process.kill(await database.serverPid(await database.primary()), "SIGKILL");
    await writer.acknowledges(20);

    // It hangs: no kubelet sees that, and it may wake up at any time believing that it is the primary.
    await until(async () => ((await database.field("status.synchronous[*]")) !== "" ? true : undefined), "a synchronous standby", 60_000);
    const old = await database.primary();
    const pids = await database.processes(old);
    const stoppedAt = performance.now();
    let tookMs: number;
    try {
      signalAll(pids, "SIGSTOP");
      // The first may have been under way when everything stopped.
      await writer.acknowledges(2);
      tookMs = performance.now() - stoppedAt;
    } finally {
      signalAll(pids, "SIGCONT");
    }
    console.log(`writes went on ${(tookMs / 1000).toFixed(1)} s after the primary hung`);
    assert.notEqual(await database.primary(), old);
    await writer.acknowledges(20);
    await database.ready(3);
    await writer.stop();
    assert.deepEqual(await writer.missing(), []);
    assert.ok(tookMs < 10_000, `${tookMs} ms`);

    await apply(instance, { kind: "DatabaseBackup", metadata: { name: "now" }, spec: { database: "orders" } });
    await instance.kubectl("wait", "--for=jsonpath={.status.phase}=Done", "mydbb/now", "--timeout=120s");
    await apply(instance, { kind: "MyDatabase", metadata: { name: "copy" }, spec: { version: older, restoreFrom: "now" } });
    const copy = new Database(instance, "copy");
    await copy.ready(1);
    const content = "select count(*), sum(id), md5(string_agg(id::text, ',' order by id)) from t";
    assert.equal(await copy.query(content), await database.query(content));

    await database.scale(2);
    await until(
      async () => ((await instance.kubectl("get", "pods", "-l", "mydb.example.com/database=orders", "-o", "name")).split("\n").length === 2 ? true : undefined),
      "two instances",
      120_000,
    );
    await database.ready(2);
    const former = await database.primary();
    assert.deepEqual(await database.programs(), [programs.program(older), programs.program(older)]);
    await instance.kubectl("patch", "mydb", "orders", "--type=merge", "-p", JSON.stringify({ spec: { version: newer } }));
    await until(
      async () =>
        (await instance.kubectl("get", "pods", "-l", `mydb.example.com/database=orders,mydb.example.com/version=${newer}`, "-o", "name"))
          .split("\n")
          .filter(Boolean).length === 2
          ? true
          : undefined,
      "two of the new version",
      180_000,
    );
    await database.ready(2);
    assert.match(
      await instance.kubectl("get", "mydb", "orders"),
      new RegExp(`VERSION +REPLICAS +READY +PRIMARY +HEALTHY +ATTENTION +AGE\\norders +${newer.replace(".", "\\.")} +2 +2 +orders-\\d +True +AllWell`),
    );
    assert.deepEqual(await database.programs(), [programs.program(newer), programs.program(newer)]);
    assert.match(await database.query("show server_version"), new RegExp(`^${programs.reported(newer).replace(".", "\\.")}\\b`));
    assert.match(await copy.query("show server_version"), new RegExp(`^${programs.reported(older).replace(".", "\\.")}\\b`));
    const byAge = await instance.kubectl("get", "pods", "-l", "mydb.example.com/database=orders", "--sort-by=.metadata.creationTimestamp", "-o", "name");
    assert.equal(byAge.trim().split("\n").at(-1), `pod/${former}`, "the former primary is replaced last");
    assert.equal(await copy.query(content), await database.query(content));

    await instance.kubectl("delete", "mydb", "orders", "--timeout=120s");
    assert.ok((await readdir(backupFolder)).includes("orders-final"));
  } catch (error) {
    console.error(
      operator.output.slice(-4000),
      await instance.kubectl("get", "mydb,pods", "-o", "wide").catch(String),
      await instance.kubectl("logs", "-l", "mydb.example.com/database", "--prefix", "--tail=30").catch(String),
    );
    throw error;
  }
});

/** Backends of a server come and go. */
function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

async function apply(instance: Instance, object: object): Promise<void> {
  await using kubectl = instance.startKubectl(["apply", "-f", "-"]);
  kubectl.write(JSON.stringify({ apiVersion: "mydb.example.com/v1", ...object }));
  kubectl.end();
  assert.equal(await kubectl.ended(), 0, kubectl.output);
}

class Database {
  readonly instance: Instance;
  readonly name: string;

  constructor(instance: Instance, name: string) {
    this.instance = instance;
    this.name = name;
  }

  field(jsonPath: string): Promise<string> {
    return this.instance.kubectl("get", "mydb", this.name, "-o", `jsonpath={.${jsonPath}}`);
  }

  primary(): Promise<string> {
    return this.field("status.primary");
  }

  scale(replicas: number): Promise<string> {
    return this.instance.kubectl("patch", "mydb", this.name, "--type=merge", "-p", JSON.stringify({ spec: { replicas } }));
  }

  /** That many instances serve, as the newest spec has it. */
  async ready(count: number): Promise<void> {
    const wanted = async () => (await this.field("metadata.generation")) + ` True ${count}`;
    await until(
      async () =>
        (await this.field('status.observedGeneration} {.status.conditions[?(@.type=="Ready")].status} {.status.ready')) === (await wanted()) ? true : undefined,
      `${count} of ${this.name}`,
      90_000,
    );
  }

  async query(text: string): Promise<string> {
    const { host, password } = await this.address();
    return run("psql", ["-AtXq", "-h", host, "-U", "postgres", "-d", "postgres", "-c", text], {
      env: { PGPASSWORD: password, PGCONNECT_TIMEOUT: "2" },
      timeoutMs: 3000,
    });
  }

  /** Where writers are led to. */
  async address(): Promise<{ readonly host: string; readonly password: string }> {
    const host = await this.instance.kubectl(
      "get",
      "pods",
      "-l",
      `mydb.example.com/database=${this.name},mydb.example.com/role=primary`,
      "-o",
      "jsonpath={.items[0].status.podIP}",
    );
    const password = Buffer.from(await this.instance.kubectl("get", "secret", this.name, "-o", "jsonpath={.data.superuser}"), "base64").toString();
    return { host, password };
  }

  /** Which program serves in each of the pods. */
  async programs(): Promise<string[]> {
    const pods = await this.instance.kubectl("get", "pods", "-l", `mydb.example.com/database=${this.name}`, "-o", "jsonpath={.items[*].metadata.name}");
    return Promise.all(pods.split(" ").map(async (pod) => readlink(`/proc/${await this.serverPid(pod)}/exe`)));
  }

  async serverPid(pod: string): Promise<number> {
    const volumes = path.join(this.instance.dataDir, "volumes");
    const volume = (await readdir(volumes)).find((name) => name.endsWith(`_data-${pod}`))!;
    return Number((await readFile(path.join(volumes, volume, "data", "postmaster.pid"), "utf8")).split("\n")[0]);
  }

  /** The agent, its server, and the server's children. */
  async processes(pod: string): Promise<number[]> {
    const server = await this.serverPid(pod);
    const parentOf = async (pid: number) => Number((await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")).replace(/^.*\) /, "").split(" ")[1]);
    const all = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
    const children = (await Promise.all(all.map(async (pid) => ((await parentOf(pid)) === server ? [pid] : [])))).flat();
    return [await parentOf(server), server, ...children];
  }
}

/** Inserts one number after the other; which were acknowledged is known. */
class Writer implements AsyncDisposable {
  readonly #database: Database;
  readonly #acknowledged: number[] = [];
  #isStopped = false;
  readonly #running: Promise<void>;

  constructor(database: Database) {
    this.#database = database;
    this.#running = this.#run();
  }

  /** Resolves when so many more were acknowledged. */
  async acknowledges(more: number): Promise<void> {
    const from = this.#acknowledged.length;
    await until(async () => (this.#acknowledged.length >= from + more ? true : undefined), `${more} acknowledged writes`, 60_000);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async missing(): Promise<number[]> {
    const there = new Set((await this.#database.query("select id from t")).split("\n").map(Number));
    return this.#acknowledged.filter((id) => !there.has(id));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    let address = await this.#database.address();
    for (let id = 1; !this.#isStopped; id++) {
      const env = { PGPASSWORD: address.password, PGCONNECT_TIMEOUT: "1" };
      const answer = await run("psql", ["-AtXq", "-h", address.host, "-U", "postgres", "-d", "postgres", "-c", `insert into t values (${id}) returning id`], {
        env,
        timeoutMs: 2000,
      }).catch(() => "");
      if (answer === String(id)) this.#acknowledged.push(id);
      else address = await this.#database.address().catch(() => address);
    }
  }
}

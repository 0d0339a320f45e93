/** What goes wrong ends in one line that says what to do, exit code 1 (or 2 for a wrong command line), and nothing half-made. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, asNobody, runCoracle, until, whyNoContainers } from "./instance.ts";

const noContainers = await whyNoContainers();
const isRoot = process.getuid?.() === 0;
const needsRoot = { skip: isRoot ? false : "needs root" };
const simulated = ["--port", "16450", "--runtime", "simulated", "--kubelet.port=16260"];

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "coracle-faults-"));
  await chmod(folder, 0o755);
  // Builds what is stale, before somebody runs it who may not.
  assert.equal(runCoracle(["version"]).code, 0);
});
after(async () => {
  await rm(folder, { recursive: true });
});

/** Runs it and compares exit code and the one line; log lines may stand before it. */
function assertFails(args: readonly string[], expected: { readonly code: 1 | 2; readonly says: string | RegExp }, through: readonly string[] = []): void {
  const { code, stdout, stderr } = runCoracle(args, through);
  const said = stderr
    .trimEnd()
    .split("\n")
    .filter((line) => !/^\S+Z (INFO|WARN) /.test(line));
  assert.deepEqual([code, stdout, said.length], [expected.code, "", 1], `${stdout}${stderr}`);
  if (typeof expected.says === "string") assert.equal(said[0], `coracle: ${expected.says}`);
  else assert.match(said[0]!, expected.says);
}

describe("a wrong command line", () => {
  const cases: readonly [args: readonly string[], says: string][] = [
    [["nope"], 'unknown command "nope": `coracle help` lists them'],
    [["up", "--nope"], "unknown option --nope: `coracle help up` lists them"],
    [["up", "--port"], "option --port wants a value"],
    [["up", "--port", "x"], '--port wants a number from 0 to 65535; not "x"'],
    [["up", "--nodes", "0"], '--nodes wants a number from 1 to 10000; not "0"'],
    [["up", "--runtime", "docker"], '--runtime is one of auto, containerd, process, simulated; not "docker"'],
    [["up", "--store", "sqlite"], '--store is one of lmdb, memory, etcd=URL,…; not "sqlite"'],
    [["up", "--pod-cidr", "10.0.0.0"], '--pod-cidr wants a range of addresses such as 10.244.0.0/16; not "10.0.0.0"'],
    [
      ["up", "--components", "apiserver,nope"],
      '--components knows apiserver, controllers, scheduler, kubelet, proxy, dns, network, cloud, metrics, storage, nodes; not "nope"',
    ],
    [["up", "--apiserver.nope=1"], "unknown flag: --nope"],
    [["up", "--detach", "--apiserver.nope=1"], "unknown flag: --nope"],
    [["reset", "somewhere"], 'unexpected word "somewhere": `coracle reset --data-dir somewhere` takes a directory'],
    [["image", "load"], "usage: coracle image load FILE | ls | rm NAME   [--data-dir DIR] [--containerd-socket PATH]"],
  ];
  for (const [args, says] of cases) {
    test(args.join(" "), () => {
      const dataDir = path.join(folder, "wrong-usage");
      assertFails(args[0] === "up" ? [...args, "--data-dir", dataDir] : args, { code: 2, says });
      assert.equal(existsSync(dataDir), false);
    });
  }
});

describe("a place that cannot be used", () => {
  test("a file where the data directory should be", async () => {
    const file = path.join(folder, "file");
    await writeFile(file, "");
    assertFails(["up", "--data-dir", file, ...simulated], {
      code: 1,
      says: `cannot use ${file} (a file is in the way): choose another directory with --data-dir`,
    });
  });

  test("a place that takes no directories", () =>
    assertFails(["up", "--data-dir", "/proc/coracle/data", ...simulated], {
      code: 1,
      says: "no directory can be made in /proc: choose another directory with --data-dir",
    }));

  test("a data directory of somebody else", needsRoot, async () => {
    const locked = path.join(folder, "locked");
    await mkdir(locked, { mode: 0o700 });
    for (const dataDir of [locked, path.join(locked, "inside")]) {
      assertFails(
        ["up", "--data-dir", dataDir, ...simulated],
        { code: 1, says: `cannot use ${dataDir} (permission denied): run this as its owner, or choose another directory with --data-dir` },
        asNobody,
      );
    }
    for (const command of ["status", "logs", "down", "reset"])
      assertFails([command, "--data-dir", locked], { code: 1, says: /^coracle: cannot use .* \(permission denied\): run this as its owner/ }, asNobody);
    assert.deepEqual(await readdir(locked), []);
  });

  test("a data directory that another user has made is left to that user", needsRoot, async () => {
    const dataDir = path.join(folder, "of-nobody");
    await mkdir(path.join(dataDir, "pki"), { recursive: true });
    await chown(path.join(dataDir, "pki"), 65_534, 65_534);
    await writeFile(path.join(dataDir, "pki", "service-account.key"), "");
    const says = `${dataDir} belongs to user 65534: run this as that user, or choose another directory with --data-dir`;
    for (const args of [["up", ...simulated], ["down"], ["reset"]]) assertFails([...args, "--data-dir", dataDir], { code: 1, says });
    assert.deepEqual(await readdir(dataDir), ["pki"]);
  });

  test("a folder that is not ours is not reset", async () => {
    const other = path.join(folder, "other");
    await mkdir(path.join(other, "pki"), { recursive: true });
    assert.equal(runCoracle(["reset", "--data-dir", other]).stdout, `Nothing of ours lies at ${other}.\n`);
    assert.deepEqual(await readdir(other), ["pki"]);
  });

  test("an address of another machine", () => {
    const dataDir = path.join(folder, "address");
    assertFails(["up", "--data-dir", dataDir, ...simulated, "--bind-address", "192.0.2.254"], {
      code: 1,
      says: "192.0.2.254 is no address of this machine: choose one that is with --bind-address",
    });
    assert.equal(existsSync(dataDir), false);
  });
});

describe("a taken port", () => {
  const servers: Server[] = [];
  before(async () => {
    for (const port of [16_450, 16_260]) {
      const server = createServer().listen(port, "0.0.0.0");
      await once(server, "listening");
      servers.push(server);
    }
  });
  after(() => {
    for (const server of servers) server.close();
  });
  const cases: readonly [name: string, args: readonly string[], says: string][] = [
    ["the API server's", ["--port", "16450"], "port 16450 is taken: stop what listens there, or choose another with --port"],
    ["the same, in the background", ["--port", "16450", "--detach"], "port 16450 is taken: stop what listens there, or choose another with --port"],
    ["the kubelet's", ["--port", "16451", "--kubelet.port=16260"], "the kubelet's port 16260 is taken: choose another with --kubelet.port"],
  ];
  for (const [name, args, says] of cases) {
    test(name, () => {
      const dataDir = path.join(folder, "port");
      assertFails(["up", "--data-dir", dataDir, "--runtime", "simulated", ...args], { code: 1, says });
      assert.equal(existsSync(dataDir), false);
    });
  }
});

describe("a missing runtime", () => {
  const dataDir = () => path.join(folder, "runtime");
  const args = () => ["up", "--data-dir", dataDir(), "--port", "16452", "--kubelet.port=16261", "--runtime", "containerd"];

  test("no root", () => {
    assertFails(
      ["up", "--data-dir", path.join("/tmp", `coracle-no-root-${process.pid}`), ...args().slice(3)],
      { code: 1, says: "containers cannot run here: it takes root: run as root; or use --runtime process" },
      isRoot ? asNobody : [],
    );
    assert.equal(existsSync(path.join("/tmp", `coracle-no-root-${process.pid}`)), false);
  });

  test("a containerd that does not answer", { skip: noContainers ?? false }, () => {
    assertFails([...args(), "--pod-cidr", "10.79.0.0/16", "--service-cidr", "10.78.0.0/16", "--containerd-socket", "/nowhere/containerd.sock"], {
      code: 1,
      says: "no containerd answers at /nowhere/containerd.sock (ENOENT): start it, or leave out --containerd-socket to have one of our own",
    });
    assert.equal(existsSync(dataDir()), false);
  });

  test("no containerd", { skip: noContainers ?? false }, () => {
    const hidden = ["unshare", "--mount", "sh", "-c", 'mount --bind /dev/null "$(command -v containerd)" && exec "$@"', "sh"];
    assertFails(
      args(),
      { code: 1, says: "containers cannot run here: containerd missing: install with apt-get install containerd; or use --runtime process" },
      hidden,
    );
    assert.equal(existsSync(dataDir()), false);
  });
});

describe("a store that cannot be read", () => {
  let made: string;
  before(async () => {
    await using instance = await Instance.create();
    await instance.end(await instance.start({ args: simulated }), "SIGTERM");
    made = path.join(folder, "made");
    await cp(instance.dataDir, made, { recursive: true });
  });
  const cases: readonly [name: string, spoil: (store: string) => Promise<void>, says: RegExp][] = [
    [
      "written by a newer version",
      (store) => writeFile(path.join(store, "format"), "coracle-store 99\n"),
      /^coracle: \S+ was written by a newer version \(format 99, this one reads \d+\); run that version$/,
    ],
    [
      "cut off",
      (store) => truncate(path.join(store, "checkpoint.mdb"), 5000),
      /^coracle: \S+ is cut off \(5000 bytes instead of \d+\); restore the data directory from a backup$/,
    ],
    [
      "overwritten",
      (store) => writeFile(path.join(store, "checkpoint.mdb"), Buffer.alloc(100_000, 7)),
      /^coracle: \S+ is damaged \(.*\); restore the data directory from a backup$/,
    ],
    [
      "the keys are spoilt",
      (store) => writeFile(path.join(store, "..", "pki", "ca.crt"), "no certificate"),
      /^coracle: ca\.crt or ca\.key in \S+ is damaged: restore the data directory from a backup$/,
    ],
  ];
  for (const [name, spoil, says] of cases) {
    test(name, async () => {
      const dataDir = path.join(folder, name.replaceAll(" ", "-"));
      await cp(made, dataDir, { recursive: true });
      await spoil(path.join(dataDir, "store"));
      assertFails(["up", "--data-dir", dataDir, ...simulated], { code: 1, says });
      assert.ok((await readdir(path.join(dataDir, "store"))).length > 0, "what may still be saved is left alone");
    });
  }
});

describe("a second process on the same data directory", () => {
  test("is refused", async () => {
    await using instance = await Instance.create();
    await instance.start({ args: simulated });
    assertFails(["up", "--data-dir", instance.dataDir, "--port", "16453", "--runtime", "simulated", "--kubelet.port=16262"], {
      code: 1,
      says: /^coracle: process \d+ already runs \S+: stop it with `coracle down --data-dir \S+`$/,
    });
    assertFails(["up", "--detach", "--data-dir", instance.dataDir], {
      code: 1,
      says: /^coracle: process \d+ already runs \S+: stop it with `coracle down --data-dir \S+`$/,
    });
    assert.equal(await instance.kubectl("get", "--raw", "/readyz"), "ok");
  });
});

describe("a full disk", needsRoot, () => {
  test("a first start is refused and leaves nothing", async () => {
    const directory = path.join(folder, "full-disk");
    await using disk = await smallDisk(directory);
    await disk.fill();
    assertFails(["up", "--data-dir", path.join(directory, "data"), ...simulated], {
      code: 1,
      says: /^coracle: .*no space is left\)?: make room, or choose another directory with --data-dir$/,
    });
    assert.deepEqual(await readdir(directory), ["filling"]);
  });

  test("writes are refused with a clear Status; once there is room they are taken again", async () => {
    await using disk = await smallDisk(path.join(folder, "disk"));
    await using instance = await Instance.create(path.join(folder, "disk"));
    const server = await instance.start({ args: simulated });
    await instance.kubectl("create", "configmap", "before", "--from-literal=a=1");
    await disk.fill();
    const large = path.join(folder, "large");
    await writeFile(large, "x".repeat(400_000));
    const create = (name: string) => instance.kubectl("create", "configmap", name, `--from-file=${large}`);
    await assert.rejects(create("refused"), /error: failed to create configmap: etcdserver: mvcc: database space exceeded/);
    assert.equal(await instance.kubectl("get", "configmap", "before", "-o", "jsonpath={.data.a}"), "1");
    await disk.empty();
    await until(
      () =>
        create("taken").then(
          () => true,
          () => undefined,
        ),
      "a write that is taken",
    );
    await instance.end(server, "SIGKILL");
    await instance.start({ args: simulated });
    assert.equal(await instance.kubectl("get", "configmaps", "before", "taken", "-o", "name"), "configmap/before\nconfigmap/taken");
  });
});

/** Mounts 12 MiB on `directory`. */
async function smallDisk(directory: string): Promise<{ fill(): Promise<void>; empty(): Promise<void> } & AsyncDisposable> {
  await mkdir(directory, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=12m", "tmpfs", directory]);
  const filling = path.join(directory, "filling");
  return {
    async fill() {
      for (let size = 64 * 1024 * 1024; size >= 1024; size /= 2)
        await writeFile(filling, Buffer.alloc(size), { flag: "a" }).catch((error: NodeJS.ErrnoException) => assert.equal(error.code, "ENOSPC"));
    },
    empty: () => rm(filling),
    async [Symbol.asyncDispose]() {
      execFileSync("umount", [directory]);
    },
  };
}

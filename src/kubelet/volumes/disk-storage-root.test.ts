/** What only root can show: mounts, owners, and links exchanged while a sub path is prepared. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, chown, lchown, mkdir, mkdtemp, readFile, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { systemClock } from "../../base/clock.ts";
import type { PersistentVolume, Pod, Volume } from "../../api/core-v1/types.ts";
import { Client } from "../../client/index.ts";
import { createMounts, startPrograms } from "../../host/index.ts";
import type { Mounts } from "../../host/index.ts";
import { DiskStorage } from "./disk-storage.ts";
import { removeMountPointsBelow } from "./mount-points.ts";
import { giveToGroup } from "./ownership.ts";
import type { VolumeSources } from "./pod-storage.ts";
import { bindSubPath, makeSubPath } from "./sub-path.ts";
import type { ResolvedVolume } from "./volume.ts";

const isRoot = process.getuid?.() === 0 && process.platform === "linux";
const sources: VolumeSources = {
  facts: { podIPs: [], nodeAddress: "", allocatable: { memory: "64Mi" } },
  node: () => ({ metadata: { name: "n1", labels: {} } }),
  followNode: () => undefined,
  tell: () => undefined,
  client: new Client({
    transport: { send: () => Promise.reject(new Error("there is no server")), close: async () => undefined } as never,
    clock: new VirtualClock(),
    userAgent: "test",
  }),
  configMap: () => undefined,
  secret: () => undefined,
  token: async () => ({ token: "", expirationTimestamp: "", refreshAtMs: 0 }),
  trustBundles: () => [],
  certificate: async () => ({ key: "KEY\n", chain: "CHAIN\n", refreshAtMs: 500 }),
};
const signal = new AbortController().signal;
const podOf = (spec: Partial<NonNullable<Pod["spec"]>> = {}): Pod => ({ metadata: { name: "p", namespace: "n", uid: "u" }, spec: { containers: [], ...spec } });
const inPod = (volume: Volume): ResolvedVolume => ({ name: volume.name, specName: volume.name, volume, isReadOnly: false, isBlock: false });
const ofClaim = (spec: NonNullable<PersistentVolume["spec"]>, more: Partial<ResolvedVolume> = {}): ResolvedVolume => ({
  ...inPod({ name: "data", persistentVolumeClaim: { claimName: "c" } }),
  specName: "pv",
  persistent: { metadata: { name: "pv" }, spec },
  ...more,
});

describe("volumes on disk, as root", { skip: isRoot ? false : "needs root" }, () => {
  test("emptyDir in memory has the least of its limit, the pod's and the node's; all is gone after tear-down", async () => {
    await using machine = await startMachine();
    const storage = await machine.storage();
    const limited = podOf({ containers: [{ name: "c", resources: { limits: { memory: "8Mi" } } }] });
    const memory = inPod({ name: "m", emptyDir: { medium: "Memory" } });
    assert.deepEqual(await storage.setUp(limited, [memory, inPod({ name: "s", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } })], sources, signal), {
      faults: [],
    });
    assert.deepEqual([sizeOf(storage.ready("u", "m")!.path), sizeOf(storage.ready("u", "s")!.path)], ["8192", "1024"]);
    // What an earlier kubelet mounted stays.
    const again = await machine.storage();
    await again.setUp(limited, [memory], sources, signal);
    assert.equal((await machine.mountPoints()).filter((path) => path.endsWith("/m")).length, 1);
    assert.deepEqual(await again.podUids(), ["u"]);
    await again.tearDown("u");
    assert.deepEqual(
      [await again.podUids(), (await machine.mountPoints()).map((path) => path.split("/").at(-1)).filter((name) => name !== "kubelet")],
      [[], ["memory"]],
    );
    // Where mounts are private, as on this machine maybe, the kubelet's folder is made a shared one.
    assert.ok((await machine.mounts.list()).find(({ mountPoint }) => mountPoint === join(machine.path, "kubelet/memory"))?.isShared);
  });

  test("a local volume is a mount of the pod's, with its options and its group; its data outlive the pod", async () => {
    await using machine = await startMachine();
    const storage = await machine.storage();
    const disk = join(machine.path, "disk");
    await mkdir(join(disk, "inner"), { recursive: true });
    await writeFile(join(disk, "inner", "file"), "data", { mode: 0o600 });
    const volume = ofClaim({ local: { path: disk }, mountOptions: ["noexec"] });
    assert.deepEqual((await storage.setUp(podOf({ securityContext: { fsGroup: 1234 } }), [volume], sources, signal)).faults, []);
    const { path } = storage.ready("u", "data")!;
    const options = (await machine.mounts.list()).find(({ mountPoint }) => mountPoint === path)?.options;
    assert.ok(options?.includes("noexec") && options.includes("rw"), String(options));
    const shown = async (name: string) => [(await stat(join(path, name))).gid, ((await stat(join(path, name))).mode & 0o7777).toString(8)];
    assert.deepEqual(
      [await shown("."), await shown("inner"), await shown("inner/file")],
      [
        [1234, "2775"],
        [1234, "2775"],
        [1234, "660"],
      ],
    );
    await storage.tearDown("u");
    assert.equal(await readFile(join(disk, "inner", "file"), "utf8"), "data");
    const faults = await storage.setUp(
      podOf(),
      [ofClaim({ local: { path: join(disk, "nothing") } }), ofClaim({ nfs: { server: "s", path: "/" }, local: { path: disk } }, { isReadOnly: true })],
      sources,
      signal,
    );
    assert.deepEqual(faults.faults[0]?.event, {
      reason: "FailedMount",
      message: `MountVolume.NewMounter initialization failed for volume "pv" : path "${disk}/nothing" does not exist`,
    });
    await assert.rejects(writeFile(join(storage.ready("u", "data")!.path, "x"), ""), { code: "EROFS" });
    await storage.tearDown("u");
  });

  test("an empty disk gets a file system once; pods share its mount until the last one goes", async () => {
    await using machine = await startMachine();
    const storage = await machine.storage();
    const device = machine.loopDevice(32);
    const volume = ofClaim({ local: { path: device, fsType: "ext4" } });
    const other: Pod = { ...podOf(), metadata: { name: "q", namespace: "n", uid: "u2" } };
    for (const pod of [podOf(), other]) assert.deepEqual((await storage.setUp(pod, [volume], sources, signal)).faults, []);
    await writeFile(join(storage.ready("u", "data")!.path, "file"), "kept");
    assert.equal(await readFile(join(storage.ready("u2", "data")!.path, "file"), "utf8"), "kept");
    await storage.tearDown("u");
    assert.equal((await machine.mounts.list()).filter(({ source }) => source === device).length, 2);
    await storage.tearDown("u2");
    assert.equal((await machine.mounts.list()).filter(({ source }) => source === device).length, 0);
    await storage.setUp(podOf(), [volume], sources, signal);
    assert.equal(await readFile(join(storage.ready("u", "data")!.path, "file"), "utf8"), "kept");
    await storage.tearDown("u");
    const block = ofClaim({ local: { path: device }, volumeMode: "Block" }, { isBlock: true });
    await storage.setUp(podOf(), [block], sources, signal);
    assert.deepEqual(storage.ready("u", "data"), { path: device, isReadOnly: false, isBlock: true });
  });

  test("a mount that was overlooked keeps its data: its place is not removed with what is in it", async () => {
    await using machine = await startMachine();
    const [data, place] = ["data", "place"].map((name) => join(machine.path, name)) as [string, string];
    await mkdir(data);
    await writeFile(join(data, "file"), "kept");
    await mkdir(join(place, "a", "b"), { recursive: true });
    await machine.mounts.bind(data, join(place, "a", "b"));
    await assert.rejects(removeMountPointsBelow(place, 2), { code: "EBUSY" });
    assert.equal(await readFile(join(data, "file"), "utf8"), "kept");
    await machine.mounts.unmount(join(place, "a", "b"));
    await removeMountPointsBelow(place, 2);
    assert.deepEqual(await readdir(join(place, "a")), []);
  });

  test("a failed NFS mount says what was tried", async () => {
    await using machine = await startMachine();
    const storage = await machine.storage();
    const { faults } = await storage.setUp(podOf(), [inPod({ name: "v", nfs: { server: "192.0.2.1", path: "/x" } })], sources, signal);
    assert.match(
      faults[0]?.event?.message ?? "",
      /^MountVolume\.SetUp failed for volume "v" : mount failed: exit status \d+\nMounting command: mount\nMounting arguments: -t nfs 192\.0\.2\.1:\/x .*\nOutput: /,
    );
  });

  test("sub paths: made with the volume's mode, bound by what was opened, refused when they lead out", async () => {
    await using machine = await startMachine();
    const storage = await machine.storage();
    await storage.setUp(podOf(), [inPod({ name: "v", emptyDir: {} })], sources, signal);
    const base = storage.ready("u", "v")!.path;
    const place = (subPath: string, index = 0) => storage.subPath({ podUid: "u", volumeName: "v", containerName: "c", index, subPath });
    const made = await place("a/b");
    assert.equal((await stat(join(base, "a/b"))).mode & 0o777, 0o777);
    await writeFile(join(base, "a/b/f"), "1");
    assert.equal(await readFile(join(made, "f"), "utf8"), "1");
    // A link inside the volume is no harm.
    await symlink("a", join(base, "inside"));
    assert.deepEqual(await readdir(await place("inside/b", 1)), ["f"]);
    assert.equal(await readFile(await place("a/b/f", 2), "utf8"), "1");
    // A container started again gets what is there now.
    await rename(join(base, "a"), join(base, "old"));
    assert.deepEqual(await readdir(await place("a/b")), []);
    await symlink("/etc", join(base, "out"));
    await assert.rejects(place("out/new"), { message: 'failed to create subPath directory for volumeMount "v" of container "c"' });
    await assert.rejects(place("out"), { message: 'failed to create subPath directory for volumeMount "v" of container "c"' });
    await storage.tearDown("u");
    assert.deepEqual(await storage.podUids(), []);
  });

  test("a file of a volume is read inside it only, and only when it is a small plain one", async () => {
    await using machine = await startMachine();
    const storage = await machine.storage();
    await storage.setUp(podOf(), [inPod({ name: "v", emptyDir: {} })], sources, signal);
    const base = storage.ready("u", "v")!.path;
    const read = (path: string) => storage.readVolumeFile({ podUid: "u", volumeName: "v", path, limitBytes: 4 });
    await writeFile(join(base, "file"), "text");
    await writeFile(join(base, "large"), "texts");
    await symlink("/etc/hostname", join(base, "out"));
    execFileSync("mkfifo", [join(base, "pipe")]);
    assert.deepEqual([await read("file"), await read("none")], ["text", undefined]);
    await assert.rejects(read("large"), { message: "it is larger than 4 bytes" });
    await assert.rejects(read("out"), { message: "it leads out of the volume" });
    await assert.rejects(read("pipe"), { message: "it is not a regular file" });
    await storage.tearDown("u");
  });

  test("a process that exchanges a directory for a link never gets the link's target", async () => {
    await using machine = await startMachine();
    const volumePath = join(machine.path, "volume");
    await mkdir(join(volumePath, "a", "b"), { recursive: true });
    await mkdir(join(machine.path, "secret", "b"), { recursive: true });
    await writeFile(join(machine.path, "secret", "b", "key"), "x");
    await symlink(join(machine.path, "secret"), join(volumePath, "link"));
    const racing = new AbortController();
    const race = (async () => {
      const [a, link, aside] = ["a", "link", "aside"].map((name) => join(volumePath, name)) as [string, string, string];
      while (!racing.signal.aborted) {
        await rename(a, aside);
        await rename(link, a);
        await rename(a, link);
        await rename(aside, a);
        // Long enough in its place for the other side to get that far now and then.
        for (let step = 0; step < 15; step++) await stat(a);
      }
    })();
    let bound = 0;
    for (let round = 0; round < 60; round++) {
      const target = join(machine.path, "targets", String(round));
      const isBound = await makeSubPath({ volumePath, subPath: "a/b" })
        .then(() => bindSubPath({ volumePath, subPath: "a/b" }, target, machine.mounts))
        .then(
          () => true,
          () => false,
        );
      if (!isBound) continue;
      bound++;
      assert.deepEqual(await readdir(target), []);
      await machine.mounts.unmount(target);
    }
    racing.abort();
    await race;
    assert.deepEqual(await readdir(join(machine.path, "secret")), ["b"]);
    assert.ok(bound > 0);
  });

  test("a volume is given to a group without following links; on root mismatch only when its top differs", async () => {
    await using machine = await startMachine();
    const path = join(machine.path, "v");
    await mkdir(join(path, "d"), { recursive: true });
    await chmod(path, 0o750);
    await writeFile(join(path, "d", "f"), "", { mode: 0o640 });
    const outside = join(machine.path, "outside");
    await writeFile(outside, "", { mode: 0o600 });
    await symlink(outside, join(path, "link"));
    const shown = async (name: string) => `${(await stat(join(path, name))).gid} ${((await stat(join(path, name))).mode & 0o7777).toString(8)}`;
    await giveToGroup(path, { group: 7, isReadOnly: false, isOnRootMismatch: true });
    assert.deepEqual([await shown("."), await shown("d"), await shown("d/f")], ["7 2770", "7 2775", "7 660"]);
    assert.deepEqual([(await stat(outside)).gid, (await stat(outside)).mode & 0o777], [0, 0o600]);
    await chown(join(path, "d", "f"), 0, 0);
    await lchown(join(path, "link"), 0, 0);
    await giveToGroup(path, { group: 7, isReadOnly: false, isOnRootMismatch: true });
    assert.equal(await shown("d/f"), "0 660");
    await giveToGroup(path, { group: 7, isReadOnly: false, isOnRootMismatch: false });
    assert.equal(await shown("d/f"), "7 660");
  });
});

interface TestMachine extends AsyncDisposable {
  readonly path: string;
  readonly mounts: Mounts;
  storage(): Promise<DiskStorage>;
  /** Of the test's own. */
  mountPoints(): Promise<string[]>;
  loopDevice(megabytes: number): string;
}

async function startMachine(): Promise<TestMachine> {
  const path = await mkdtemp(join(tmpdir(), "kubelet-disk-"));
  const programs = startPrograms({ clock: systemClock() });
  const mounts = createMounts({ programs });
  const devices: string[] = [];
  return {
    path,
    mounts,
    storage: async () => {
      const storage = new DiskStorage({ root: join(path, "kubelet"), clock: new VirtualClock(), host: { mounts, programs } });
      await storage.start();
      return storage;
    },
    mountPoints: async () => (await mounts.list()).map(({ mountPoint }) => mountPoint).filter((point) => point.startsWith(path)),
    loopDevice: (megabytes) => {
      const file = join(path, "image");
      execFileSync("truncate", ["-s", `${megabytes}M`, file]);
      const device = execFileSync("losetup", ["--find", "--show", file], { encoding: "utf8" }).trim();
      devices.push(device);
      return device;
    },
    async [Symbol.asyncDispose]() {
      await mounts.unmountBelow(path);
      for (const device of devices) execFileSync("losetup", ["--detach", device]);
      await programs.close();
      await rm(path, { recursive: true });
    },
  };
}

function sizeOf(path: string): string {
  return execFileSync("df", ["--output=size", "-k", path], { encoding: "utf8" }).split("\n")[1]!.trim();
}

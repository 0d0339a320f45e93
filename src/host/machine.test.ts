import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEffectiveCapabilities } from "./capabilities.ts";
import { parseHierarchies } from "./cgroups.ts";
import { parseMountInfo, readSteadily } from "./mounts.ts";
import { parseProcessStat, readProcessTree } from "./processes.ts";

test("effective capabilities by name", () => {
  const all = parseEffectiveCapabilities("Name:\tnode\nCapEff:\t000001ffffffffff\n");
  assert.equal(all.has("CAP_SYS_RESOURCE"), true);
  const some = parseEffectiveCapabilities("CapEff:\t000001fffeffffff\n");
  assert.equal(some.has("CAP_SYS_RESOURCE"), false);
  assert.equal(some.has("CAP_SYS_ADMIN"), true);
  assert.equal(parseEffectiveCapabilities("").size, 0);
});

test("cgroup hierarchies", () => {
  const v1 = parseHierarchies(
    "cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu,cpuacct 0 0\ncgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
  );
  assert.deepEqual(
    [...v1.byController],
    [
      ["cpu", "/sys/fs/cgroup/cpu"],
      ["cpuacct", "/sys/fs/cgroup/cpu"],
    ],
  );
  assert.deepEqual([v1.named, v1.unified], [["/sys/fs/cgroup/systemd"], "/sys/fs/cgroup/unified"]);
  const v2 = parseHierarchies("cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n");
  assert.deepEqual([v2.byController.size, v2.unified], [0, "/sys/fs/cgroup"]);
});

test("a table of mounts counts once it reads the same twice", async () => {
  const reads = ["a b", "a", "a b c", "a b c", "x"];
  assert.equal(await readSteadily("/x", async () => reads.shift()!), "a b c");
  let reading = 0;
  await assert.rejects(
    readSteadily("/x", async () => String(reading++)),
    { message: "/x did not stay the same for two of 50 reads" },
  );
});

test("mountinfo with blanks in a path", () => {
  assert.deepEqual(parseMountInfo("36 35 98:0 /a /mnt\\040one rw,noatime shared:1 - ext4 /dev/vda rw\n"), [
    { root: "/a", mountPoint: "/mnt one", options: ["rw", "noatime"], isShared: true, type: "ext4", source: "/dev/vda" },
  ]);
});

test("a process whose name has blanks and parentheses", () => {
  const stat = "42 (a) b) S 1 42 42 0 -1 4194560 100 0 0 0 10 5 1 0 20 0 1 0 777 5000000 250 1844674407370955161 1 1 0";
  assert.deepEqual(parseProcessStat(stat), { pid: 42, parentPid: 1, processGroup: 42, startTicks: 777, cpuMs: 160, residentBytes: 1_024_000, isZombie: false });
});

test("our own process", async () => {
  assert.equal((await readProcessTree(process.pid))[0]?.parentPid, process.ppid);
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { detectCgroups } from "./cgroups.ts";
import { createMounts } from "./mounts.ts";
import { createNetworkNamespaces } from "./namespaces.ts";
import { createNft, NftError } from "./nft.ts";
import { startPrograms } from "./programs.ts";

describe("the machine's own things", { skip: whyNot() ?? false }, () => {
  const programs = startPrograms({ clock: systemClock() });
  const name = `ct${process.pid}`;
  after(() => programs.close());

  test("nft: a transaction whole or not at all", async () => {
    const nft = createNft({ programs });
    assert.match((await nft.version())!, /^\d+\./);
    await nft.apply(`table ip ${name} { chain one { }; }`);
    await assert.rejects(nft.apply(`add chain ip ${name} two\nadd rule ip ${name} nowhere accept`), NftError);
    const listed = (await nft.list(["list", "table", "ip", name])) as { chain?: { name: string } }[];
    assert.deepEqual(
      listed.flatMap(({ chain }) => chain?.name ?? []),
      ["one"],
    );
    await nft.apply(`delete table ip ${name}`);
    await assert.rejects(nft.list(["list", "table", "ip", name]), (error) => error instanceof NftError && error.reason === "NotFound");
  });

  test("network namespaces: made and removed, twice each", async () => {
    const namespaces = createNetworkNamespaces({ programs });
    for (let round = 0; round < 2; round++) {
      await namespaces.add(name);
      await namespaces.addVethPair({ name, peer: "eth0", namespace: name });
      await namespaces.addAddress("eth0", "10.197.0.2/24", name);
      await namespaces.addRoute({ destination: "default", via: "10.197.0.1" }, name);
    }
    assert.ok((await namespaces.list()).includes(name));
    const [link] = await namespaces.ipJson(["address", "show", "dev", "eth0"], name);
    assert.equal((link!["addr_info"] as { local: string }[])[0]!.local, "10.197.0.2");
    for (let round = 0; round < 2; round++) {
      await namespaces.removeLink(name);
      await namespaces.remove(name);
    }
    assert.ok(!(await namespaces.list()).includes(name));
  });

  test("mounts: a tmpfs and a bind inside it, unmounted together", async () => {
    const mounts = createMounts({ programs });
    const directory = await mkdtemp(join(tmpdir(), "mounts "));
    await mounts.mountTmpfs(directory, { sizeBytes: 1 << 20, mode: "0700" });
    await mounts.bind("/etc", directory, { isReadOnly: true });
    const ours = (await mounts.list()).filter(({ mountPoint }) => mountPoint === directory);
    assert.deepEqual(ours.map(({ type }) => type)[0], "tmpfs");
    assert.ok(ours[1]!.options.includes("ro"));
    await mounts.unmountBelow(directory);
    await mounts.unmountBelow(directory);
    assert.ok(!(await mounts.list()).some(({ mountPoint }) => mountPoint === directory));
    await rm(directory, { recursive: true });
  });

  test("cgroups: a group made and removed, twice each", async () => {
    const cgroups = (await detectCgroups())!;
    for (let round = 0; round < 2; round++) await cgroups.create(`/${name}/inner`);
    assert.ok(cgroups.controllers.has("memory"));
    assert.ok(cgroups.directory("memory", `/${name}/inner`)!.endsWith(`/${name}/inner`));
    for (let round = 0; round < 2; round++) {
      await cgroups.remove(`/${name}/inner`);
      await cgroups.remove(`/${name}`);
    }
  });
});

function whyNot(): string | undefined {
  if (process.geteuid?.() !== 0) return "needs root";
  for (const program of ["nft", "ip", "mount"]) {
    try {
      execFileSync("sh", ["-c", `command -v ${program}`]);
    } catch {
      return `needs ${program}`;
    }
  }
  return undefined;
}

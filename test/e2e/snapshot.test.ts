/** `coracle snapshot save` and `restore`: of an instance that runs, of one that does not, into the same and into another data directory. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, runCoracle } from "./instance.ts";

describe("snapshots", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "snapshots-"));
  const file = path.join(folder, "snapshot");
  let instance: Instance;
  const up = () => instance.start({ args: ["--port", "16463", "--components", "apiserver"] });
  const snapshot = (action: string, name: string, dataDir = instance.dataDir) => runCoracle(["snapshot", action, name, "--data-dir", dataDir]);
  before(async () => {
    instance = await Instance.create();
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  test("of a running instance, while others write; and back", async () => {
    const running = await up();
    await instance.kubectl("create", "configmap", "kept", "--from-literal=a=1");
    const before = await instance.kubectl("get", "configmap", "kept", "-o", "json");
    let writes = 0;
    let isSaving = true;
    const writing = (async () => {
      while (isSaving) await instance.kubectl("create", "configmap", `later-${writes++}`);
    })();
    await instance.coracle("snapshot", "save", file);
    isSaving = false;
    await writing;
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ["snapshot"]);
    const refused = snapshot("restore", file);
    assert.deepEqual([refused.code, /^coracle: process \d+ runs \S+: stop it first with `coracle down --data-dir \S+`\n$/.test(refused.stderr)], [1, true]);

    await instance.kubectl("delete", "configmap", "kept");
    await instance.end(running, "SIGTERM");
    assert.equal(
      snapshot("restore", file).stderr,
      `coracle: ${instance.dataDir}/store holds a store already: move it away, or choose another data directory\n`,
    );
    renameSync(path.join(instance.dataDir, "store"), path.join(folder, "old-store"));
    assert.match(snapshot("restore", file).stdout, /^Restored \d+ keys of revision \d+: `coracle up --data-dir \S+` goes on from there\.\n$/);
    const again = await up();
    assert.equal(await instance.kubectl("get", "configmap", "kept", "-o", "json"), before);
    const created = await instance.kubectl("create", "configmap", "new", "-o", "jsonpath={.metadata.resourceVersion}");
    assert.ok(Number(created) > 1_000_000_000);
    await instance.end(again, "SIGTERM");
  });

  test("of an instance that does not run, into a data directory of its own", async () => {
    const second = path.join(folder, "second");
    assert.match(snapshot("save", second).stdout, /^Saved \d+ keys at revision \d+ to \S+\/second\.\n$/);
    await using other = await Instance.create(path.join(folder, "other"));
    assert.equal(snapshot("restore", second, other.dataDir).code, 0);
    await other.start({ args: ["--port", "16496", "--components", "apiserver"] });
    assert.equal(await other.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}"), "1");
  });

  test("what was only restored is reset like what has run", () => {
    const dataDir = path.join(folder, "restored");
    assert.equal(snapshot("restore", file, dataDir).code, 0);
    assert.equal(runCoracle(["reset", "--data-dir", dataDir]).stdout, `Removed ${dataDir} and all that it ran.\n`);
    assert.equal(readdirSync(folder).includes("restored"), false);
  });

  test("what cannot be restored or saved ends in one line, and leaves nothing", () => {
    const whole = readFileSync(file);
    const spoilt = Buffer.from(whole);
    spoilt[whole.length >> 1]! ^= 1;
    const bad = path.join(folder, "bad");
    const target = path.join(folder, "target");
    const table: [bytes: Buffer, message: string][] = [
      [whole.subarray(0, whole.length - 10), "is cut off: use another snapshot, or save it again"],
      [spoilt, "is damaged (its checksum is wrong): use another snapshot, or save it again"],
      [
        Buffer.from(whole.toString("latin1").replace("snapshot 1", "snapshot 2"), "latin1"),
        "was written by a newer version (format 2, this one reads 1): restore it with that version",
      ],
      [Buffer.from("kind: Pod"), "is no snapshot: `coracle snapshot save` writes one"],
    ];
    for (const [bytes, message] of table) {
      writeFileSync(bad, bytes);
      assert.deepEqual(snapshot("restore", bad, target), { code: 1, stdout: "", stderr: `coracle: ${bad} ${message}\n` });
      assert.equal(readdirSync(folder).includes("target"), false);
    }
    assert.equal(
      snapshot("restore", path.join(folder, "nothing"), target).stderr,
      `coracle: ${folder}/nothing cannot be read: name a file that \`coracle snapshot save\` wrote\n`,
    );
    assert.equal(snapshot("save", bad, target).stderr, `coracle: there is no store in ${target}: name the data directory with --data-dir\n`);
    assert.equal(runCoracle(["snapshot", "keep", bad]).code, 2);
  });
});

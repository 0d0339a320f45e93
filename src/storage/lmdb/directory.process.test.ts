import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { seededRandom } from "../../base/random.ts";
import { StoreError } from "../store.ts";
import { openTestStore, putText, testDirectories, textOf } from "./test-directories.ts";

const newDirectory = await testDirectories();

describe("lmdb store that is not to be opened", () => {
  const cases: { name: string; damage: (directory: string) => Promise<unknown>; reason: StoreError["reason"]; message: RegExp }[] = [
    {
      name: "a newer format",
      damage: (directory) => writeFile(join(directory, "format"), "coracle-store 2\n"),
      reason: "Unavailable",
      message: /was written by a newer version \(format 2, this one reads 1\); run that version$/,
    },
    {
      name: "an unreadable format",
      damage: (directory) => writeFile(join(directory, "format"), "?"),
      reason: "Corrupt",
      message: /format is damaged; restore/,
    },
    { name: "a missing format", damage: (directory) => rm(join(directory, "format")), reason: "Corrupt", message: /has no file format; restore/ },
    {
      name: "a missing checkpoint",
      damage: (directory) => rm(join(directory, "checkpoint.mdb")),
      reason: "Corrupt",
      message: /has a log but no checkpoint\.mdb; restore/,
    },
    {
      name: "a checkpoint that is cut off",
      damage: (directory) => truncate(join(directory, "checkpoint.mdb"), 12_288),
      reason: "Corrupt",
      message: /checkpoint\.mdb is cut off \(12288 bytes instead of \d+\); restore/,
    },
    {
      name: "an empty checkpoint",
      damage: (directory) => truncate(join(directory, "checkpoint.mdb"), 0),
      reason: "Corrupt",
      message: /checkpoint\.mdb is damaged \(it has no meta page\); restore/,
    },
    {
      name: "a checkpoint with a damaged value",
      damage: (directory) => overwrite(join(directory, "checkpoint.mdb"), "value of a stored object 7", "value of a stored object X"),
      reason: "Corrupt",
      message: /checkpoint\.mdb is damaged \(the value of \/k\/7 has a wrong checksum\); restore/,
    },
    {
      name: "a checkpoint whose pages are noise",
      damage: async (directory) => {
        const path = join(directory, "checkpoint.mdb");
        const bytes = await readFile(path);
        await writeFile(path, Buffer.concat([bytes.subarray(0, 8_192), Buffer.from(seededRandom(7).bytes(bytes.length - 8_192))]));
      },
      reason: "Corrupt",
      message: /checkpoint\.mdb is damaged \(.+\); restore/,
    },
    {
      name: "a log with damage before its end",
      damage: (directory) => overwriteLog(directory, "logged value 3", "logged value X"),
      reason: "Corrupt",
      message: /log-\d{16} is damaged \(the group at byte \d+ has a wrong checksum\); restore/,
    },
    {
      name: "other files",
      damage: async (directory) => {
        await rm(directory, { recursive: true });
        await mkdir(directory);
        await writeFile(join(directory, "notes.txt"), "mine");
      },
      reason: "Unavailable",
      message: /holds other files; choose an empty data directory$/,
    },
    {
      name: "a file in its place",
      damage: async (directory) => {
        await rm(directory, { recursive: true });
        await writeFile(directory, "a file");
      },
      reason: "Unavailable",
      message: /^the data directory cannot be used: .+; correct its permissions, or choose another one$/,
    },
  ];

  for (const { name, damage, reason, message } of cases) {
    it(`says what to do about ${name}, and changes nothing`, async () => {
      const directory = newDirectory();
      await cp(await soundDirectory(), directory, { recursive: true });
      await damage(directory);
      const before = await fingerprint(directory);
      await assert.rejects(openTestStore(directory), (error: unknown) => {
        assert.ok(error instanceof StoreError);
        assert.match(error.message, message);
        assert.ok(!error.message.includes("\n"));
        assert.equal(error.reason, reason);
        return true;
      });
      assert.deepEqual(await fingerprint(directory), before);
    });
  }

  it("says who uses the directory: this process", async () => {
    const directory = newDirectory();
    await using _store = await openTestStore(directory);
    await assert.rejects(openTestStore(directory), {
      reason: "Unavailable",
      message: `${directory} is in use by process ${process.pid}; stop it, or choose another data directory`,
    });
  });

  it("says who uses the directory: another process, until it ends", async () => {
    const directory = newDirectory();
    const writer = startWriter(directory, 1);
    await writer.acknowledged(1);
    await assert.rejects(openTestStore(directory), {
      reason: "Unavailable",
      message: `${directory} is in use by process ${writer.pid}; stop it, or choose another data directory`,
    });
    await writer.kill();
    await (await openTestStore(directory)).close();
  });

  it("cuts off a group that a crash left half written", async () => {
    const directory = newDirectory();
    await cp(await soundDirectory(), directory, { recursive: true });
    const log = (await readdir(directory)).findLast((name) => name.startsWith("log-"))!;
    const bytes = await readFile(join(directory, log));
    await writeFile(join(directory, log), bytes.subarray(0, bytes.length - 5));
    const store = await openTestStore(directory);
    const revision = await store.revision();
    assert.equal(await store.get("/log/4"), undefined);
    assert.equal(await putText(store, "/log/4", "again", 0), revision + 1);
    await store.close();
    await using again = await openTestStore(directory);
    assert.equal(textOf((await again.get("/log/4"))!.value), "again");
  });
});

describe("lmdb store that is killed", () => {
  it("has every acknowledged write, at whatever moment it was killed", async () => {
    const random = seededRandom(42);
    const directory = newDirectory();
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < 6; round++) {
      const writer = startWriter(directory, round);
      await writer.acknowledged(1 + random.integer(400));
      await writer.kill();
      for (const [key, value] of writer.values) acknowledged.set(key, value);
      await using store = await openTestStore(directory);
      for (const [key, value] of acknowledged) {
        const stored = await store.get(key);
        // The write after the last acknowledged one may have become durable too.
        assert.ok(stored !== undefined && Number.parseInt(textOf(stored.value), 10) >= value, `round ${round}: ${key} is below ${value}`);
      }
      assert.ok((await store.revision()) >= writer.revision);
    }
  });
});

let sound: Promise<string> | undefined;

/** A directory with 50 keys in the checkpoint and five in the log, closed. */
function soundDirectory(): Promise<string> {
  sound ??= (async () => {
    const directory = newDirectory();
    const first = await openTestStore(directory, { checkpointBytes: 500 });
    for (let index = 0; index < 50; index++) await putText(first, `/k/${index}`, `value of a stored object ${index} `, 0);
    await first.close();
    const second = await openTestStore(directory);
    for (let index = 0; index < 5; index++) await putText(second, `/log/${index}`, `logged value ${index} `, 0);
    await second.close();
    return directory;
  })();
  return sound;
}

async function overwrite(path: string, from: string, to: string): Promise<void> {
  const bytes = await readFile(path);
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) bytes.write(to, at);
  await writeFile(path, bytes);
}

async function overwriteLog(directory: string, from: string, to: string): Promise<void> {
  for (const name of await readdir(directory)) if (name.startsWith("log-")) await overwrite(join(directory, name), from, to);
}

/** Names and contents of a directory, LMDB's lock file apart. */
async function fingerprint(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => undefined);
  if (names === undefined) return [await readFile(directory, "utf8")];
  const hash = async (name: string) =>
    createHash("sha256")
      .update(await readFile(join(directory, name)))
      .digest("hex");
  return Promise.all(
    names
      .filter((name) => !name.endsWith("-lock"))
      .toSorted()
      .map(async (name) => `${name} ${await hash(name)}`),
  );
}

/** A process that writes to `directory` and prints what was acknowledged, until it is killed. */
function startWriter(directory: string, round: number) {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./crash-writer.ts", import.meta.url)), directory, String(round)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env.PATH },
  });
  const exited = once(child, "exit");
  const values = new Map<string, number>();
  const writer = {
    pid: child.pid!,
    values,
    revision: 0,
    /** Resolves after `count` acknowledgements. */
    async acknowledged(count: number): Promise<void> {
      let seen = 0;
      await new Promise<void>((resolve, reject) => {
        exited.then(() => reject(new Error("the writer ended by itself")));
        createInterface({ input: child.stdout }).on("line", (line) => {
          const [key, value, revision] = line.split(" ");
          values.set(key!, Number(value));
          writer.revision = Math.max(writer.revision, Number(revision));
          if (++seen === count) resolve();
        });
      });
    },
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await Promise.all([exited, child.stdout.closed ? undefined : once(child.stdout, "close")]);
    },
  };
  return writer;
}

import { deepEqual, equal } from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { rotateLog } from "./log-rotation.ts";

test("logs: moved when too large, older ones compressed, the oldest removed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "coracle-log-"));
  try {
    const path = join(directory, "0.log");
    const limits = { maxBytes: 4, maxFiles: 3 };
    await writeFile(path, "1234");
    equal(await rotateLog(path, 0, limits), false);
    for (const [index, text] of ["first", "second", "third", "fourth"].entries()) {
      await writeFile(path, text);
      equal(await rotateLog(path, index * 1000, limits), true);
    }
    deepEqual((await readdir(directory)).toSorted(), ["0.log.19700101000002.gz", "0.log.19700101000003"]);
    equal(gunzipSync(await readFile(join(directory, "0.log.19700101000002.gz"))).toString(), "third");
  } finally {
    await rm(directory, { recursive: true });
  }
});

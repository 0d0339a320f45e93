/** `kube`, the client for Rust, from crates.io (in a file of its own, since it takes long to compile): what it is asked to do stands in test/clients/rust. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { whyNoProgram } from "./instance.ts";
import { clients, execute, runClient } from "./run-client.ts";

const folder = mkdtempSync(path.join(tmpdir(), "kube-rs-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("kube-rs", { skip: (await whyNoProgram("cargo")) ?? false }, async () => {
  await execute("cargo", ["build", "--quiet", "--locked", "--target-dir", folder], { cwd: path.join(clients, "rust"), timeout: 1_500_000 });
  assert.equal(await runClient("process", [path.join(folder, "debug", "coracle-client-test")]), "kube: done\n");
});

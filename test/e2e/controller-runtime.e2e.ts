/** controller-runtime's own tests, unmodified, against `coracle envtest-assets`. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { runCoracle, whyNoProgram } from "./instance.ts";

const release = "sigs.k8s.io/controller-runtime@v0.25.2";

describe("controller-runtime", { skip: (await whyNoProgram("go")) ?? false }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "controller-runtime-"));
  const sources = path.join(folder, "sources");
  let assets: string;

  before(() => {
    assets = runCoracle(["envtest-assets"]).stdout.trim();
    execFileSync("go", ["mod", "init", "fetch"], { cwd: folder, stdio: "ignore" });
    const { Dir } = JSON.parse(execFileSync("go", ["mod", "download", "-json", release], { cwd: folder, encoding: "utf8" })) as { Dir: string };
    // Its tests write beside their sources, which the module cache does not allow.
    cpSync(Dir, sources, { recursive: true });
    for (const name of globSync("**", { cwd: sources, withFileTypes: true })) if (name.isDirectory()) chmodSync(path.join(name.parentPath, name.name), 0o755);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const name of ["envtest", "client", "controller", "manager", "cache"]) {
    test(`package ${name}`, () => {
      const { status, stdout, stderr } = spawnSync("go", ["test", "-count=1", "-timeout=15m", `./pkg/${name}`, "-ginkgo.no-color"], {
        cwd: sources,
        encoding: "utf8",
        maxBuffer: 256 << 20,
        env: { ...process.env, KUBEBUILDER_ASSETS: assets },
      });
      assert.equal(status, 0, `${/^Summarizing[^]*/m.exec(stdout)?.[0] ?? stdout.slice(-4000)}\n${stderr.slice(-2000)}`);
    });
  }
});

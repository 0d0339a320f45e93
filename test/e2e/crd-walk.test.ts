/** The walk of examples/crd, as its page has it: each command is run in one shell, and has to print what stands below it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { Instance, Session, kubectlPath, whyNoProgram } from "./instance.ts";

const example = path.resolve(import.meta.dirname, "../../examples/crd");

interface Step {
  readonly command: string;
  readonly printed: string;
}

/** The commands of a page's `console` blocks, and what they print. */
function stepsOf(page: string): Step[] {
  const blocks = [...page.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block]) => block!);
  return blocks
    .flatMap((block) => block.split(/^\$ /m).slice(1))
    .map((step) => {
      const [command = "", ...printed] = step.split("\n");
      return { command, printed: printed.join("\n").trimEnd() };
    });
}

test("the walk of examples/crd does what its page says", { skip: (await whyNoProgram("openssl")) ?? false, timeout: 240_000 }, async () => {
  await using instance = await Instance.create();
  await instance.start({ args: ["--port", "16495", "--store", "memory", "--components", "apiserver,controllers"] });
  const folder = mkdtempSync(path.join(tmpdir(), "coracle-crd-"));
  try {
    cpSync(example, folder, { recursive: true });
    // Unlike apply, create sends what stands there to the last null.
    await instance.kubectl("create", "--dry-run=server", "--validate=strict", "-f", path.join(example, "definition-v1.yaml"));
    const bin = path.join(folder, "bin");
    mkdirSync(bin);
    symlinkSync(kubectlPath, path.join(bin, "kubectl"));
    symlinkSync(process.execPath, path.join(bin, "node"));
    const env = { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}`, KUBECONFIG: path.join(instance.dataDir, "kubeconfig") };
    await using shell = new Session(spawn("bash", { cwd: folder, env }));
    // What the page starts in the background ends with the shell.
    shell.write("trap 'kill $(jobs -p) 2>/dev/null' EXIT\n");
    const steps = stepsOf(readFileSync(path.join(example, "README.md"), "utf8"));
    assert.ok(steps.length > 20);
    try {
      for (const [index, { command, printed }] of steps.entries()) {
        const before = shell.output.length;
        shell.write(`${command}\necho "step ${index} is over"\n`);
        await shell.saw(new RegExp(`step ${index} is over\n`), 60_000);
        const said = shell.output.slice(before).replace(`step ${index} is over\n`, "");
        assert.equal(said.trimEnd(), printed, command);
      }
    } finally {
      shell.end();
      await shell.ended();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

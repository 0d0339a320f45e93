import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";

const script = path.resolve(import.meta.dirname, "../../bin/kubectl");

/** Runs bin/kubectl with this version of kubectl on the PATH (none: no kubectl there) and one fetched before in the cache. */
function run(versionOnPath: string | undefined, how: { through?: "link" } = {}): string[] {
  const home = mkdtempSync(path.join(tmpdir(), "kubectl-"));
  const program = (folder: string, version: string) => {
    mkdirSync(folder, { recursive: true });
    const answer = `{ "clientVersion": { "major": "1", "gitVersion": "${version}" }, "kustomizeVersion": "v5.0.0" }`;
    writeFileSync(path.join(folder, "kubectl"), `#!/bin/sh\nif [ "$1" = version ]; then echo '${answer}'; else echo "${version} $*"; fi\n`);
    chmodSync(path.join(folder, "kubectl"), 0o755);
  };
  try {
    program(path.join(home, "cache/coracle/kubectl-1.36"), "fetched");
    if (versionOnPath !== undefined) program(path.join(home, "bin"), versionOnPath);
    symlinkSync(script, path.join(home, "link"));
    // Our own folder comes first on the PATH: the script must not find itself.
    const env = { HOME: home, XDG_CACHE_HOME: path.join(home, "cache"), PATH: [path.dirname(script), path.join(home, "bin"), tools(home)].join(":") };
    const command = how.through === "link" ? path.join(home, "link") : script;
    // (twice: the second run uses what the first one noted)
    return [1, 2].map(() => spawnSync(command, ["get", "pods"], { encoding: "utf8", env, cwd: home }).stdout.trim());
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** A folder with what the script uses, and no kubectl of the machine. */
function tools(home: string): string {
  const folder = path.join(home, "tools");
  mkdirSync(folder);
  for (const name of ["sh", "dirname", "readlink", "stat", "sed", "head", "mkdir", "mv"]) {
    const found = ["/usr/bin", "/bin"].map((place) => path.join(place, name)).find((file) => spawnSync("test", ["-x", file]).status === 0);
    symlinkSync(found!, path.join(folder, name));
  }
  return folder;
}

const table = [
  { onPath: "v1.36.0", used: "v1.36.0" },
  { onPath: "v1.37.2-dispatcher", used: "v1.37.2-dispatcher" },
  { onPath: "v1.35.9", used: "fetched" },
  { onPath: "not a version", used: "fetched" },
  { onPath: undefined, used: "fetched" },
];
for (const { onPath, used } of table) {
  test(`bin/kubectl with ${onPath ?? "none"} on the PATH runs ${used}`, () => {
    assert.deepEqual(run(onPath), [`${used} get pods`, `${used} get pods`]);
  });
}

test("bin/kubectl works through a symbolic link", () => {
  assert.deepEqual(run("v1.36.1", { through: "link" }), ["v1.36.1 get pods", "v1.36.1 get pods"]);
});

/** `coracle test`: a cluster with controllers and nodes for the time a command runs; nothing of it remains. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Session, coraclePath, kubectlPath, runCoracle } from "./instance.ts";

describe("coracle test", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "test-command-"));
  const through = ["env", `TMPDIR=${folder}`];
  before(() => void runCoracle(["version"]));
  after(() => rmSync(folder, { recursive: true }));
  const run = (...args: string[]) => runCoracle(["test", ...args], through);

  test("the command finds a cluster that works: pods run, owners take their dependents along, namespaces go", () => {
    const script = [
      "set -e",
      'test "$USE_EXISTING_CLUSTER" = true',
      'kubectl() { "$0" "$@"; }',
      "kubectl create deployment web --image=web --replicas=2",
      "kubectl wait --for=condition=Available deployment/web --timeout=30s",
      "kubectl delete deployment web",
      "kubectl wait --for=delete pod -l app=web --timeout=30s",
      "kubectl create namespace short",
      "kubectl -n short create configmap kept",
      "kubectl delete namespace short --timeout=30s",
      "kubectl get nodes -o name",
    ].join("\n");
    const { code, stdout, stderr } = run("--nodes", "3", "sh", "-c", script, kubectlPath);
    assert.equal(stderr, "");
    assert.equal(code, 0);
    assert.match(stdout, /namespace "short" deleted[^]*\nnode\/node\nnode\/node-2\nnode\/node-3\n$/);
    assert.deepEqual(readdirSync(folder), []);
  });

  test("its exit code is ours, as a shell tells it", () => {
    assert.equal(run("--", "sh", "-c", "exit 7").code, 7);
    assert.equal(run("sh", "-c", "kill -KILL $$").code, 128 + 9);
    const missing = run("no-such-program");
    assert.deepEqual([missing.code, missing.stderr], [127, "coracle: cannot run no-such-program: there is no such program\n"]);
    assert.equal(run(path.join(import.meta.dirname, "instance.ts")).code, 126);
    assert.deepEqual(readdirSync(folder), []);
  });

  test("without a command, or with a wrong option, nothing starts", () => {
    assert.deepEqual([run().code, run("--data-dir", folder, "true").code, run("--runtime", "none", "true").code], [2, 2, 2]);
    assert.match(run("--apiserver.no-such-flag=1", "true").stderr, /^coracle: unknown flag: --no-such-flag\n$/);
    assert.deepEqual(readdirSync(folder), []);
  });

  test("signals go to the command, which decides; what was made is removed", async () => {
    const script = 'trap "echo asked; exit 9" TERM; echo running; while :; do read line || exit 1; done';
    const child = spawn(coraclePath, ["test", "--", "sh", "-c", script], { env: { ...process.env, TMPDIR: folder } });
    await using session = new Session(child);
    await session.saw(/running/);
    assert.equal(readdirSync(folder).length, 1);
    child.kill("SIGTERM");
    child.stdin.write("\n");
    await session.saw(/asked/);
    assert.equal(await session.ended(), 9);
    assert.deepEqual(readdirSync(folder), []);
  });

  test("several at once do not meet", async () => {
    const script = '"$0" create configmap mine --from-literal=a=1 -o name';
    const sessions = Array.from({ length: 3 }, () => new Session(spawn(coraclePath, ["test", "--", "sh", "-c", script, kubectlPath])));
    for (const session of sessions) {
      assert.equal(await session.ended(), 0, session.output);
      assert.equal(session.output, "configmap/mine\n");
    }
  });
});

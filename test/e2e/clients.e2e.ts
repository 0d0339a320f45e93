/** Clients that upstream and others made, unmodified, from their registries: what each is asked to do stands in test/clients. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { helmPath, whyNoHelm } from "./helm.ts";
import { kubectlPath, runCoracle, whyNoProgram } from "./instance.ts";
import { clients, execute, runClient } from "./run-client.ts";

const without = { python: (await whyNoProgram("python3")) ?? false, go: (await whyNoProgram("go")) ?? false };

describe("clients", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "clients-"));
  before(() => void runCoracle(["version"]));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("helm installs, upgrades, rolls back and removes a chart", { skip: whyNoHelm ?? false }, async () => {
    const script = [
      "set -e",
      `chart=$1; kubectl() { ${kubectlPath} "$@"; }; helm() { ${helmPath()} "$@"; }`,
      'helm install site "$chart" --wait --timeout 60s >&2',
      "kubectl get page site -o jsonpath='{.spec.text} '",
      "kubectl get deployment site -o jsonpath='{.status.readyReplicas} '",
      'helm upgrade site "$chart" --set replicas=3,greeting=bye --wait --timeout 60s >&2',
      "kubectl get configmap site site-hook -o jsonpath='{.items[*].data.greeting} {.items[*].data.revision} '",
      "kubectl get deployment site -o jsonpath='{.status.readyReplicas} '",
      "helm rollback site 1 --wait --timeout 60s >&2",
      "kubectl get page site -o jsonpath='{.spec.text} '",
      "kubectl get deployment site -o jsonpath='{.status.readyReplicas} '",
      "helm history site -o json >&2; helm status site >&2",
      "helm list -o json | tr -d '\"' | sed 's/.*revision:\\([0-9]*\\).*status:\\([a-z]*\\).*/\\1 \\2/'",
      "helm uninstall site --wait --timeout 60s >&2",
      "kubectl get deployments,services,secrets,pages -l '!component' -o name",
    ].join("\n");
    const homes = Object.fromEntries(["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"].map((name) => [name, path.join(folder, name)]));
    assert.equal(await runClient("simulated", ["sh", "-c", script, "sh", path.join(clients, "chart")], homes), "hello 2 bye 2 3 hello 2 3 deployed\n");
  });

  test("@kubernetes/client-node", async () => {
    assert.equal(await runClient("process", [process.execPath, path.join(clients, "node", "client.ts")]), "client-node: done\n");
  });

  test("Python's kubernetes", { skip: without.python }, async () => {
    const python = path.join(folder, "python");
    await execute("python3", ["-m", "venv", python]);
    await execute(path.join(python, "bin", "pip"), ["install", "--quiet", "--disable-pip-version-check", "kubernetes==37.0.2"], { timeout: 300_000 });
    assert.equal(await runClient("process", [path.join(python, "bin", "python"), path.join(clients, "python", "client.py")]), "python: done\n");
  });

  test("client-go", { skip: without.go }, async () => {
    const program = path.join(folder, "client-go");
    await execute("go", ["build", "-o", program, "."], { cwd: path.join(clients, "go"), timeout: 900_000 });
    assert.equal(await runClient("simulated", [program]), "client-go: done\n");
  });
});

/** An operator as a new user writes it, in a folder with nothing but the packed package: types, tests, manifests. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { tscPath, userFolder } from "./packed-package.ts";

test("the example of a website's operator, with the packed package", async () => {
  await using user = await userFolder("website-operator", "unpack");
  const sources = await Promise.all(["operator.ts", "operator.test.ts", "main.ts"].map((file) => readFile(path.join(user.folder, file), "utf8")));
  const lines = sources.join("").split("\n").length;
  assert.ok(lines < 150, `CRD, reconciler, webhook and tests are ${lines} lines`);
  await user.run(process.execPath, tscPath, "-p", ".");
  assert.match(await user.run(process.execPath, "--test"), /pass 3\n/);
  const manifests = await user.run(process.execPath, "main.ts", "manifests", "registry.example.com/website-operator:1");
  assert.deepEqual(
    manifests.match(/^kind: \w+/gm),
    ["CustomResourceDefinition", "Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "Deployment"].map(
      (kind) => `kind: ${kind}`,
    ),
  );
});

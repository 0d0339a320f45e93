import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { serverArguments } from "../../tools/golden/server.ts";

const table: { needs: string[]; controllersFlags?: string; has: string[]; hasNot?: string[] }[] = [
  { needs: ["apiserver"], has: ["--components apiserver --store memory", "--apiserver.authorization-mode=Node,RBAC"], hasNot: ["--controllers.", "--runtime"] },
  { needs: ["apiserver", "controllers"], has: ["--components apiserver,controllers ", "--controllers.controllers=*,bootstrapsigner,tokencleaner"] },
  {
    needs: ["apiserver", "controllers"],
    controllersFlags: "--allocate-node-cidrs --a=b=c",
    has: ["--controllers.allocate-node-cidrs=true", "--controllers.a=b=c"],
  },
  { needs: ["apiserver", "controllers", "kubelet"], has: ["--components apiserver,controllers,kubelet,network ", "--runtime containerd --node-name n1"] },
  { needs: ["apiserver", "flag:--authorization-mode=ABAC"], has: ["--apiserver.authorization-mode=ABAC"], hasNot: ["Node,RBAC"] },
  { needs: ["apiserver", "flag:--cors-allowed-origins=//a\\.example(:|$)"], has: ["--apiserver.cors-allowed-origins=//a\\.example(:|$)"] },
  { needs: ["apiserver", "admission:AlwaysPullImages"], has: ["--apiserver.enable-admission-plugins=NodeRestriction,AlwaysPullImages"] },
];
for (const { needs, controllersFlags = "", has, hasNot = [] } of table) {
  test(`the server for ${`${needs.join(" ")} ${controllersFlags}`.trim()}`, () => {
    const line = serverArguments({ needs, controllersFlags, config: undefined }, "/data").join(" ");
    for (const part of has) assert.ok(line.includes(part), `${part} in ${line}`);
    for (const part of hasNot) assert.ok(!line.includes(part), `no ${part} in ${line}`);
  });
}

test("the files that flags name are written", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "golden-"));
  try {
    const needs = ["apiserver", "flag:--authorization-policy-file=FILE"];
    const args = serverArguments({ needs, controllersFlags: "", config: { "authorization-policy-file": [{ a: 1 }, { b: 2 }] } }, folder);
    const file = args.find((argument) => argument.startsWith("--apiserver.authorization-policy-file="))!.split("=")[1]!;
    assert.equal(readFileSync(file, "utf8"), '{"a":1}\n{"b":2}');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

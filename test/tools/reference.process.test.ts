import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { referencePages } from "../../tools/reference.ts";

const root = path.join(import.meta.dirname, "..", "..");
const pages = referencePages();

for (const { file, text } of pages) {
  test(`${file} is what the sources give`, () => {
    assert.equal(readFileSync(path.join(root, file), "utf8"), text, "npm run reference writes it anew");
  });
}

test("every exported name has a docstring", () => {
  assert.deepEqual(
    pages.flatMap(({ file, undocumented }) => undocumented.map((name) => `${file}: ${name}`)),
    [],
  );
});

test("a page shows what callers see: no bodies, nothing private or internal, inferred types", () => {
  const text = pages.map((page) => page.text).join("\n");
  assert.match(
    text,
    /## startCluster\n\nStarts a cluster that is ready[^\n]*\n\n```ts\nfunction startCluster\(options: StartClusterOptions = \{\}\): Promise<Cluster>;\n```/,
  );
  assert.match(text, /^ {2}apply\(\.\.\.objects: [^\n]*\): Promise<KubeObject\[\]>;$/m);
  assert.match(text, /^ {2}pods: ResourceType<Pod>;$/m);
  assert.doesNotMatch(text, /^ *(#|export |private )\w|@internal|: any;/m);
});

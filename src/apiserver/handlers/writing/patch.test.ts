import { test } from "node:test";
import { match, deepEqual } from "node:assert/strict";
import { ask } from "../../../testing/ask.ts";
import { TestCluster } from "../../../testing/cluster.ts";

const configMap = "/api/v1/namespaces/default/configmaps/a";
/** As deep as a body may be: the server's own recursion would end earlier. */
const levels = 9_900;
const deep = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

const patches: [type: string, body: string][] = [
  ["merge", `{"data":${deep}}`],
  ["strategic-merge", `{"data":${deep}}`],
  ["json", `[{"op":"add","path":"/data","value":${deep}}]`],
];

test("a patch that nests as deep as a body may is refused as one that does not fit", async () => {
  await using cluster = await TestCluster.start();
  // Many labels make what is written around it slower, and the stack that is left to it smaller.
  const labels = Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [`k${index}`, "x"]));
  const created = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a", labels }, data: { b: "c" } };
  await ask(cluster, "POST", "/api/v1/namespaces/default/configmaps", created);
  for (const [type, body] of patches) {
    const { status, json } = await ask(cluster, "PATCH", configMap, body, { "content-type": `application/${type}-patch+json` });
    deepEqual([type, status, json["reason"]], [type, 422, "Invalid"]);
    match(json["message"] as string, /^ "" is invalid: patch: Invalid value: /);
  }
});

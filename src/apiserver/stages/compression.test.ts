import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { readBody } from "../../client/index.ts";
import { ask } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

test("compression: large answers to who takes gzip", async () => {
  await using cluster = await TestCluster.start();
  const read = async (path: string, encoding?: string) => {
    const response = await cluster.client.send({
      method: "GET",
      path,
      query: "",
      headers: encoding === undefined ? {} : { "accept-encoding": encoding },
      body: new Uint8Array(),
    });
    return { headers: response.headers, bytes: Buffer.from(await readBody(response.body)) };
  };
  for (let index = 0; index < 3; index++)
    await ask(cluster, "POST", configMaps, { kind: "ConfigMap", apiVersion: "v1", metadata: { name: `a${index}` }, data: { k: "x".repeat(120_000) } });
  const plain = await read(configMaps);
  for (const encoding of ["gzip", "deflate, gzip"]) {
    const zipped = await read(configMaps, encoding);
    deepEqual([zipped.headers["content-encoding"], zipped.headers["vary"]], ["gzip", "Accept-Encoding"]);
    deepEqual(gunzipSync(zipped.bytes), plain.bytes);
  }
  for (const [path, encoding] of [
    [configMaps, "deflate"],
    [`${configMaps}/a0`, "gzip"],
  ] as const)
    equal((await read(path, encoding)).headers["content-encoding"], undefined);
});

import { test } from "node:test";
import { deepEqual, equal, match } from "node:assert/strict";
import { encodeCbor } from "../apimachinery/cbor/write-cbor.ts";
import { decodeUntyped } from "../apimachinery/decode/decode-object.ts";
import type { JsonObject } from "../apimachinery/json.ts";
import { readBody } from "../client/index.ts";
import { TestCluster } from "../testing/cluster.ts";
import { ask } from "../testing/ask.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const on = { flags: { "feature-gates": "CBORServingAndStorage=true" } };
const cbor = { "content-type": "application/cbor", accept: "application/cbor" };

async function send(
  cluster: TestCluster,
  method: string,
  target: string,
  body: JsonObject | Uint8Array = new Uint8Array(),
  headers: Record<string, string> = cbor,
) {
  const [path = "", query = ""] = target.split("?");
  const bytes = body instanceof Uint8Array ? body : encodeCbor(body, undefined);
  const response = await cluster.client.send({ method, path, query, headers, body: bytes });
  const answer = await readBody(response.body);
  return { status: response.status, type: response.headers["content-type"], object: decodeUntyped(answer, { mediaType: "cbor" }).value as JsonObject };
}

const configMap = (name: string, data: Record<string, string> = {}): JsonObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });

test("CBOR: objects go in and come out, and are the same in JSON", async () => {
  await using cluster = await TestCluster.start(on);
  const created = await send(cluster, "POST", configMaps, configMap("a", { k: "v" }));
  deepEqual([created.status, created.type], [201, "application/cbor"]);
  const read = await send(cluster, "GET", `${configMaps}/a`);
  deepEqual(read.object, (await ask(cluster, "GET", `${configMaps}/a`)).json);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { k: "AQI=" } };
  await ask(cluster, "POST", "/api/v1/namespaces/default/secrets", secret);
  deepEqual((await send(cluster, "GET", "/api/v1/namespaces/default/secrets/s")).object["data"], { k: "AQI=" });
  const table = await send(cluster, "GET", configMaps, undefined, { accept: "application/cbor;as=Table;g=meta.k8s.io;v=v1" });
  equal(table.object["kind"], "Table");
  const gone = await send(cluster, "GET", `${configMaps}/none`);
  deepEqual([gone.status, gone.type, gone.object["reason"]], [404, "application/cbor", "NotFound"]);
});

test("CBOR: lists, short and long", async () => {
  await using cluster = await TestCluster.start(on);
  const same = async () => deepEqual((await send(cluster, "GET", configMaps)).object, (await ask(cluster, "GET", configMaps)).json);
  await ask(cluster, "POST", configMaps, configMap("a"));
  await same();
  for (let index = 0; index < 600; index++) await ask(cluster, "POST", configMaps, configMap(`c${index}`, { k: String(index) }));
  await same();
});

test("CBOR: server-side apply, deletion, and a patch in JSON that is answered in CBOR", async () => {
  await using cluster = await TestCluster.start(on);
  const applied = await send(cluster, "PATCH", `${configMaps}/a?fieldManager=m`, configMap("a", { k: "v" }), {
    ...cbor,
    "content-type": "application/apply-patch+cbor",
  });
  deepEqual([applied.status, applied.object["data"]], [201, { k: "v" }]);
  const patch = Buffer.from('{"data":{"k":"w"}}');
  const patched = await send(cluster, "PATCH", `${configMaps}/a`, patch, { ...cbor, "content-type": "application/merge-patch+json" });
  deepEqual(patched.object["data"], { k: "w" });
  const options = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid: "other" } };
  equal((await send(cluster, "DELETE", `${configMaps}/a`, options)).status, 409);
});

test("CBOR: a watch is a sequence of documents", async () => {
  await using cluster = await TestCluster.start(on);
  await ask(cluster, "POST", configMaps, configMap("a", { k: "v" }));
  const leaving = new AbortController();
  const request = { method: "GET", path: configMaps, query: "watch=true", headers: { accept: "application/cbor" }, body: new Uint8Array() };
  const { headers, body } = await cluster.client.send(request, { signal: leaving.signal });
  equal(headers["content-type"], "application/cbor-seq");
  const chunks = (body as Extract<typeof body, { kind: "stream" }>).chunks[Symbol.asyncIterator]();
  const { value } = (await chunks.next()) as { value: Uint8Array };
  const { type, object } = decodeUntyped(value, { mediaType: "cbor" }).value as { type: string; object: JsonObject };
  deepEqual([type, object], ["ADDED", (await ask(cluster, "GET", `${configMaps}/a`)).json]);
  leaving.abort();
  await chunks.return?.();
});

test("CBOR: what is none is refused", async () => {
  await using cluster = await TestCluster.start(on);
  for (const body of [Buffer.from("{}"), Buffer.from("81".repeat(100_000), "hex"), Buffer.from([0xa1])]) {
    const { status, object } = await send(cluster, "POST", configMaps, body);
    deepEqual([status, object["reason"]], [400, "BadRequest"]);
    match(object["message"] as string, /^the object provided is unrecognized \(must be of type ConfigMap\): /);
  }
});

test("CBOR: without its gate neither read nor written", async () => {
  await using cluster = await TestCluster.start();
  equal((await ask(cluster, "POST", configMaps, "x", cbor)).status, 406);
  equal((await ask(cluster, "POST", configMaps, "x", { "content-type": "application/cbor" })).status, 415);
  equal((await ask(cluster, "PATCH", `${configMaps}/a?fieldManager=m`, "x", { "content-type": "application/apply-patch+cbor" })).status, 415);
});

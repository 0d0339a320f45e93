import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { MetricRegistry } from "../../../base/metrics.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { decodeProtobuf } from "../../../apimachinery/protobuf/envelope.ts";
import { ask } from "../../../testing/ask.ts";
import { TestCluster } from "../../../testing/cluster.ts";
import { encodeStored, StoredObject } from "../../cache/stored-object.ts";
import { Encodings } from "./encodings.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const json = "application/json";
const protobuf = "application/vnd.kubernetes.protobuf";

test("encodings: an object is encoded once for all who read and watch it, in each content type", async () => {
  await using cluster = await TestCluster.start();
  const before = await encodingsOf(cluster);
  const watches = await Promise.all(Array.from({ length: 50 }, (_, index) => watch(cluster, index % 2 === 0 ? json : `${protobuf};stream=watch`)));
  await ask(cluster, "POST", configMaps, { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" }, data: { text: "x" } });
  const frames = await Promise.all(watches.map(firstChunk));
  equal(new Set(frames.filter((_, index) => index % 2 === 0).map(String)).size, 1);
  ok(frames.every((frame) => frame.length > 0));
  for (const accept of [json, protobuf, json, protobuf]) {
    await read(cluster, `${configMaps}/a`, accept);
    await read(cluster, configMaps, accept);
  }
  const after = await encodingsOf(cluster);
  deepEqual([after.json - before.json, after.protobuf - before.protobuf], [1, 1]);
});

test("encodings: a GET and a list in protobuf show what JSON shows", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", configMaps, { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a", labels: { x: "y" } }, data: { text: "ü".repeat(300) } });
  for (const path of [`${configMaps}/a`, configMaps, `${configMaps}?labelSelector=none`]) {
    const shown = decodeProtobuf(await read(cluster, path, protobuf), typeRegistry).object;
    deepEqual(withoutEmpty(shown), withoutEmpty(JSON.parse((await read(cluster, path, json)).toString())));
  }
});

test("encodings: what is kept is bounded", async () => {
  await using cluster = await TestCluster.start();
  const definition = cluster.serverState.resources.find("", "v1", "configmaps")!;
  const encodings = new Encodings(new MetricRegistry(), 3_000);
  const stored = Array.from({ length: 5 }, (_, index) => {
    const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: `n${index}` }, data: { text: "x".repeat(1_000) } };
    return new StoredObject(`default/n${index}`, encodeStored(object), index + 1, index + 1);
  });
  for (const one of stored) encodings.protobuf(definition, one);
  deepEqual(
    stored.map(({ messages }) => messages !== undefined),
    [false, false, false, true, true],
  );
});

async function encodingsOf(cluster: TestCluster): Promise<{ json: number; protobuf: number }> {
  const text = (await ask(cluster, "GET", "/metrics")).text;
  const count = (type: string) =>
    Number(
      new RegExp(`^apiserver_object_encodings_total\\{group="",version="v1",resource="configmaps",content_type="${type}"\\} (\\d+)`, "m").exec(text)?.[1] ?? 0,
    );
  return { json: count(json), protobuf: count(protobuf) };
}

async function watch(cluster: TestCluster, accept: string): Promise<AsyncIterator<Uint8Array>> {
  const query = `watch=true&resourceVersion=${await version(cluster)}`;
  const { body } = await cluster.client.send({ method: "GET", path: configMaps, query, headers: { accept }, body: new Uint8Array() });
  ok(body.kind === "stream");
  return body.chunks[Symbol.asyncIterator]();
}

async function version(cluster: TestCluster): Promise<string> {
  return ((await ask(cluster, "GET", configMaps)).json["metadata"] as { resourceVersion: string }).resourceVersion;
}

async function firstChunk(chunks: AsyncIterator<Uint8Array>): Promise<Buffer> {
  const { value } = await chunks.next();
  await chunks.return?.();
  return Buffer.from(value as Uint8Array);
}

async function read(cluster: TestCluster, path: string, accept: string): Promise<Buffer> {
  const [plain = "", query = ""] = path.split("?");
  const { status, body } = await cluster.client.send({ method: "GET", path: plain, query, headers: { accept }, body: new Uint8Array() });
  equal(status, 200);
  if (body.kind === "bytes") return Buffer.from(body.bytes);
  ok(body.kind === "stream");
  return Buffer.concat(await Array.fromAsync(body.chunks));
}

/** Protobuf does not tell absent lists and maps from empty ones. */
function withoutEmpty(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, member: unknown) => (member === null || member === "" || isEmpty(member) ? undefined : member))) as unknown;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

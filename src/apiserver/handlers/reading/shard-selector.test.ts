import { test } from "node:test";
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { TestCluster } from "../../../testing/cluster.ts";
import { ask, openWatch, told } from "../../../testing/ask.ts";
import { parseShardSelector } from "./shard-selector.ts";

const middle = "0x8000000000000000";
const end = "0x10000000000000000";
const range = (from: string, to: string, path = "object.metadata.uid") => `shardRange(${path}, '${from}', '${to}')`;

/** Hashes of the FNV-1a reference (draft-eastlake-fnv, appendix C): "" and "a" lie above the middle, "foobar" too. */
const matching: [name: string, selector: string, uid: string, expect: boolean][] = [
  ["the hash of nothing, from below", range("0xcbf29ce484222325", "0xcbf29ce484222326"), "", true],
  ["the hash of nothing, from above", range("0x0", "0xcbf29ce484222325"), "", false],
  ["a known hash", range("0xaf63dc4c8601ec8c", "0xaf63dc4c8601ec8d"), "a", true],
  ["a longer one", range("0x85944171f73967e8", "0x85944171f73967e9"), "foobar", true],
  ["one of two ranges", `${range("0x0", "0x1")} || ${range(middle, end)}`, "a", true],
  ["none of two ranges", `${range("0x0", "0x1")} || ${range("0x1", "0x2")}`, "a", false],
];
for (const [name, selector, uid, expect] of matching) test(`shard selector: ${name}`, () => equal(parseShardSelector(selector).matches({ uid }), expect));

const refused: [selector: string, message: RegExp][] = [
  ["x", /^invalid shard selector: unexpected expression kind 3; expected shardRange\(\) call or \|\| operator$/],
  ["'a'", /unexpected expression kind 5;/],
  ["shardRange(", /^invalid shard selector: ERROR: <input>:1:/],
  ["true && true", /unsupported function "_&&_"/],
  [range("0x0", "0x1", "object.metadata.name"), /unsupported field path "object.metadata.name"/],
  ["shardRange(object.metadata.uid, '0x0')", /requires exactly 3 arguments, got 2$/],
  [range("0", "0x1"), /invalid bound "0"/],
  [range("0x0", "0x10000000000000001"), /invalid bound/],
  [range("0x1", "0x1"), /must be below its end$/],
  ["shardRange(object.metadata.uid, 0, 1)", /must be string literals$/],
  [`${range("0x0", "0x1")} || ${range("0x0", "0x1", "object.metadata.namespace")}`, /same field path$/],
];
for (const [selector, message] of refused) test(`shard selector: ${selector} is refused`, () => throws(() => parseShardSelector(selector), { message }));

const configMaps = "/api/v1/namespaces/default/configmaps";

test("shards of a list and of watches are apart, and together are everything", async () => {
  await using cluster = await TestCluster.start({ flags: { "feature-gates": "ShardedListAndWatch=true" } });
  const shards = [range("0x0", middle), range(middle, end)].map((selector) => `shardSelector=${encodeURIComponent(selector)}`);
  const watches = await Promise.all(shards.map((shard) => openWatch(cluster, `${configMaps}?watch=true&${shard}`)));
  const names = Array.from({ length: 20 }, (_, index) => `c${String(index).padStart(2, "0")}`);
  for (const name of names) await ask(cluster, "POST", configMaps, { kind: "ConfigMap", apiVersion: "v1", metadata: { name } });
  await cluster.turn();
  const lists = await Promise.all(shards.map((shard) => ask(cluster, "GET", `${configMaps}?${shard}`)));
  const listed = lists.map(({ json }) => (json["items"] as { metadata: { name: string } }[]).map(({ metadata }) => `ADDED ${metadata.name}`));
  ok(listed.every((items) => items.length > 0));
  deepEqual(
    listed.flat().sort(),
    names.map((name) => `ADDED ${name}`),
  );
  deepEqual(
    watches.map(({ events }) => told(events)),
    listed,
  );
  deepEqual((lists[0]!.json["metadata"] as { shardInfo: unknown }).shardInfo, { selector: range("0x0", middle) });
  for (const watch of watches) watch.stop();
  await Promise.all(watches.map(({ ended }) => ended));
});

test("shards: without the gate nothing is selected", async () => {
  await using cluster = await TestCluster.start();
  equal((await ask(cluster, "GET", `${configMaps}?shardSelector=x`)).status, 200);
});

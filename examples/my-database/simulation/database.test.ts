import assert from "node:assert/strict";
import { test } from "node:test";
import { resources } from "coracle/client";
import { isConditionTrue } from "coracle/operator";
import { backups, databases } from "../resources.ts";
import { nextRunMs } from "../schedule.ts";
import { image, orders, setStage } from "./stage.ts";

test("a database comes up: one primary, the others follow, one of them synchronously", async () => {
  const { cluster, isReady, database, world } = await setStage(1);
  await using _ = cluster;
  await cluster.apply(orders());
  const tookMs = await cluster.until(() => isReady());
  assert.ok(tookMs < 60_000, `${tookMs} ms`);
  const { status } = await database();
  assert.equal(status?.primary, "orders-0");
  await cluster.until(async () => (await database()).status?.synchronous?.length === 1, "30s");
  assert.deepEqual(world.primary?.requires, (await database()).status?.synchronous);
  const writers = await cluster.client.get(resources.services, "default", "orders");
  assert.equal(writers.spec?.selector?.["mydb.example.com/role"], "primary");
  const primaries = await cluster.client.list(resources.pods, "default", { labelSelector: "mydb.example.com/role=primary" });
  assert.deepEqual(
    primaries.items.map(({ metadata }) => metadata.name),
    ["orders-0"],
  );
});

test("the primary is lost: another takes over within 10 s, and no acknowledged write is missing", async () => {
  const { cluster, isReady, database, world, startWriter } = await setStage(2);
  await using _ = cluster;
  await cluster.apply(orders());
  await cluster.until(() => isReady());
  startWriter();
  await cluster.until(async () => (await database()).status?.synchronous?.length === 1);
  await cluster.advance("5s");
  const lostMs = cluster.clock.nowMs();
  world.cut("orders-0");
  await cluster.until(() => world.acknowledgedMs > lostMs + 1000, "30s");
  const tookMs = world.acknowledgedMs - lostMs;
  assert.ok(tookMs <= 10_000, `${tookMs} ms`);
  assert.notEqual(world.primary?.name, "orders-0");
  assert.deepEqual(world.missingFrom(world.primary!.log), []);
  world.heal("orders-0");
  await cluster.until(() => isReady(), "2m");
  assert.equal(world.servers.get("orders-0")?.mode, "standby");
  assert.ok((await cluster.events("default")).some(({ reason }) => reason === "FailedOver"));
});

test("a primary that only crashed is started again, without a failover", async () => {
  const { cluster, isReady, database, world } = await setStage(3);
  await using _ = cluster;
  await cluster.apply(orders());
  await cluster.until(() => isReady());
  await cluster.until(async () => (await database()).status?.synchronous?.length === 1);
  const { term } = (await database()).status!;
  world.crash("orders-0", 1500);
  await cluster.until(() => world.primary === undefined, "5s");
  await cluster.until(async () => world.primary !== undefined && (await isReady()), "1m");
  assert.deepEqual([(await database()).status?.term, world.primary?.name], [term, "orders-0"]);
});

test("primary and synchronous standby are both lost: it promotes nobody, asks for a person, and goes on when one is back", async () => {
  const { cluster, isReady, database, world } = await setStage(4);
  await using _ = cluster;
  await cluster.apply(orders());
  await cluster.until(() => isReady());
  await cluster.until(async () => (await database()).status?.synchronous?.length === 1);
  const synchronous = (await database()).status!.synchronous![0]!;
  world.cut("orders-0");
  world.cut(synchronous);
  await cluster.until(async () => isConditionTrue(await database(), "NeedsAttention"), "1m");
  await cluster.advance("10m");
  assert.equal(
    [...world.servers.values()].some((server) => server.isUp && server.mode === "primary"),
    false,
  );
  const { status } = await database();
  assert.match(
    status?.conditions?.find(({ type }) => type === "NeedsAttention")?.message ?? "",
    new RegExp(`so is ${synchronous}, which may have transactions`),
  );
  world.heal(synchronous);
  await cluster.until(() => world.primary?.name === synchronous, "1m");
  world.heal("orders-0");
  await cluster.until(() => isReady(), "2m");
  assert.equal(isConditionTrue(await database(), "NeedsAttention"), false);
});

test("scaling 1 → 3 → 2 keeps what was written; a primary that scaling removes hands over first", async () => {
  const { cluster, isReady, database, world, startWriter } = await setStage(5);
  await using _ = cluster;
  const scale = (replicas: number) => cluster.client.patch(databases, "default", "orders", { type: "merge", body: { spec: { replicas } } });
  await cluster.apply(orders({ replicas: 1 }));
  await cluster.until(() => isReady());
  startWriter();
  await cluster.advance("5s");
  await scale(3);
  await cluster.until(() => isReady(), "3m");
  // The third becomes the primary: the first two are away for a while.
  await cluster.until(async () => (await database()).status?.synchronous?.length === 1);
  world.cut((await database()).status!.synchronous![0] === "orders-1" ? "orders-1" : "nobody");
  await cluster.until(async () => (await database()).status?.synchronous?.join() === "orders-2", "1m");
  world.cut("orders-0");
  await cluster.until(() => world.primary?.name === "orders-2", "1m");
  world.heal("orders-0");
  world.heal("orders-1");
  await cluster.until(() => isReady(), "3m");
  await scale(2);
  await cluster.until(async () => (await isReady()) && (await cluster.client.list(resources.pods, "default")).items.length === 2, "5m");
  assert.ok(["orders-0", "orders-1"].includes((await database()).status!.primary!));
  assert.deepEqual(world.missingFrom(world.primary!.log), []);
});

test("a new minor version: standbys first, the primary last, writes go on", async () => {
  const { cluster, isReady, world, startWriter } = await setStage(6);
  await using _ = cluster;
  await cluster.apply(orders());
  await cluster.until(() => isReady());
  startWriter();
  await cluster.advance("20s");
  const before = world.acknowledged.size;
  await cluster.client.patch(databases, "default", "orders", { type: "merge", body: { spec: { version: "15.6" } } });
  const images = async () => (await cluster.client.list(resources.pods, "default")).items.map(({ spec }) => spec?.containers?.[0]?.image);
  await cluster.until(async () => (await isReady()) && (await images()).every((used) => used === image.image("15.6")), "10m");
  const replaced = cluster
    .writes()
    .flatMap(({ by, verb, subject }) => (by === "my-database" && verb === "delete" && subject.startsWith("pods ") ? [subject] : []));
  assert.deepEqual(replaced, ["pods default/orders-2", "pods default/orders-1", "pods default/orders-0"]);
  await cluster.advance("5s");
  assert.ok(world.acknowledged.size > before);
  assert.deepEqual(world.missingFrom(world.primary!.log), []);
});

test("backups: on schedule, on demand, kept as many as asked for, restored into a new database, and a last one before the end", async () => {
  const { cluster, isReady, database, world, startWriter } = await setStage(7);
  await using _ = cluster;
  await cluster.apply(orders({ replicas: 1, backup: { schedule: "*/10 * * * *", keep: 2 } }));
  await cluster.until(() => isReady());
  startWriter();
  await cluster.advance("45m");
  const list = async () => (await cluster.client.list(backups, "default")).items.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`);
  assert.deepEqual(await list(), ["orders-202601010030 Done", "orders-202601010040 Done"]);
  assert.equal((await database()).status?.lastBackup, "orders-202601010040");
  await cluster.apply(backups.object({ name: "now", namespace: "default" }, { database: "orders" }));
  await cluster.until(async () => (await list()).includes("now Done"), "1m");
  await cluster.stop("writer");
  await cluster.apply(orders({ replicas: 1, restoreFrom: "now" }, "copy"));
  await cluster.until(() => isReady("copy"), "2m");
  assert.deepEqual(
    world.servers.get("copy-0")?.log.map(({ id }) => id),
    world.backups.get("now")?.map(({ id }) => id),
  );

  await cluster.client.delete(databases, "default", "orders");
  await cluster.until(async () => (await cluster.client.list(databases, "default")).items.length === 1, "2m");
  assert.deepEqual(world.missingFrom(world.backups.get("orders-final")!), []);
  await cluster.settled();
  assert.deepEqual(
    (await cluster.client.list(resources.pods, "default")).items.map(({ metadata }) => metadata.name),
    ["copy-0"],
  );
});

test("schedules", () => {
  const at = (text: string) => Date.parse(text);
  const next = (schedule: string, after: string) => new Date(nextRunMs(schedule, at(after))!).toISOString().slice(0, 16);
  assert.equal(next("0 3 * * *", "2026-01-01T03:00:00Z"), "2026-01-02T03:00");
  assert.equal(next("*/15 * * * *", "2026-01-01T00:01:00Z"), "2026-01-01T00:15");
  assert.equal(next("30 2 1 * *", "2026-01-31T12:00:00Z"), "2026-02-01T02:30");
  assert.equal(next("0 0 13 * 5", "2026-02-01T00:00:00Z"), "2026-02-06T00:00");
  assert.equal(nextRunMs("0 0 31 2 *", at("2026-01-01T00:00:00Z")), undefined);
  for (const wrong of ["", "* * * *", "60 * * * *", "a * * * *", "*/0 * * * *"]) assert.throws(() => nextRunMs(wrong, 0), RangeError);
});

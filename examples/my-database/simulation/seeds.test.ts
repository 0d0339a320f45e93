/**
 * Seeds: instances crash, lose their lines and their data, orders come late, the operator's requests and answers are lost, it is restarted,
 * and meanwhile somebody scales and upgrades. Whatever happens, no acknowledged write is missing from a later primary; when the faults are
 * over, everything is as it was asked for. A failure prints its seed.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { resources } from "coracle/client";
import { FaultTransport } from "coracle/testing";
import { databases } from "../resources.ts";
import { image, orders, setStage } from "./stage.ts";
import type { Stage } from "./stage.ts";
import type { SimulatedPostgres } from "./simulated-postgres.ts";

const seeds = Number(process.env["CORACLE_SEEDS"] ?? 20);
const first = Number(process.env["CORACLE_FIRST_SEED"] ?? 1);
const rates = { dropRequest: 0.03, dropAnswer: 0.03, repeat: 0.03, delay: 0.05, breakStream: 0.1 };

for (let seed = first; seed < first + seeds; seed++) {
  test(`no acknowledged write is lost, seed ${seed}`, async () => {
    let isFaulty = true;
    const stage = await setStage(seed, {
      lateOrders: { rate: 0.1, maxMs: 20_000 },
      faults: (transport, user, clock) => {
        if (user.username !== "system:serviceaccount:my-database-system:my-database") return transport;
        const faulty = new FaultTransport(transport, { random: stageRandom(seed), clock, rates, maxDelayMs: 2000 });
        return (request) => (isFaulty ? faulty.send(request) : transport(request));
      },
    });
    const { cluster, world, random, isReady, startWriter } = stage;
    await using _ = cluster;
    await cluster.apply(orders());
    await cluster.until(() => isReady(), "10m");
    startWriter();
    for (let step = 0; step < 8; step++) {
      await fault(stage);
      for (let second = random.integer(16); second >= 0; second--) {
        await cluster.advance("1s");
        checkPrimary(world, seed);
      }
    }
    isFaulty = false;
    for (const name of world.servers.keys()) world.heal(name);
    const { metadata, spec } = await stage.database();
    await cluster.until(async () => (await isReady()) && (await isAsAsked(stage, spec)), "20m");
    const acknowledged = world.acknowledged.size;
    await cluster.advance("30s");
    assert.ok(world.acknowledged.size > acknowledged, `writes go on in the end, seed ${seed}`);
    await cluster.stop("writer");
    await cluster.advance("5s");
    checkPrimary(world, seed);
    const log = world.primary!.log.map(({ id }) => id);
    for (const { metadata: pod } of (await cluster.client.list(resources.pods, metadata.namespace!)).items)
      assert.deepEqual(
        world.servers.get(pod.name!)!.log.map(({ id }) => id),
        log,
        `${pod.name} has what the primary has, seed ${seed}`,
      );
  });
}

function stageRandom(seed: number) {
  let state = seed;
  const next = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 0x1_0000_0000;
  return {
    fraction: next,
    integer: (bound: number) => Math.floor(next() * bound),
    bytes: (count: number) => Uint8Array.from({ length: count }, () => Math.floor(next() * 256)),
  };
}

/** The primary of the newest term has everything that was acknowledged. One of an older term may believe that it is the primary: what it acknowledged would be missing here. */
function checkPrimary(world: SimulatedPostgres, seed: number): void {
  const servers = [...world.servers.values()];
  const term = Math.max(...servers.map((server) => server.term));
  const newest = servers.find((server) => server.isUp && server.mode === "primary" && server.term === term);
  if (newest !== undefined) assert.deepEqual(world.missingFrom(newest.log), [], `${newest.name} has every acknowledged write, seed ${seed}`);
}

async function fault({ cluster, world, random, operator }: Stage): Promise<void> {
  const names = [...world.servers.keys()];
  const name = random.fraction() < 0.5 ? (world.primary?.name ?? names[0]!) : names[random.integer(names.length)]!;
  const patch = (spec: object) => cluster.client.patch(databases, "default", "orders", { type: "merge", body: { spec } });
  switch (random.integer(8)) {
    case 0:
      return world.crash(name, 500 + random.integer(8000));
    case 1:
      return world.cut(name);
    case 2:
      for (const other of names) world.heal(other);
      return;
    case 3:
      await cluster.stop(operator.name);
      await cluster.advance(random.integer(5000));
      return void (await cluster.run(operator));
    case 4:
      return void (await cluster.client.delete(resources.pods, "default", name).catch(() => undefined));
    case 5:
      return void (await patch({ replicas: 2 + random.integer(2) }));
    case 6:
      return void (await patch({ version: `15.${5 + random.integer(3)}` }));
    case 7:
      // A standby's disk: of a primary's, everything that nobody else has would be gone for good.
      if (world.servers.get(name)?.mode === "standby" && world.primary !== undefined && !world.primary.requires.includes(name)) world.loseData(name);
  }
}

async function isAsAsked({ cluster }: Stage, { version, replicas }: { version: string; replicas: number }): Promise<boolean> {
  const { items } = await cluster.client.list(resources.pods, "default");
  return (
    items.length === replicas &&
    items.every(({ spec, metadata }) => metadata.deletionTimestamp === undefined && spec?.containers?.[0]?.image === image.image(version))
  );
}

/**
 * An informer over a bad line, from a seed: requests and streams fail, versions expire, the server is started anew, the time of day jumps. What its
 * handlers hear has to be a history: each object is added once, changes forward and without a repetition, and ends as the server has it. Where
 * no history was lost, no change is missing.
 */
import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { seededRandom } from "../../base/random.ts";
import type { Random } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { Transport } from "../../apimachinery/request.ts";
import { isNotFound } from "../../apimachinery/status.ts";
import type { ConfigMap } from "../../api/core-v1/types.ts";
import { TestCluster } from "../../testing/cluster.ts";
import { FaultTransport } from "../../testing/fault-transport.ts";
import { seedsOr } from "../../testing/seeds.ts";
import { Client } from "../client.ts";
import { loopbackTransport } from "../transports/loopback-transport.ts";
import { resources } from "../resources.ts";
import { InformerSet } from "./informer-set.ts";
import type { Change } from "./informer.ts";

const lineFaults = { dropRequest: 0.1, dropAnswer: 0.1, delay: 0.2, refuse: 0.1, breakStream: 1, lag: 0.2 };

for (let seed = 1; seed <= seedsOr(4); seed++) {
  const losesHistory = seed % 2 === 0;
  test(`informer: seed ${seed}, ${losesHistory ? "expired versions and new servers" : "a bad line"}`, () => run(seed, losesHistory));
}

async function run(seed: number, losesHistory: boolean): Promise<void> {
  const random = seededRandom(seed);
  // The server has a clock of its own, so that it can be ended without the client.
  let cluster = await TestCluster.start({ seed });
  const clock = new VirtualClock();
  const pass = async (ms: number) => {
    await cluster.clock.advance(ms);
    await clock.advance(ms);
  };
  const line: Transport = (request) => loopbackTransport(cluster.handle, { username: "admin", groups: ["system:masters", "system:authenticated"] })(request);
  const faults = new FaultTransport(line, { random, clock, rates: { ...lineFaults, ...(losesHistory && { expire: 0.5 }) }, chunksBeforeBreak: 2 });
  const jump = { ms: 0 };
  const jumping: Clock = { nowMs: () => clock.nowMs() + jump.ms, monotonicMs: () => clock.monotonicMs(), after: (...args) => clock.after(...args) };
  const client = new Client({ transport: faults.send, clock: jumping, userAgent: "test" });
  const informers = new InformerSet({ client, clock: jumping, random, log: silentLog });
  const informer = informers.get(resources.configMaps, { namespace: "default" });
  const history = new History();
  informer.subscribe((change) => history.take(change));
  while (!informer.hasSynced) await pass(1_000);
  const written: string[] = [];
  for (let step = 0; step < 60; step++) {
    const version = await writeSomething(cluster.client, random);
    if (version !== undefined) written.push(version);
    if (random.integer(8) === 0) jump.ms += (random.integer(3) - 1) * 3_600_000;
    if (losesHistory && random.integer(15) === 0) {
      // What is on its way has arrived, or failed, when the server ends.
      faults.partition();
      await pass(2_000);
      const image = await cluster.image();
      await cluster.close();
      faults.heal();
      cluster = await TestCluster.start({ seed, image });
    }
    await pass(random.integer(2_000));
  }
  faults.calm();
  await pass(120_000);
  const { items } = await cluster.client.list(resources.configMaps, "default");
  deepEqual(history.present(), Object.fromEntries(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion])));
  deepEqual(history.faults, []);
  if (!losesHistory) deepEqual(history.versions.toSorted(byNumber), written.toSorted(byNumber));
  ok(faults.count("breakStream") > 0);
  await informers.close();
  await cluster.close();
}

/** Creates, changes or deletes one of a few objects; the version that came of it, or nothing when there was nothing to do. */
async function writeSomething(client: Client, random: Random): Promise<string | undefined> {
  const name = `c${random.integer(5)}`;
  const current = await client.get(resources.configMaps, "default", name).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const data = { value: String(random.integer(1_000_000)) };
  if (current === undefined) return versionOf(await client.create(resources.configMaps, { metadata: { name, namespace: "default" }, data }));
  if (random.integer(4) > 0) return versionOf(await client.update(resources.configMaps, { ...current, data }));
  await client.delete(resources.configMaps, "default", name);
  return undefined;
}

/** What handlers have heard, and what in it cannot be the history of anything. */
class History {
  readonly faults: string[] = [];
  /** Of additions and updates. */
  readonly versions: string[] = [];
  readonly #objects = new Map<string, string>();

  take({ kind, object, old }: Change<ConfigMap>): void {
    const name = object.metadata.name!;
    const version = versionOf(object);
    const before = this.#objects.get(name);
    if ((kind === "add") !== (before === undefined)) this.faults.push(`${kind} ${name}@${version}, of which there was ${before}`);
    if (kind === "update" && versionOf(old) !== before) this.faults.push(`${name}@${version} was ${versionOf(old)}, not ${before}`);
    if (kind === "update" && byNumber(version, before!) <= 0) this.faults.push(`${name}@${version} after ${before}`);
    if (kind === "delete") this.#objects.delete(name);
    else {
      this.#objects.set(name, version);
      this.versions.push(version);
    }
  }

  present(): Record<string, string> {
    return Object.fromEntries([...this.#objects].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function versionOf({ metadata }: { readonly metadata: { readonly resourceVersion?: string } }): string {
  return metadata.resourceVersion!;
}

function byNumber(a: string, b: string): number {
  return Number(a) - Number(b);
}

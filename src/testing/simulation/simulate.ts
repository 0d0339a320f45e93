/**
 * One shape for the simulations of controllers. From a seed: a cluster, a controller that crashes over a bad line, random writes; then calm,
 * until nobody writes any more. The desired state must be there and stay, and no commit on the way may have broken an invariant.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../base/random.ts";
import { isConflict, isNotFound } from "../../apimachinery/status.ts";
import { resources } from "../../client/index.ts";
import { TestCluster } from "../cluster.ts";
import { HollowNodes } from "../hollow-nodes.ts";
import { seedList } from "../seeds.ts";
import { Bystander } from "./bystander.ts";
import { ControllerProcess } from "./controller-process.ts";
import { notePlant } from "./plant-table.ts";
import { plants } from "./planted-transport.ts";
import { StoredState } from "./stored-state.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../../client/index.ts";
import type { StoreImage } from "../../storage/index.ts";
import type { ClusterComponent } from "../component.ts";
import type { HollowNodeOptions } from "../hollow-nodes.ts";
import type { TransportFault } from "../fault-transport.ts";
import type { ControllerProcessOptions } from "./controller-process.ts";
import type { Plant, Planted } from "./planted-transport.ts";
import type { StoredChange } from "./stored-state.ts";

/**
 * A test for each seed. `begin` is called anew for each and keeps what the simulation has to remember. With CORACLE_PLANTS=1 faults are planted
 * in the first of the controllers instead, which some seed has to find.
 */
export function simulate(claim: string, setting: SimulationSetting, begin: (stage: Stage) => Simulation): void {
  if (process.env["CORACLE_PLANTS"] !== undefined) {
    for (const plant of plants) test(`${claim}, planted ${plant}`, (context) => findPlant(plant, { setting, begin, tell: (text) => context.diagnostic(text) }));
    return;
  }
  let faults = 0;
  const seeds = seedList(setting.seeds ?? 20);
  for (const seed of seeds) {
    test(`${claim}, seed ${seed}`, async () => {
      faults += await run(seed, setting, begin);
      // One quiet run may be; many are not.
      if (seed === seeds.at(-1) && seeds.length >= fewSeeds) assert.ok(faults > 0, "there were faults");
    });
  }
}

const fewSeeds = 10;

/** Notes by which seed the plant is found, if any does; no plant is one that found no guard to take away in any of them. */
async function findPlant(
  plant: Plant,
  { setting, begin, tell }: { setting: SimulationSetting; begin: (stage: Stage) => Simulation; tell: (text: string) => void },
): Promise<void> {
  let guards = 0;
  const planted = { kind: plant, onTaken: () => guards++ };
  for (let seed = 1; seed <= plantSeeds; seed++) {
    try {
      await run(seed, { ...setting, planted }, begin);
    } catch (error) {
      notePlant(setting.controllers[0]!, plant, "found");
      return tell(`found by seed ${seed}: ${String(error).split("\n")[0]}`);
    }
  }
  notePlant(setting.controllers[0]!, plant, guards > 0 ? "missed" : "none");
  tell(guards > 0 ? "not found" : "no guard to take away");
}

const plantSeeds = 30;

export interface SimulationSetting {
  /** As `--controllers`. */
  readonly controllers: readonly string[];
  /** Flags of the controller manager by name. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Flags of the API server by name. */
  readonly apiServerFlags?: Readonly<Record<string, string>>;
  /** What some of the controllers sign with. */
  readonly credentials?: ControllerProcessOptions["credentials"];
  /** Faults of the controllers' line that strike at another rate than usual, from 0 to 1. */
  readonly rates?: Partial<Record<TransportFault, number>>;
  /** Seeds in `npm test`. Default 20: a seed takes a fifth of a second. */
  readonly seeds?: number;
  /** Default n1, n2, n3. */
  readonly nodes?: readonly string[];
  readonly hollow?: HollowNodeOptions;
  /** What else runs, over a good line. */
  readonly components?: Readonly<Record<string, ClusterComponent>>;
  /** Whether others may write annotations on what the controllers replace. Default true; false where these are all the controller's. */
  readonly sharesObjects?: boolean;
  /** Random writes. Default 8. */
  readonly steps?: number;
  /** Longest time between two of them. Default 15 s. */
  readonly pauseMs?: number;
  /** Without faults nobody writes for so long before all is said to be settled. Default 90 s, longer than most retries wait. */
  readonly quietMs?: number;
}

export interface Simulation {
  /** The first desired state. */
  arrange(): Promise<unknown>;
  /** One random write. One that loses against another writer or finds nothing is no fault. */
  step(): Promise<unknown>;
  /** Throws when a commit has broken an invariant. */
  check?(change: StoredChange): void;
  /** Calm has begun; returns when all can be expected to have settled. Default: nobody has written for `quietMs`. */
  settle?(): Promise<unknown>;
  /** Throws when the desired state is not there. */
  reached(): Promise<void>;
}

export interface Stage {
  readonly cluster: TestCluster;
  /** As the cluster's admin. */
  readonly client: Client;
  readonly random: Random;
  /** At the latest commit. */
  readonly state: StoredState;
  /** Creations that may have happened without the controller hearing of it. */
  unknownCreates(): number;
}

/** Returns how many faults there were. */
async function run(seed: number, setting: SimulationSetting & { readonly planted?: Planted }, begin: (stage: Stage) => Simulation): Promise<number> {
  const random = seededRandom(seed);
  const state = new StoredState();
  const bystander = new Bystander(random);
  const controllers = new ControllerProcess({ ...setting, random, onWrite: (request) => bystander.see(request) });
  const nodes = new HollowNodes(setting.nodes ?? ["n1", "n2", "n3"], { bindsPods: true, ...setting.hollow });
  const components = { nodes: nodes.run, ...setting.components, controllers: controllers.run };
  await using cluster = await TestCluster.start({
    seed,
    image: await freshImage(),
    components,
    flags: setting.apiServerFlags ?? {},
    wrapStore: (store) => state.observe(store),
  });
  const simulation = begin({ cluster, client: cluster.client, random, state, unknownCreates: () => controllers.unknownCreates });
  const sharesObjects = setting.sharesObjects ?? true;
  const checks = [(change: StoredChange) => simulation.check?.(change), ...(sharesObjects ? [bystander.check] : [])];
  const broken = watchInvariants(checks, state, cluster);
  await cluster.advance(1000);
  await simulation.arrange();
  for (let step = 0; step < (setting.steps ?? 8); step++) {
    await cluster.advance(random.integer(setting.pauseMs ?? 15_000));
    await simulation.step().catch(ignoreRace);
    if (sharesObjects && random.integer(2) === 0) await bystander.write(cluster.client);
  }
  controllers.calm();
  await (simulation.settle?.() ?? cluster.settled({ quietMs: setting.quietMs ?? 90_000, limitMs: 3_600_000 }));
  assert.deepEqual(broken, [], `invariants, seed ${seed}`);
  await simulation.reached();
  return controllers.faults;
}

/** Every breach so far, as it was when it happened. */
function watchInvariants(checks: readonly ((change: StoredChange) => void)[], state: StoredState, cluster: TestCluster): string[] {
  const broken: string[] = [];
  state.onChange((change) => {
    try {
      for (const check of checks) check(change);
    } catch (error) {
      if (broken.length < keptBreaches)
        broken.push(`${new Date(cluster.clock.nowMs()).toISOString()} ${change.kind} ${(change.object ?? change.old)?.metadata.name}: ${String(error)}`);
    }
  });
  return broken;
}

const keptBreaches = 5;

/** For a write that may lose against another, or find nothing. */
export function ignoreRace(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}

/** What a server writes at its first start, and the account that pods run under; made once per process. */
let image: Promise<StoreImage> | undefined;

function freshImage(): Promise<StoreImage> {
  return (image ??= makeImage());
}

async function makeImage(): Promise<StoreImage> {
  await using cluster = await TestCluster.start();
  await cluster.client.create(resources.serviceAccounts, { metadata: { namespace: "default", name: "default" } });
  await cluster.settled();
  return cluster.image();
}

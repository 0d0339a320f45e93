/**
 * Hostile requests against a whole server: each gets an answer, which is a refusal with a Status (or what the request, as it happens, rightly
 * asks for), never a fault of the server, and none holds the loop for longer than DESIGN.md's budget. `kept` are seeds that once found a fault.
 */
import { deepEqual } from "node:assert/strict";
import { after, before, test } from "node:test";
import { seededRandom } from "../../../src/base/random.ts";
import { TestCluster } from "../../../src/testing/cluster.ts";
import { seedsOr } from "../../../src/testing/seeds.ts";
import { hostileRequest } from "./hostile-requests.ts";
import { judge, prepare } from "./judge.ts";

/** 6595: a patched custom resource deeper than JSON.stringify goes. 19476: a compute resource called `constructor`. The others: an int64 above 2^53, no JavaScript number, met a rule of validation. */
const kept: readonly number[] = [110, 150, 623, 1238, 1742, 4177, 5195, 6595, 6604, 6721, 19476];
const perSeed = 200;
const count = seedsOr(3) * perSeed;

let cluster: TestCluster;
before(async () => {
  cluster = await TestCluster.start();
  await prepare(cluster);
});
after(() => cluster.close());

test("bad input: seeds that were found", () => judgeAll(kept));

for (let from = 1; from <= count; from += perSeed) {
  test(`bad input: seeds ${from} to ${from + perSeed - 1}`, { timeout: 600_000 }, () => judgeAll(Array.from({ length: perSeed }, (_, index) => from + index)));
}

async function judgeAll(seeds: readonly number[]): Promise<void> {
  const faults: string[] = [];
  for (const seed of seeds) {
    const fault = await judge(cluster, hostileRequest(seededRandom(seed)));
    if (fault !== undefined) faults.push(`seed ${seed}: ${fault}`);
  }
  deepEqual(faults, []);
}

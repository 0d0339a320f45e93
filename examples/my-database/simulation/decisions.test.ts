/** Seeds of `trial.ts`: as many as CORACLE_TRIALS says, or ten for each of CORACLE_SEEDS (20). A failure prints its seed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { instancesNeeded } from "../decide.ts";
import { Trial } from "./trial.ts";

const first = Number(process.env["CORACLE_FIRST_SEED"] ?? 1);
const trials = Number(process.env["CORACLE_TRIALS"] ?? 10 * Number(process.env["CORACLE_SEEDS"] ?? 20));

test(`whatever fails, nothing acknowledged is lost, and never can two acknowledge: ${trials} trials from seed ${first}`, () => {
  for (let seed = first; seed < first + trials; seed++) {
    try {
      new Trial(seed).run();
    } catch (cause) {
      throw new assert.AssertionError({ message: `seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}` });
    }
  }
});

test("whoever is needed is not scaled away, also while there is no pod of it", () => {
  assert.equal(instancesNeeded({ replicas: 1, record: { primary: "db-1", synchronous: ["db-2"] }, members: [] }), 3);
  assert.equal(instancesNeeded({ replicas: 2, record: { primary: "db-0", synchronous: [] }, members: [] }), 2);
});

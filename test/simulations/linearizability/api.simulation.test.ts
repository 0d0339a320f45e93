/** Reads, writes, lists and watches of the API are linearizable across two servers that crash and whose store fails now and then. */
import { equal } from "node:assert/strict";
import { test } from "node:test";
import { seedsOr } from "../../../src/testing/seeds.ts";
import { ApiSubject } from "./api-subject.ts";
import { checkSubject } from "./check-subject.ts";

const seeds = seedsOr(3);

for (let seed = 1; seed <= seeds; seed++) {
  test(`linearizable: the API of two servers, seed ${seed}`, async () => {
    const subject = await ApiSubject.start(seed);
    const fault = await checkSubject(subject, seed);
    await subject.close();
    equal(fault, undefined);
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { PendingNames } from "./pending-names.ts";

test("pending names: each once, in order, again when it is added while it is worked on; the worker ends when it is told", async () => {
  const pending = new PendingNames();
  const abort = new AbortController();
  const worked: string[] = [];
  for (const name of ["a", "b", "a"]) pending.add(name);
  const lastSeen = Promise.withResolvers<void>();
  const running = pending.run(abort.signal, async (name) => {
    worked.push(name);
    if (worked.length === 1) pending.add("a");
    if (name === "late") lastSeen.resolve();
  });
  await Promise.resolve();
  await new Promise(setImmediate);
  assert.deepEqual(worked, ["a", "b", "a"]);
  pending.add("late");
  await lastSeen.promise;
  abort.abort();
  await running;
  pending.add("too late");
  assert.deepEqual(worked, ["a", "b", "a", "late"]);
});

import { test } from "node:test";
import { rejects } from "node:assert/strict";
import { silentLog } from "../../base/log.ts";
import { TaskGroup } from "../../base/task-group.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { openMemoryStore } from "../../storage/index.ts";
import { Cacher } from "./cacher.ts";

test("cacher: whoever waits for a revision is let go when the store is followed no longer, and nobody waits after that", async () => {
  const clock = new VirtualClock();
  await using store = openMemoryStore({ clock });
  const cacher = new Cacher({
    store,
    clock,
    log: silentLog,
    root: "/registry/",
    parsedLimit: 10,
    windowLimit: 10,
    normalize: (_key, value) => Buffer.from(value),
  });
  const group = new TaskGroup();
  await cacher.start(group.signal, (task) => group.start("follow", task));
  const never = cacher.revision + 1;
  const waiting = rejects(cacher.waitFor(never), { name: "AbortError" });
  await group.close();
  await waiting;
  await rejects(cacher.waitFor(never), { name: "AbortError" });
});

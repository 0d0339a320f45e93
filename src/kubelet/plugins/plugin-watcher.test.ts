import { deepEqual, equal } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { startHostPathDriver } from "../../testing/csi-host-path-driver.ts";
import { PluginWatcher } from "./plugin-watcher.ts";
import type { Plugin } from "./plugin-watcher.ts";

test("plugins: those there before and those that come are registered, a refusal is told and tried again, one that goes is deregistered", async () => {
  const folder = await mkdtemp(join(tmpdir(), "plugins-"));
  const registry = join(folder, "registry");
  const heard: string[] = [];
  const gone = Promise.withResolvers<void>();
  const came = Promise.withResolvers<void>();
  let refusals = 1;
  const handler = {
    register: async ({ name }: Plugin) => {
      if (name === "late" && refusals-- > 0) throw new Error("not now");
      heard.push(`+${name}`);
      if (name === "late") came.resolve();
    },
    deregister: async ({ name }: Plugin) => {
      heard.push(`-${name}`);
      gone.resolve();
    },
  };
  const stop = new AbortController();
  const early = await startHostPathDriver({ name: "early", directory: join(folder, "early"), registry, nodeId: "n" });
  const running = new PluginWatcher({ directory: registry, handlers: new Map([["CSIPlugin", handler]]), clock: systemClock(), log: silentLog }).run(
    stop.signal,
  );
  deepEqual(await early.registration, { plugin_registered: true, error: "" });
  await using late = await startHostPathDriver({ name: "late", directory: join(folder, "late"), registry, nodeId: "n" });
  deepEqual(await late.registration, { plugin_registered: false, error: "not now" });
  await early[Symbol.asyncDispose]();
  await Promise.all([gone.promise, came.promise]);
  deepEqual(heard.toSorted(), ["+early", "+late", "-early"]);
  stop.abort();
  await running;
  equal(heard.length, 3);
  await rm(folder, { recursive: true, force: true });
});

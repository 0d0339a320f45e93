import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import type { Log } from "../base/log.ts";
import { TestCluster } from "../testing/cluster.ts";
import { createDns } from "./index.ts";

/** For documentation only (RFC 5737): no machine has it. */
const address = "192.0.2.53";

test("dns: an address that comes after the server is waited for", { skip: whyNot() ?? false }, async () => {
  await using cluster = await TestCluster.start();
  const listening = Promise.withResolvers<void>();
  let isAdded = false;
  const add = () => {
    execFileSync("ip", ["address", "add", `${address}/32`, "dev", "lo"]);
    isAdded = true;
  };
  const log: Log = { ...silentLog, info: (message) => void (message === "Waiting for the address to listen on" && add()) };
  cluster.startComponent("dns", ({ transportFor, random, signal }) => {
    const transport = transportFor({ username: "dns", groups: ["system:masters"] });
    const run = createDns({
      transport,
      clock: systemClock(),
      random,
      log,
      listen: { address, port: 0 },
      upstreams: [],
      onListening: () => listening.resolve(),
    }).run(signal);
    run.catch(listening.reject);
    return run;
  });
  try {
    await listening.promise;
  } finally {
    if (isAdded) execFileSync("ip", ["address", "del", `${address}/32`, "dev", "lo"]);
  }
});

function whyNot(): string | undefined {
  if (process.geteuid?.() !== 0) return "needs root";
  try {
    execFileSync("sh", ["-c", "command -v ip"]);
    return undefined;
  } catch {
    return "needs iproute2";
  }
}

/**
 * `npm run bench proxy [-- SERVICES]`: the proxy's nftables dataplane with SERVICES Services (default 30,000) of two endpoints each, in a
 * network namespace of its own: planning and carrying out all, then one change at a time. Needs root and nft. Exits 1 over the budget.
 */
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import type { Service } from "../../src/api/core-v1/types.ts";
import { createNetworkNamespaces, startPrograms } from "../../src/host/index.ts";
import { createNftDataplane } from "../../src/proxy/nft/nft-dataplane.ts";
import { planService } from "../../src/proxy/plan.ts";
import type { ServicePlan } from "../../src/proxy/plan.ts";

const budget = { fullMs: 7_000, changeMs: 20 };
const count = Number(process.argv[2] ?? 30_000);
const clock = systemClock({ keepAlive: true });
const programs = startPrograms({ clock });
const namespaces = createNetworkNamespaces({ programs });
const namespace = `cbench${process.pid}`;
await namespaces.add(namespace);
try {
  const inside = Object.assign(Object.create(programs) as typeof programs, {
    run: (spec: Parameters<typeof programs.run>[0]) =>
      programs.run({ ...spec, command: "ip", args: ["netns", "exec", namespace, spec.command, ...(spec.args ?? [])] }),
  });
  const dataplane = createNftDataplane({ programs: inside, clock, log: silentLog, instanceId: "bench", podCidrs: ["10.244.0.0/16"], families: ["IPv4"] });
  const startMs = clock.monotonicMs();
  const plans = new Map<string, ServicePlan>();
  for (let index = 0; index < count; index++) plans.set(...entry(index, 0));
  const plannedMs = clock.monotonicMs();
  await dataplane.replaceAll(plans, ["10.0.0.0/8"]);
  const fullMs = clock.monotonicMs() - startMs;
  const changes: number[] = [];
  for (let round = 1; round <= 50; round++) {
    const fromMs = clock.monotonicMs();
    await dataplane.change(new Map([entry((round * 613) % count, round)]), ["10.0.0.0/8"]);
    changes.push(clock.monotonicMs() - fromMs);
  }
  changes.sort((a, b) => a - b);
  const row = {
    services: count,
    "planning all, ms": Math.round(plannedMs - startMs),
    "all, ms": Math.round(fullMs),
    "one change p50, ms": Number(changes[25]!.toFixed(1)),
    "one change p90, ms": Number(changes[45]!.toFixed(1)),
  };
  console.table([row]);
  console.log(JSON.stringify(row));
  process.exitCode = fullMs > budget.fullMs || changes[25]! > budget.changeMs ? 1 : 0;
} finally {
  await namespaces.remove(namespace);
  await programs.close();
}

/** The Service of an index; its endpoints move with `round`. */
function entry(index: number, round: number): [string, ServicePlan] {
  const address = (base: number, number: number) => `${base}.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  const service: Service = {
    metadata: { namespace: "bench", name: `service-${index}` },
    spec: { clusterIP: address(10, index + 1), ports: [{ name: "http", port: 80 }] },
  };
  const endpoints = [0, 1].map((number) => ({
    addresses: [address(11, 2 * index + number + 100_000 * round)],
    conditions: { ready: true },
    nodeName: `node-${index % 50}`,
  }));
  const plan = planService(service, [{ metadata: {}, addressType: "IPv4", ports: [{ name: "http", protocol: "TCP", port: 8080 }], endpoints }], {
    nodeName: "node-1",
  })!;
  return [plan.name, plan];
}

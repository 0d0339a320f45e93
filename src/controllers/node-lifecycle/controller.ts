import { sleep } from "../../base/clock.ts";
import { isAbort } from "../../base/task-group.ts";
import { resources } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { onNode } from "../pods/node-index.ts";
import { NodeMonitor } from "./monitor.ts";
import { planNode } from "./plan.ts";
import type { Controller, ControllerContext } from "../../operator/index.ts";
import type { MonitorSettings } from "./monitor.ts";

/** Taints nodes by their conditions at once, and looks for silent ones every few seconds. Keys are nodes. */
export function nodeLifecycleController(options: Partial<MonitorSettings> & { readonly periodMs?: number } = {}): Controller {
  const settings: MonitorSettings = { ...defaults, ...options };
  return defineController({
    name: "node-lifecycle-controller",
    account: "node-controller",
    workers: 8,
    watches: [
      watch(resources.nodes, { keys: ownKey }),
      watch(resources.leases, { selection: { namespace: "kube-node-lease" } }),
      watch(resources.pods, { indexes: onNode }),
    ],
    async start(context) {
      const monitor = new NodeMonitor(context, settings);
      await everySoOften(context, options.periodMs ?? 5000, () => monitor.look());
    },
    async reconcile(name, context) {
      const node = context.caches.of(resources.nodes).get("", name);
      if (node !== undefined) await context.carryOut(name, planNode({ node }, context.clock.nowMs()));
    },
  });
}

const defaults: MonitorSettings = {
  graceMs: 50_000,
  startupGraceMs: 60_000,
  rate: 0.1,
  secondaryRate: 0.01,
  largeZoneSize: 50,
  unhealthyThreshold: 0.55,
};

async function everySoOften({ clock, signal, log }: ControllerContext, periodMs: number, task: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    try {
      await task();
      await sleep(clock, periodMs, signal);
    } catch (error) {
      if (isAbort(error, signal)) return;
      log.warn("Could not look after the nodes, trying again", { error });
      await sleep(clock, periodMs, signal).catch(() => undefined);
    }
  }
}

/**
 * Components of which several may run: one works at a time, the holder of its Lease. Each competes when it is a process of its own, or when
 * other machines share its store; beside an API server with a store of its own there is nobody to compete with.
 */
import { hostname } from "node:os";
import { newUid } from "../../base/ids.ts";
import { Client, LeadershipLostError, runLeading } from "../../client/index.ts";
import type { Transport } from "../../apimachinery/request.ts";
import type { Environment } from "../environment.ts";
import type { UpOptions } from "../commands/up-options.ts";
import { isOn, last, secondsOf } from "./apiserver/apiserver-flags/flag-values.ts";
import type { Flags } from "./apiserver/apiserver-flags/flag-values.ts";

/** Runs `work` whenever this process leads, until `signal` aborts. Who loses the lease stops working, and competes again. */
export async function runElected(election: ElectionOptions, work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
  const { environment, options, flags, name, transport } = election;
  if (!isOn(flags, "leader-elect", hasRivals(options))) return work(signal);
  const { clock, random, log } = environment;
  const settings = {
    client: new Client({ transport, clock, userAgent: `${name}/v1.37.2 leader-election` }),
    clock,
    random,
    log,
    namespace: last(flags, "leader-elect-resource-namespace") ?? "kube-system",
    name: last(flags, "leader-elect-resource-name") ?? name,
    identity: `${hostname()}_${newUid(random)}`,
    leaseMs: secondsOf(flags, "leader-elect-lease-duration", 15) * 1000,
    renewDeadlineMs: secondsOf(flags, "leader-elect-renew-deadline", 10) * 1000,
    retryMs: secondsOf(flags, "leader-elect-retry-period", 2) * 1000,
    onLeaderChange: (leader: string) => log.info("Saw a new leader", { lease: name, leader }),
  };
  while (!signal.aborted) {
    try {
      await runLeading(settings, work, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof LeadershipLostError)) throw error;
      log.warn("Lost the lease, and competes for it again", { lease: name });
    }
  }
}

export interface ElectionOptions {
  readonly environment: Environment;
  readonly options: Pick<UpOptions, "components" | "store">;
  /** The component's own: those that begin with `leader-elect` count. */
  readonly flags: Flags;
  /** Of the component and of its lease, such as `kube-scheduler`. */
  readonly name: string;
  readonly transport: Transport;
}

function hasRivals({ components, store }: ElectionOptions["options"]): boolean {
  return !components.has("apiserver") || store.startsWith("etcd=");
}

/** Runs a scheduler as a program: against the cluster it is in, or the one of a kubeconfig. SIGTERM and SIGINT end it in order. */
import { systemClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { systemRandom } from "../base/random.ts";
import { connect, untilSignalled } from "../operator/index.ts";
import { createScheduler } from "./scheduler.ts";
import type { Log } from "../base/log.ts";
import type { SchedulerOptions } from "./scheduler.ts";

/** What the scheduler is to be, and where it runs. */
export interface RunSchedulerOptions extends Pick<SchedulerOptions, "config" | "plugins" | "gates" | "hostName" | "keptDecisions"> {
  /** Path of a kubeconfig. Default: `$KUBECONFIG`, then the pod's service account, then `~/.kube/config`. */
  readonly kubeconfig?: string;
  /** Default: to standard error, from `info` on. */
  readonly log?: Log;
  /** Ends the run; without it SIGTERM and SIGINT do. */
  readonly signal?: AbortSignal;
}

/**
 * Schedules, with plugins from outside the tree if there are any, until told to stop. Extenders are not asked. Rejects with a
 * `ConfigurationError`, or when the cluster cannot be reached at the start.
 */
export async function runScheduler(options: RunSchedulerOptions = {}): Promise<void> {
  const { kubeconfig, log: given, signal: until, ...own } = options;
  const clock = systemClock({ keepAlive: true });
  const log = given ?? createLog({ level: "info", write: (line) => process.stderr.write(`${line}\n`), nowMs: () => clock.nowMs() });
  await using running = new AsyncDisposableStack();
  const connection = await connect({ clock, environment: process.env, ...(kubeconfig !== undefined && { kubeconfig }) });
  running.use(connection.transport);
  const signal = until ?? running.use(untilSignalled()).signal;
  const scheduler = createScheduler({ ...own, transport: connection.transport.send, clock, random: systemRandom(), log });
  log.info("Started scheduler", { names: options.config?.profiles?.map(({ schedulerName }) => schedulerName) ?? ["default-scheduler"] });
  await scheduler.run(signal);
  log.info("Stopped scheduler");
}

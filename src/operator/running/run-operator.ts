/** Runs an operator as a program: against the cluster it is in, or the one of a kubeconfig. SIGTERM and SIGINT end it in order. */
import { hostname } from "node:os";
import { systemClock } from "../../base/clock.ts";
import { nameSuffix } from "../../base/ids.ts";
import { createLog } from "../../base/log.ts";
import type { Log } from "../../base/log.ts";
import { MetricRegistry } from "../../base/metrics.ts";
import { systemRandom } from "../../base/random.ts";
import { Client } from "../../client/index.ts";
import { connect } from "./connect.ts";
import type { Operator } from "./define-operator.ts";
import { serveHealth } from "./health-server.ts";
import { healthPort, webhookPort } from "./manifests.ts";
import { webhooksAt } from "./serve-webhooks.ts";

/** Where and how an operator runs. Everything has a default that fits the place. */
export interface RunOptions {
  /** Path of a kubeconfig. Default: `$KUBECONFIG`, then the pod's service account, then `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** One of several replicas leads, by a Lease. Default: in a cluster yes, outside no. */
  readonly electsLeader?: boolean;
  /** Of `/healthz`, `/readyz`, `/metrics`; 0 for any free one. Default: in a cluster 8081, outside none. */
  readonly healthPort?: number;
  /** Default 9443 in a cluster, any free one outside. */
  readonly webhookPort?: number;
  /** Where the API server reaches us when we run outside its cluster. Default 127.0.0.1. */
  readonly webhookHost?: string;
  /** Default: to standard error, from `info` on. */
  readonly log?: Log;
  /** Ends the run; without it SIGTERM and SIGINT do. */
  readonly signal?: AbortSignal;
  /** Called once definitions are served and webhooks registered. */
  readonly onReady?: () => void;
}

/** Resolves when the operator was told to stop and has stopped. Rejects when it cannot go on; the leader's lease is given up either way. */
export async function runOperator(operator: Operator, options: RunOptions = {}): Promise<void> {
  const clock = systemClock({ keepAlive: true });
  const random = systemRandom();
  const log = options.log ?? createLog({ level: "info", write: (line) => process.stderr.write(`${line}\n`), nowMs: () => clock.nowMs() });
  const metrics = new MetricRegistry();
  await using running = new AsyncDisposableStack();
  const connection = await connect({
    clock,
    environment: process.env,
    ...(options.kubeconfig !== undefined && { kubeconfig: options.kubeconfig }),
    ...(options.context !== undefined && { context: options.context }),
  });
  running.use(connection.transport);
  const { transport, isInside } = connection;
  const namespace = process.env["POD_NAMESPACE"] ?? connection.namespace;
  const signal = options.signal ?? running.use(untilSignalled()).signal;
  let isReady = false;
  const port = options.healthPort ?? (isInside ? healthPort : undefined);
  if (port !== undefined) running.adopt(await serveHealth(port, { isReady: () => isReady, metrics }), (server) => server.close());
  const client = new Client({ transport: transport.send, clock, userAgent: operator.name });
  const reach = isInside
    ? ({ kind: "service", client, namespace, name: operator.name } as const)
    : ({ kind: "host", host: options.webhookHost ?? "127.0.0.1" } as const);
  const electsLeader = options.electsLeader ?? isInside;
  log.info("Started operator", { operator: operator.name, namespace, inside: isInside });
  await operator.run(
    {
      transport: transport.send,
      clock,
      random,
      log,
      metrics,
      namespace,
      ...(electsLeader && { identity: `${process.env["POD_NAME"] ?? hostname()}_${nameSuffix(random, 8)}` }),
      serveWebhooks: webhooksAt({ clock, random, port: options.webhookPort ?? (isInside ? webhookPort : 0), reach }),
      onReady: () => {
        isReady = true;
        options.onReady?.();
      },
    },
    signal,
  );
  log.info("Stopped operator", { operator: operator.name });
}

/** A signal that aborts on SIGTERM and SIGINT; a second one ends the process at once. Disposed of, it no longer listens. */
export function untilSignalled(): { readonly signal: AbortSignal; [Symbol.dispose](): void } {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort(new DOMException(`received ${name}`, "AbortError"));
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);
  return { signal: controller.signal, [Symbol.dispose]: () => void process.off("SIGTERM", stop).off("SIGINT", stop) };
}

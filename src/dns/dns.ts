/** The cluster's DNS server as a component: answers from informers, published as the Service that pods ask. */
import { backoffMs } from "../base/backoff.ts";
import { sleep } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { MetricRegistry } from "../base/metrics.ts";
import type { Random } from "../base/random.ts";
import { isAbort, TaskGroup, untilAborted } from "../base/task-group.ts";
import type { Transport } from "../apimachinery/request.ts";
import { Client, InformerSet } from "../client/index.ts";
import { measuredResponder } from "./dns-metrics.ts";
import { publishDnsService } from "./dns-service.ts";
import type { DnsPlace } from "./dns-service.ts";
import { informerView } from "./informer-view.ts";
import { createResponder } from "./responder.ts";
import type { Respond } from "./responder.ts";
import { listenDns } from "./server.ts";
import type { DnsListener } from "./server.ts";
import { createUpstream } from "./upstream.ts";
import type { UpstreamServer } from "./upstream.ts";

export function createDns(options: DnsOptions): Dns {
  return { run: (signal) => runDns(options, signal) };
}

export interface Dns {
  /** Listens and answers until `signal` aborts. Rejects when a place to listen at is taken. */
  run(signal: AbortSignal): Promise<void>;
}

export interface DnsOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Port 0 takes a free one. */
  readonly listen: { readonly address: string; readonly port: number };
  /** Creates the Service `kube-system/kube-dns` at `clusterAddress`, leading to where we listen; absent: nothing is created. */
  readonly publish?: Omit<DnsPlace, "port" | "address">;
  /** Asked for names outside the cluster. */
  readonly upstreams: readonly UpstreamServer[];
  /** Default `cluster.local`. */
  readonly zone?: string;
  /** Where its metrics go; absent: nothing is counted. */
  readonly metrics?: MetricRegistry;
  /** Called once it answers. */
  readonly onListening?: (place: { readonly address: string; readonly port: number }) => void;
}

/** The zone's answers may be remembered so long: changes are seen within it. */
const ttlSeconds = 5;
const publishRetry = { baseMs: 1_000, maxMs: 30_000 };
const listenRetry = { baseMs: 50, maxMs: 1_000 };

interface Waiting {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

async function runDns(options: DnsOptions, signal: AbortSignal): Promise<void> {
  const { transport, clock, random, log, listen } = options;
  const client = new Client({ transport, clock, userAgent: "coracle-dns/v1.37.2 (linux/amd64) kubernetes/coracle" });
  await using informers = new InformerSet({ client, clock, random, log });
  const view = informerView(informers, { zone: options.zone ?? "cluster.local", ttlSeconds });
  const group = new TaskGroup({ parent: signal });
  try {
    // Nothing is answered before the whole state is known: a wrong "no such name" would be remembered.
    await informers.synced(signal);
    const answer = createResponder(view, createUpstream({ clock, random, servers: options.upstreams }));
    const { metrics: registry } = options;
    const family = listen.address.includes(":") ? "2" : "1";
    const respond = registry === undefined ? answer : measuredResponder(answer, { registry, clock, port: listen.port, family });
    const listener = await listenOnceThere(listen, respond, { clock, log, signal });
    try {
      options.onListening?.({ address: listen.address, port: listener.port });
      const { publish } = options;
      if (publish !== undefined)
        group.start("publish", (inner) =>
          publishUntilDone(client, { ...publish, address: listen.address, port: listener.port }, { ...options, signal: inner }),
        );
      await untilAborted(signal);
    } finally {
      await group.close();
      await listener.close();
    }
  } catch (error) {
    if (!isAbort(error, signal)) throw error;
  }
}

/** The node's bridge, whose address we listen on, is made by another component that may come later. */
async function listenOnceThere(place: DnsOptions["listen"], respond: Respond, { clock, log, signal }: Waiting): Promise<DnsListener> {
  for (let failures = 1; ; failures++) {
    try {
      return await listenDns(place, respond, log);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRNOTAVAIL") throw error;
      if (failures === 1) log.info("Waiting for the address to listen on", place);
      await sleep(clock, backoffMs(listenRetry, failures), signal);
    }
  }
}

async function publishUntilDone(client: Client, place: DnsPlace, { clock, log, signal }: Waiting): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      const isOurs = await publishDnsService(client, place);
      if (!isOurs) log.warn("Left the Service kube-system/kube-dns alone: it has a selector, so another DNS server stands behind it");
      return;
    } catch (error) {
      signal.throwIfAborted();
      log.warn("Could not publish the DNS Service", { error });
      await sleep(clock, backoffMs(publishRetry, failures), signal);
    }
  }
}

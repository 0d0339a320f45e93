import { backoffMs } from "../base/backoff.ts";
import { sleep } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { MetricRegistry } from "../base/metrics.ts";
import type { Random } from "../base/random.ts";
import { isAbort } from "../base/task-group.ts";
import type { IpFamily } from "../apimachinery/net.ts";
import type { Transport } from "../apimachinery/request.ts";
import { Client, InformerSet } from "../client/index.ts";
import type { Programs } from "../host/index.ts";
import type { Dataplane } from "./dataplane.ts";
import { createForwarderDataplane } from "./forwarder/forwarder-dataplane.ts";
import { loopbackNodePorts } from "./forwarder/listen-plan.ts";
import { HealthServers } from "./health-servers.ts";
import { createNftDataplane } from "./nft/nft-dataplane.ts";
import type { ServicePlan } from "./plan.ts";
import { proxyMetrics } from "./proxy-metrics.ts";
import type { ProxyMetrics } from "./proxy-metrics.ts";
import { ServiceView } from "./service-view.ts";

/**
 * The proxy of one node: makes Services reachable on it. Mode `nft` leaves it to the kernel, `forwarder` listens on loopback addresses
 * for pods that are local processes, `none` does nothing.
 */
export function createProxy(options: ProxyOptions): Proxy {
  return { run: (signal) => new RunningProxy(options).run(signal) };
}

export interface Proxy {
  /** Keeps the node's rules as Services and EndpointSlices say, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ProxyOptions {
  readonly transport: Transport;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Needed by mode `nft`. */
  readonly programs: Programs;
  readonly mode: ProxyMode;
  /** Part of the names of tables and of the forwarder's addresses, so that two instances on one machine do not meet. */
  readonly instanceId: string;
  readonly podCidrs: readonly string[];
  /** Address families of mode `nft`. Default: IPv4 alone. */
  readonly families?: readonly IpFamily[];
  /** Where `/healthz` and `/livez` are served; absent: nowhere. */
  readonly health?: { readonly address: string; readonly port: number };
  /** Where its metrics go; default a registry of its own. */
  readonly metrics?: MetricRegistry;
  /** Called after each carried out change with the count of Services planned anew: for benchmarks. */
  readonly onSynced?: (services: number) => void;
}

export type ProxyMode = "nft" | "forwarder" | "none";

const retryPolicy = { baseMs: 1_000, maxMs: 30_000 };

/**
 * One run of the proxy. Changes of the API are collected while a transaction is under way and become the next one.
 * Invariant: after a failure the whole state is carried out anew before any further change.
 */
class RunningProxy {
  readonly #options: ProxyOptions;
  readonly #dataplane: Dataplane | undefined;
  readonly #health: HealthServers;
  readonly #metrics: ProxyMetrics;
  readonly #plans = new Map<string, ServicePlan>();

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#metrics = proxyMetrics(options.metrics ?? new MetricRegistry(), options.clock);
    this.#dataplane = dataplaneOf(options);
    this.#health = new HealthServers(options);
  }

  async run(signal: AbortSignal): Promise<void> {
    const dataplane = this.#dataplane;
    if (dataplane === undefined) return aborted(signal);
    const { transport, clock, random, log, nodeName, mode } = this.#options;
    const client = new Client({ transport, clock, userAgent: "kube-proxy/v1.37.2 (linux/amd64) kubernetes/coracle" });
    await using informers = new InformerSet({ client, clock, random, log });
    const view = new ServiceView(informers, { nodeName, withLoopbackPods: mode === "forwarder" });
    try {
      await informers.synced(signal);
      await this.#follow(view, dataplane, signal);
    } catch (error) {
      if (!isAbort(error, signal)) throw error;
    } finally {
      view.close();
      await Promise.all([dataplane.close(), this.#health.close()]);
    }
  }

  async #follow(view: ServiceView, dataplane: Dataplane, signal: AbortSignal): Promise<void> {
    let failures = 0;
    let isWhole = false;
    for (;;) {
      await (isWhole ? view.changed(signal) : undefined);
      const changes = await this.#plan(view);
      signal.throwIfAborted();
      this.#metrics.queued(changes.size);
      try {
        if (isWhole) await this.#metrics.measure("partial", () => dataplane.change(changes, view.serviceCidrs()));
        else await this.#metrics.measure("full", () => dataplane.replaceAll(this.#plans, view.serviceCidrs()));
        [failures, isWhole] = [0, true];
        await this.#health.follow(this.#plans, changes);
        this.#options.onSynced?.(changes.size);
      } catch (error) {
        [failures, isWhole] = [failures + 1, false];
        this.#options.log.error("Could not carry out the proxy's rules", { error });
        await sleep(this.#options.clock, backoffMs(retryPolicy, failures), signal);
      }
    }
  }

  /** Plans every Service that changed; yields now and then, since there may be tens of thousands at the start. */
  async #plan(view: ServiceView): Promise<Map<string, ServicePlan | undefined>> {
    const changes = new Map<string, ServicePlan | undefined>();
    for (const name of view.takeChanged()) {
      const plan = view.plan(name);
      if (plan !== undefined) this.#plans.set(name, plan);
      else if (!this.#plans.delete(name)) continue;
      changes.set(name, plan);
      if (changes.size % 500 === 0) await sleep(this.#options.clock, 0);
    }
    return changes;
  }
}

function dataplaneOf(options: ProxyOptions): Dataplane | undefined {
  switch (options.mode) {
    case "nft":
      return both(
        createNftDataplane({ ...options, families: options.families ?? ["IPv4"] }),
        createForwarderDataplane({ ...options, places: loopbackNodePorts }),
      );
    case "forwarder":
      return createForwarderDataplane(options);
    case "none":
      return undefined;
  }
}

/** The second follows the first. */
function both(first: Dataplane, second: Dataplane): Dataplane {
  return {
    async replaceAll(plans, serviceCidrs) {
      await first.replaceAll(plans, serviceCidrs);
      await second.replaceAll(plans, serviceCidrs);
    },
    async change(plans, serviceCidrs) {
      await first.change(plans, serviceCidrs);
      await second.change(plans, serviceCidrs);
    },
    async close() {
      await Promise.all([first.close(), second.close()]);
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

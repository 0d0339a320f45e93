/**
 * Keeps the condition `Available` of every APIService. An APIService whose server is elsewhere has a watch of its own, which asks that server
 * when the APIService, its Service or its slices change, every 30 s while it answers, and sooner while it does not. Driven by the caches; runs
 * in the server's task group.
 */
import { backoffMs } from "../../base/backoff.ts";
import type { APIService } from "../../api/apiregistration-v1/types.ts";
import type { Service } from "../../api/core-v1/types.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { isConflict, isNotFound } from "../../apimachinery/status.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import { updateInternally } from "../registry/internal-writes.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { findObject } from "../registry/rule-context.ts";
import type { ServerState } from "../server-state.ts";
import { slicesOf } from "../webhooks/service-address.ts";
import { decideAvailability, withAvailability } from "./availability.ts";
import type { Availability } from "./availability.ts";
import { probeExtension } from "./probe.ts";

const repeatMs = 30_000;
const retry = { baseMs: 5000, maxMs: 30_000 };

/** The watch over one APIService. */
interface Watch {
  /** `namespace/name` of its Service. */
  service: string;
  /** Something changed since it was looked at. */
  isDue: boolean;
  isOver: boolean;
  wake: () => void;
}

/** When to look again, if nothing changes. */
type Pause = "until something changes" | "while it is well" | "until it is well" | "for good";

export class AvailabilityController {
  readonly #server: ServerState;
  readonly #definition: ResourceDefinition;
  readonly #watches = new Map<string, Watch>();

  constructor(server: ServerState) {
    this.#server = server;
    this.#definition = server.resources.find("apiregistration.k8s.io", "v1", "apiservices")!;
  }

  start(): void {
    const cacheOf = (group: string, resource: string) => this.#server.resources.preferred(group, resource)!.storage!.cache;
    this.#cache.listen(({ type, object }) => (type === "DELETED" ? this.#end(object.key) : this.#changed(object.key)));
    cacheOf("", "services").listen(({ object }) => this.#serviceChanged(object.key));
    const slices = cacheOf("discovery.k8s.io", "endpointslices");
    slices.listen(({ object }) => {
      if (this.#watches.size === 0) return;
      const { namespace = "", labels } = slices.parse(object).metadata;
      this.#serviceChanged(`${namespace}/${labels?.["kubernetes.io/service-name"] ?? ""}`);
    });
    for (const [name] of this.#cache.state.prefixed("")) this.#changed(name);
  }

  get #cache(): ResourceCache {
    return this.#definition.storage!.cache;
  }

  #find(name: string): APIService | undefined {
    const stored = this.#cache.get(name);
    return stored === undefined ? undefined : (this.#cache.parse(stored) as unknown as APIService);
  }

  #changed(name: string): void {
    const apiService = this.#find(name);
    if (apiService === undefined) return;
    const reference = apiService.spec?.service;
    const service = reference === undefined ? "" : `${reference.namespace ?? ""}/${reference.name ?? ""}`;
    const watch = this.#watches.get(name);
    if (watch !== undefined) {
      watch.service = service;
      this.#wake(watch);
    } else if (reference !== undefined || !isRight(apiService)) this.#begin(name, service);
  }

  #serviceChanged(key: string): void {
    for (const watch of this.#watches.values()) if (watch.service === key) this.#wake(watch);
  }

  #wake(watch: Watch): void {
    watch.isDue = true;
    watch.wake();
  }

  #begin(name: string, service: string): void {
    const watch: Watch = { service, isDue: true, isOver: false, wake: () => {} };
    this.#watches.set(name, watch);
    this.#server.tasks.start(`availability of APIService ${name}`, (signal) => this.#run(name, watch, signal));
  }

  #end(name: string): void {
    const watch = this.#watches.get(name);
    if (watch === undefined) return;
    this.#watches.delete(name);
    watch.isOver = true;
    watch.wake();
  }

  async #run(name: string, watch: Watch, signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!watch.isOver && !signal.aborted) {
      watch.isDue = false;
      const pause = await this.#look(name, signal);
      failures = pause === "until it is well" ? failures + 1 : 0;
      if (pause === "for good") this.#end(name);
      else if (!watch.isDue)
        await this.#wait(watch, pause === "until something changes" ? undefined : failures > 0 ? backoffMs(retry, failures) : repeatMs, signal);
    }
  }

  async #wait(watch: Watch, delayMs: number | undefined, signal: AbortSignal): Promise<void> {
    if (watch.isOver || signal.aborted) return;
    const woken = Promise.withResolvers<void>();
    watch.wake = woken.resolve;
    const cancel = delayMs === undefined ? () => {} : this.#server.clock.after(delayMs, woken.resolve);
    signal.addEventListener("abort", watch.wake, { once: true });
    await woken.promise;
    signal.removeEventListener("abort", watch.wake);
    cancel();
  }

  async #look(name: string, signal: AbortSignal): Promise<Pause> {
    const apiService = this.#find(name);
    if (apiService === undefined) return "for good";
    try {
      const { service: { namespace = "", name: serviceName = "" } = {} } = apiService.spec ?? {};
      const service = findObject(this.#server, "/services", namespace, serviceName) as unknown as Service | undefined;
      const decided = decideAvailability({ apiService, service, slices: slicesOf(this.#server, namespace, serviceName) });
      const availability = decided === "probe" ? await this.#probe(name, signal) : decided;
      if (availability === undefined) return "for good";
      await this.#write(name, availability);
      if (decided === "probe") return availability.status === "True" ? "while it is well" : "until it is well";
      return decided.reason === "Local" ? "for good" : "until something changes";
    } catch (error) {
      if (signal.aborted) return "for good";
      // Somebody else wrote it, or deleted it: that wakes us.
      if (!isConflict(error) && !isNotFound(error)) this.#server.log.warn("Could not tell the availability of an APIService", { name, error });
      return "until it is well";
    }
  }

  async #probe(name: string, signal: AbortSignal): Promise<Availability | undefined> {
    const remote = this.#server.apiServices.remotes.find((served) => served.name === name);
    return remote === undefined ? undefined : probeExtension(this.#server, remote, signal);
  }

  async #write(name: string, availability: Availability): Promise<void> {
    const server = this.#server;
    const next = (apiService: APIService) => withAvailability(apiService.status?.conditions ?? [], availability, server.clock.nowMs());
    const now = this.#find(name);
    if (now === undefined || next(now) === undefined) return;
    await updateInternally(server, this.#definition, { namespace: "", name, subresource: "status" }, (old) => {
      const conditions = next(old as unknown as APIService);
      return conditions && ({ ...old, status: { ...(old["status"] as object | undefined), conditions } } as KubeObject);
    });
  }
}

function isRight(local: APIService): boolean {
  return (
    withAvailability(local.status?.conditions ?? [], decideAvailability({ apiService: local, service: undefined, slices: [] }) as Availability, 0) === undefined
  );
}

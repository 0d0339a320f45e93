import { deadline } from "../../base/clock.ts";
import { discoverResources, preferredResources, resourceLabel } from "../../client/index.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { Change, Client, DiscoveredResource, Informer, InformerSet, ResourceType } from "../../client/index.ts";

/** Follows every resource that can be deleted and watched, as metadata only where no other controller follows it, and keeps up with resources that come and go. */
export class Monitors {
  readonly #options: MonitorOptions;
  readonly #running = new Map<string, Monitor>();

  constructor(options: MonitorOptions) {
    this.#options = options;
  }

  /** Asks the server what it offers and follows exactly that; resolves when all caches are full. Returns what was discovered. */
  async refresh(signal: AbortSignal): Promise<readonly DiscoveredResource[]> {
    const discovered = await discoverResources(this.#options.client, { signal });
    const wanted = new Map(
      preferredResources(discovered)
        .filter(isCollectable)
        .map(({ type }) => [monitorKey(type), type]),
    );
    for (const [key, monitor] of this.#running) {
      if (wanted.has(key)) continue;
      this.#running.delete(key);
      monitor.stop();
    }
    for (const [key, resource] of wanted) if (!this.#running.has(key)) this.#running.set(key, this.#start(resource, signal));
    await Promise.all(Array.from(this.#running.values(), ({ synced }) => synced));
    return discovered;
  }

  close(): void {
    for (const { stop } of this.#running.values()) stop();
    this.#running.clear();
  }

  #start(resource: ResourceType, signal: AbortSignal): Monitor {
    const { informer, release } = this.#options.informers.borrowMetadata(resource);
    const unsubscribe = informer.subscribe((change) => this.#options.onChange(resource, change));
    const stop = () => {
      unsubscribe();
      release();
    };
    return { stop, synced: this.#filled(informer, signal) };
  }

  /** A resource that cannot be listed, such as one of a broken backend, must not hold up all others. */
  async #filled(informer: Informer<KubeObject>, signal: AbortSignal): Promise<void> {
    const limit = deadline(this.#options.clock, syncPatienceMs, signal);
    try {
      await informer.synced(limit.signal);
    } catch (error) {
      if (signal.aborted || !limit.signal.aborted) throw error;
    } finally {
      limit.cancel();
    }
  }
}

export interface MonitorOptions {
  readonly client: Client;
  readonly informers: InformerSet;
  readonly onChange: (resource: ResourceType, change: Change<KubeObject>) => void;
  readonly clock: Clock;
}

interface Monitor {
  readonly stop: () => void;
  readonly synced: Promise<void>;
}

/** So long an informer that does not fill keeps the others waiting. */
const syncPatienceMs = 30_000;

function isCollectable({ type, verbs }: DiscoveredResource): boolean {
  if (type.resource === "events" && (type.group === "" || type.group === "events.k8s.io")) return false;
  return ["delete", "list", "watch"].every((verb) => verbs.has(verb));
}

function monitorKey(resource: ResourceType): string {
  return `${resourceLabel(resource)}/${resource.version}`;
}

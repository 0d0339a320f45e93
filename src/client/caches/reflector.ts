import { backoffMs } from "../../base/backoff.ts";
import { sleep } from "../../base/clock.ts";
import { isAbort } from "../../base/task-group.ts";
import { isExpired, isInvalid, isStatusReason, StatusError } from "../../apimachinery/status.ts";
import { watchError } from "../client.ts";
import { compareResourceVersions } from "./resource-version.ts";
import type { BackoffPolicy } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Client, WatchEvent } from "../client.ts";
import type { ListOptions, WatchOptions } from "../requests/request-builder.ts";
import type { ResourceType } from "../resource-type.ts";

/**
 * Follows one resource for ever: the full state first, then every change, whatever the server does in between. Driven by an informer,
 * which iterates. Phases:
 * - start: the whole state through a watch with initial events (KEP-3157), or page by page where the server refuses that
 * - follow: a watch from the newest version seen; when it ends it is opened again from there
 * A version that the server has forgotten (410) leads back to start; every other failure is tried again with growing, jittered pauses.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  #resourceVersion: string | undefined;
  #canStream = true;
  #failures = 0;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
  }

  /** Updates in batches, until `signal` aborts: then it throws the signal's reason. */
  async *follow(signal: AbortSignal): AsyncGenerator<readonly CacheUpdate<T>[], never> {
    const { clock, random } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const openedMs = clock.monotonicMs();
      let hasProgressed = false;
      try {
        const updates = this.#resourceVersion === undefined ? this.#start(signal) : this.#changes(signal);
        for await (const batch of updates) {
          hasProgressed = true;
          this.#failures = 0;
          yield batch;
        }
        // A server that ends watches at once without a word must not be asked again in a tight loop.
        if (hasProgressed || clock.monotonicMs() - openedMs >= shortWatchMs) continue;
        this.#failures += 1;
      } catch (error) {
        if (isAbort(error, signal)) throw signal.reason;
        this.#recover(error);
      }
      if (this.#failures > 0) await sleep(clock, backoffMs(reflectorBackoff, this.#failures, random), signal);
    }
  }

  #recover(error: unknown): void {
    const { log, resource } = this.#options;
    if (isExpired(error) && this.#resourceVersion !== undefined) {
      log.debug("Resource version has expired, listing again", { resource: resource.resource });
      this.#resourceVersion = undefined;
      return;
    }
    if (this.#canStream && this.#resourceVersion === undefined && refusesStreaming(error)) {
      this.#canStream = false;
      return;
    }
    this.#failures += 1;
    log.warn("Could not follow a resource, trying again", { resource: resource.resource, group: resource.group, failures: this.#failures, error });
  }

  async *#start(signal: AbortSignal): AsyncGenerator<CacheUpdate<T>[], void> {
    if (this.#canStream) yield* this.#stream(signal);
    else yield [await this.#list(signal)];
  }

  /** One watch that first sends the state and then goes on. */
  async *#stream(signal: AbortSignal): AsyncGenerator<CacheUpdate<T>[], void> {
    const initial = new Map<string, T>();
    let isInitial = true;
    for await (const events of this.#watch({ sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }, signal)) {
      if (!isInitial) {
        yield* this.#changesOf(events);
        continue;
      }
      for (const [position, event] of events.entries()) {
        if (event.type === "ERROR") throw watchError(event.object);
        const { namespace = "", name = "" } = event.object.metadata;
        if (event.type !== "BOOKMARK") {
          if (event.type === "DELETED") initial.delete(`${namespace}/${name}`);
          else initial.set(`${namespace}/${name}`, event.object);
        } else if (event.object.metadata.annotations?.[initialEventsEnd] === "true") {
          isInitial = false;
          yield [this.#replace([...initial.values()], event.object.metadata.resourceVersion ?? "")];
          initial.clear();
          yield* this.#changesOf(events.slice(position + 1));
          break;
        }
      }
    }
  }

  async #list(signal: AbortSignal): Promise<CacheUpdate<T>> {
    const { client, resource, namespace, selection } = this.#options;
    const objects: T[] = [];
    let resourceVersion = "";
    let next: string | undefined;
    do {
      const page = await client.list(resource, namespace, { ...selection, limit: pageSize, ...(next !== undefined && { continue: next }), signal });
      for (const item of page.items) objects.push(item);
      resourceVersion = page.metadata.resourceVersion ?? "";
      next = page.metadata.continue === "" ? undefined : page.metadata.continue;
    } while (next !== undefined);
    return this.#replace(objects, resourceVersion);
  }

  async *#changes(signal: AbortSignal): AsyncGenerator<CacheUpdate<T>[], void> {
    for await (const events of this.#watch({ resourceVersion: this.#resourceVersion! }, signal)) yield* this.#changesOf(events);
  }

  #watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<WatchEvent<T>[], void> {
    const { client, resource, namespace, selection, random } = this.#options;
    // Spread, so that a thousand watches opened together do not end together.
    const timeoutSeconds = minWatchSeconds + random.integer(minWatchSeconds);
    return client.watchBatches(resource, namespace, { ...selection, ...options, allowWatchBookmarks: true, timeoutSeconds }, signal);
  }

  #replace(objects: readonly T[], resourceVersion: string): CacheUpdate<T> {
    this.#resourceVersion = resourceVersion;
    return { kind: "replace", objects, resourceVersion };
  }

  /** The changes up to an error, then the error. */
  *#changesOf(events: readonly WatchEvent<T>[]): Generator<CacheUpdate<T>[], void> {
    const updates: CacheUpdate<T>[] = [];
    for (const event of events) {
      if (event.type === "ERROR") {
        if (updates.length > 0) yield updates;
        throw watchError(event.object);
      }
      updates.push(this.#change(event));
    }
    if (updates.length > 0) yield updates;
  }

  #change(event: Exclude<WatchEvent<T>, { type: "ERROR" }>): CacheUpdate<T> {
    const resourceVersion = event.object.metadata.resourceVersion ?? "";
    if (compareResourceVersions(resourceVersion, this.#resourceVersion) > 0) this.#resourceVersion = resourceVersion;
    if (event.type === "BOOKMARK") return { kind: "bookmark", resourceVersion };
    return { kind: event.type === "DELETED" ? "remove" : "put", object: event.object, resourceVersion };
  }
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Client;
  readonly resource: ResourceType<T>;
  /** `""`: all namespaces. */
  readonly namespace: string;
  readonly selection: Pick<ListOptions, "labelSelector" | "fieldSelector">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * - replace: the whole state as of a version
 * - put, remove: one object changed; a removed one is given as it last was
 * - bookmark: nothing changed up to this version
 */
export type CacheUpdate<T> =
  | { readonly kind: "replace"; readonly objects: readonly T[]; readonly resourceVersion: string }
  | { readonly kind: "put" | "remove"; readonly object: T; readonly resourceVersion: string }
  | { readonly kind: "bookmark"; readonly resourceVersion: string };

/** The annotation of the bookmark that ends the initial events (KEP-3157). */
const initialEventsEnd = "k8s.io/initial-events-end";
const reflectorBackoff: BackoffPolicy = { baseMs: 800, maxMs: 30_000, jitter: 0.5 };
const shortWatchMs = 1000;
const minWatchSeconds = 300;
const pageSize = 500;

/** A server without streaming lists calls the options invalid. */
function refusesStreaming(error: unknown): boolean {
  return isInvalid(error) || isStatusReason(error, "BadRequest") || (error instanceof StatusError && error.code === 422);
}

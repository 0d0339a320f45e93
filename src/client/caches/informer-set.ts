import { TaskGroup } from "../../base/task-group.ts";
import { Informer } from "./informer.ts";
import { metadataOf, resourceLabel } from "../resource-type.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Client } from "../client.ts";
import type { ResourceType } from "../resource-type.ts";

/**
 * Hands out one informer per resource and selection, shared by everyone in the process. An informer runs from its first use; one that
 * was only borrowed stops when the last borrower gives it back. `close` stops all and returns when nothing runs.
 */
export class InformerSet implements AsyncDisposable {
  readonly #options: InformerSetOptions;
  readonly #group: TaskGroup;
  readonly #entries = new Map<string, Entry>();

  constructor(options: InformerSetOptions) {
    this.#options = options;
    this.#group = new TaskGroup({ onFailure: (name, error) => options.log.error("An informer failed", { name, error }) });
  }

  /** The informer of a resource, kept until the set is closed. */
  get<T extends KubeObject>(resource: ResourceType<T>, selection: InformerSelection = {}): Informer<T> {
    const entry = this.#entry(resource, selection);
    entry.isKept = true;
    return entry.informer as unknown as Informer<T>;
  }

  /** The informer of a resource for a time: `release` gives it back. */
  borrow<T extends KubeObject>(resource: ResourceType<T>, selection: InformerSelection = {}): { readonly informer: Informer<T>; readonly release: () => void } {
    const entry = this.#entry(resource, selection);
    entry.borrowers += 1;
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      entry.borrowers -= 1;
      if (entry.borrowers > 0 || entry.isKept) return;
      this.#entries.delete(entry.key);
      entry.stop();
    };
    return { informer: entry.informer as unknown as Informer<T>, release };
  }

  /** An informer of at least the metadata of a resource's objects: the one of whole objects where that runs anyway, else one of metadata only. */
  borrowMetadata(resource: ResourceType): { readonly informer: Informer<KubeObject>; readonly release: () => void } {
    const isFollowed = this.#entries.get(entryKey(resource, {}))?.isKept === true;
    return isFollowed ? this.borrow(resource) : this.borrow(metadataOf(resource));
  }

  /** Resolves when every informer handed out so far holds the full state. */
  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all(Array.from(this.#entries.values(), ({ informer }) => informer.synced(signal)));
  }

  async close(): Promise<void> {
    this.#entries.clear();
    await this.#group.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #entry<T extends KubeObject>(resource: ResourceType<T>, selection: InformerSelection): Entry {
    const { namespace = "", ...selectors } = selection;
    const key = entryKey(resource, selection);
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const informer = new Informer<T>({ ...this.#options, resource, namespace, selection: selectors });
    const stopper = new AbortController();
    const entry: Entry = { key, informer: informer as unknown as Informer<KubeObject>, borrowers: 0, isKept: false, stop: () => stopper.abort() };
    this.#entries.set(key, entry);
    this.#group.start(`informer ${resourceLabel(resource)}`, (signal) => informer.run(AbortSignal.any([signal, stopper.signal])));
    return entry;
  }
}

/** What informers need. */
export interface InformerSetOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The part of a resource that is cached. Absent members select everything. */
export interface InformerSelection {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

function entryKey(resource: ResourceType, { namespace = "", labelSelector = "", fieldSelector = "" }: InformerSelection): string {
  return JSON.stringify([resource.group, resource.version, resource.resource, resource.representation ?? "", namespace, labelSelector, fieldSelector]);
}

interface Entry {
  readonly key: string;
  readonly informer: Informer<KubeObject>;
  borrowers: number;
  isKept: boolean;
  readonly stop: () => void;
}

import { isAlreadyExists, isConflict, resources } from "../../src/client/index.ts";
import type { Client, ConfigMap, DeepReadonly } from "../../src/client/index.ts";

/** Four writers that go through several API servers until they are stopped, and remember what was acknowledged. Each counts up in one ConfigMap after the other. */
export class Writers {
  readonly #clients: readonly Client[];
  readonly #prefix: string;
  /** The last acknowledged count of each object. */
  readonly #counts = new Map<string, number>();
  readonly #stopped = new AbortController();
  readonly #running: readonly Promise<void>[];
  #total = 0;
  #lastMs = performance.now();
  #longestGapMs = 0;
  #waiters: { readonly total: number; readonly resolve: () => void }[] = [];

  constructor(clients: readonly Client[], prefix: string) {
    this.#clients = clients;
    this.#prefix = prefix;
    this.#running = Array.from({ length: 4 }, (_, writer) => this.#write(writer));
  }

  /** Resolves after this many more acknowledgements, with the longest time between two of them since the call, in ms. */
  async acknowledged(count: number): Promise<number> {
    this.#longestGapMs = 0;
    this.#lastMs = performance.now();
    await new Promise<void>((resolve) => this.#waiters.push({ total: this.#total + count, resolve }));
    return Math.round(this.#longestGapMs);
  }

  /** The last acknowledged count of each object, as of now. */
  snapshot(): ReadonlyMap<string, number> {
    return new Map(this.#counts);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running);
  }

  async #write(writer: number): Promise<void> {
    for (let index = 0; !this.#stopped.signal.aborted; index++) {
      const name = `${this.#prefix}-${writer}-${index}`;
      for (let count = 0; count < countsPerObject && !this.#stopped.signal.aborted; count++) {
        await this.#persist(writer + count, (client) => writeCount(client, name, count));
        this.#acknowledge(name, count);
      }
    }
  }

  /** Tries at one server after the other until one has acknowledged. */
  async #persist(first: number, write: (client: Client) => Promise<void>): Promise<void> {
    for (let turn = first; ; turn++) {
      try {
        return await write(this.#clients[turn % this.#clients.length]!);
      } catch {
        // Whatever is down, another server may answer; so that nobody waits in a tight loop, the event loop turns.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  #acknowledge(name: string, count: number): void {
    this.#counts.set(name, count);
    const nowMs = performance.now();
    this.#longestGapMs = Math.max(this.#longestGapMs, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.#total++;
    for (const { resolve } of this.#waiters.filter(({ total }) => total <= this.#total)) resolve();
    this.#waiters = this.#waiters.filter(({ total }) => total > this.#total);
  }
}

const countsPerObject = 5;

/** An attempt whose answer was lost may have been carried out: then the object is there, or counts so far already. */
async function writeCount(client: Client, name: string, count: number): Promise<void> {
  const data = { count: String(count) };
  try {
    if (count === 0) await client.create(resources.configMaps, { metadata: { name, namespace: "default" }, data });
    else {
      const { metadata } = await client.get(resources.configMaps, "default", name);
      await client.update(resources.configMaps, { metadata: { name, namespace: "default", resourceVersion: metadata.resourceVersion! }, data });
    }
  } catch (error) {
    if (!isAlreadyExists(error) && !isConflict(error)) throw error;
    // Nobody else writes this object.
    const current = await client.get(resources.configMaps, "default", name);
    if (Number(current.data?.["count"]) !== count) throw error;
  }
}

/** What was acknowledged and is missing among `objects`, or older there. */
export function lostCounts(acknowledged: ReadonlyMap<string, number>, objects: readonly DeepReadonly<ConfigMap>[]): string[] {
  const counts = new Map(objects.map(({ metadata, data }) => [metadata.name, Number(data?.["count"])]));
  return [...acknowledged].filter(([name, count]) => !((counts.get(name) ?? -1) >= count)).map(([name, count]) => `${name}: ${counts.get(name)} < ${count}`);
}

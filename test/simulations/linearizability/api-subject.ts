/**
 * Two API servers on one store as what clients use side by side: keys are ConfigMaps, clients take turns between the servers. A crash takes
 * one of the servers and what it was doing; another one starts in its place.
 */
import { invariant } from "../../../src/base/invariant.ts";
import { seededRandom } from "../../../src/base/random.ts";
import type { Random } from "../../../src/base/random.ts";
import { loopTurn, VirtualClock } from "../../../src/base/virtual-clock.ts";
import { loopbackTransport, readBody } from "../../../src/client/index.ts";
import { openMemoryStore } from "../../../src/storage/index.ts";
import type { Store } from "../../../src/storage/index.ts";
import { TestCluster } from "../../../src/testing/cluster.ts";
import type { FaultRates } from "../../../src/testing/fault-store.ts";
import { KeptStore } from "../../../src/testing/kept-store.ts";
import type { Call, Change, Kept, Outcome } from "./history.ts";
import type { Subject } from "./workload.ts";

export class ApiSubject implements Subject {
  readonly #random: Random;
  readonly #store: Store;
  readonly #servers: Server[] = [];
  #crashes = 0;

  static async start(seed: number): Promise<ApiSubject> {
    const subject = new ApiSubject(seed);
    for (let index = 0; index < 2; index++) subject.#servers.push(await Server.start(subject.#store, subject.#random));
    return subject;
  }

  private constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#store = openMemoryStore({ clock: new VirtualClock() });
  }

  async call(client: number, key: string, call: Call): Promise<Outcome> {
    const object = `${collection}/${key}`;
    const server = this.#of(client);
    switch (call.kind) {
      case "get":
        return { kind: "read", kept: keptOf(await server.ask("GET", object, [200, 404])) };
      case "delete":
        return outcomeOf(
          await server.ask("DELETE", object, [200, 404, 409], {
            kind: "DeleteOptions",
            apiVersion: "v1",
            preconditions: { resourceVersion: String(call.expected) },
          }),
        );
      case "put": {
        const body = {
          kind: "ConfigMap",
          apiVersion: "v1",
          metadata: { name: key, ...(call.expected > 0 && { resourceVersion: String(call.expected) }) },
          data: { value: call.value },
        };
        return outcomeOf(call.expected > 0 ? await server.ask("PUT", object, [200, 404, 409], body) : await server.ask("POST", collection, [201, 409], body));
      }
    }
  }

  /** In one piece, or in pages of one. */
  async list(client: number): Promise<{ items: Map<string, Kept>; revision: number }> {
    const server = this.#of(client);
    const items = new Map<string, Kept>();
    const limit = this.#random.integer(2) === 0 ? "" : "limit=1";
    let revision: number;
    let next = "";
    do {
      const { json } = await server.ask("GET", `${collection}?${limit}${next}`, [200]);
      const { metadata, items: found } = json as unknown as ConfigMapList;
      for (const item of found) items.set(item.metadata.name, keptOfItem(item));
      revision = Number(metadata.resourceVersion);
      next = metadata.continue === undefined ? "" : `&continue=${encodeURIComponent(metadata.continue)}`;
    } while (next !== "");
    return { items, revision };
  }

  async *watch(client: number, after: number, signal: AbortSignal): AsyncGenerator<{ changes: Change[]; revision: number }> {
    const response = await this.#of(client).send("GET", `${collection}?watch=true&resourceVersion=${after}`, undefined, signal);
    if (response.body.kind !== "stream") throw new Refused(response.status);
    try {
      for await (const chunk of response.body.chunks) {
        const changes = Buffer.from(chunk)
          .toString()
          .trimEnd()
          .split("\n")
          .map((line) => changeOf(JSON.parse(line) as WatchEvent));
        yield { changes, revision: changes.at(-1)!.revision };
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  isHistoryGone(error: unknown): boolean {
    return error instanceof Refused && error.status === 410;
  }

  async turn(): Promise<void> {
    await loopTurn();
    for (const server of this.#servers) server.passTime();
  }

  async crash(): Promise<void> {
    const index = this.#crashes++ % this.#servers.length;
    await this.#servers[index]!.crash();
    this.#servers[index] = await Server.start(this.#store, this.#random);
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.crash();
    await this.#store.close();
  }

  #of(client: number): Server {
    return this.#servers[client % this.#servers.length]!;
  }
}

class SharedStore extends KeptStore {
  override readonly isShared = true;
}

/** One API server, and the faults between it and the store, which begin when it is ready. */
class Server {
  readonly #cluster: TestCluster;
  readonly #store: KeptStore;

  static async start(shared: Store, random: Random): Promise<Server> {
    const rates: { -readonly [Key in keyof FaultRates]: number } = { failBefore: 0, failAfter: 0, delay: 0, compact: 0 };
    let store: KeptStore | undefined;
    const wrapStore = (_own: Store, clock: ConstructorParameters<typeof KeptStore>[1]["clock"]) =>
      (store = new SharedStore(shared, { clock, random, rates, maxDelayMs: 50 }));
    const cluster = await TestCluster.start({ seed: random.integer(1_000_000), wrapStore });
    Object.assign(rates, { failBefore: 0.02, failAfter: 0.05, delay: 0.2, compact: 0.02 });
    return new Server(cluster, store!);
  }

  private constructor(cluster: TestCluster, store: KeptStore) {
    this.#cluster = cluster;
    this.#store = store;
  }

  send(method: string, target: string, body?: object, signal: AbortSignal = new AbortController().signal) {
    const [path = "", query = ""] = target.split("?");
    const headers = { accept: "application/json", "content-type": "application/json" };
    return loopbackTransport(
      this.#cluster.handle,
      admin,
    )({ method, path, query, headers, body: Buffer.from(body === undefined ? "" : JSON.stringify(body)), signal });
  }

  /** Rejects when the answer is none of those that say something of the state. */
  async ask(method: string, target: string, expected: readonly number[], body?: object): Promise<{ status: number; json: object }> {
    const response = await this.send(method, target, body);
    const bytes = await readBody(response.body);
    if (!expected.includes(response.status)) throw new Refused(response.status);
    return { status: response.status, json: JSON.parse(Buffer.from(bytes).toString()) as object };
  }

  /** Fires what falls due soon. */
  passTime(): void {
    this.#cluster.clock.fireNext(this.#cluster.clock.nowMs() + 1000);
  }

  async crash(): Promise<void> {
    this.#store.crash();
    await this.#cluster.turn();
    await this.#cluster.close();
  }
}

class Refused extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`answered ${status}`);
    this.status = status;
  }
}

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data: { readonly value: string };
}
interface ConfigMapList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly ConfigMap[];
}
interface WatchEvent {
  readonly type: string;
  readonly object: ConfigMap & { readonly code?: number };
}

const collection = "/api/v1/namespaces/default/configmaps";
const admin = { username: "admin", groups: ["system:masters", "system:authenticated"] };

function outcomeOf({ status, json }: { status: number; json: object }): Outcome {
  if (status === 404) return { kind: "refused", current: { kept: undefined } };
  if (status === 409) return { kind: "refused" };
  const { metadata } = json as ConfigMap;
  // A deletion answers with a Status, which has no revision.
  return { kind: "committed", revision: metadata.resourceVersion === undefined ? undefined : Number(metadata.resourceVersion) };
}

function keptOf({ status, json }: { status: number; json: object }): Kept | undefined {
  return status === 404 ? undefined : keptOfItem(json as ConfigMap);
}

function keptOfItem({ metadata, data }: ConfigMap): Kept {
  return { value: data.value, revision: Number(metadata.resourceVersion) };
}

function changeOf({ type, object }: WatchEvent): Change {
  if (type === "ERROR") throw new Refused(object.code ?? 500);
  invariant(type === "ADDED" || type === "MODIFIED" || type === "DELETED", `an event of type ${type}`);
  return { kind: type === "DELETED" ? "delete" : "put", key: object.metadata.name, ...keptOfItem(object) };
}

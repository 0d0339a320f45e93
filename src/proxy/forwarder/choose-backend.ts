import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Backend } from "../backends.ts";

/** Beyond this the client that has been away longest is forgotten. */
const maxClients = 10_000;

/** Chooses a backend for each client: at random, or the one it had before when the Service has session affinity. */
export class BackendChooser {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #clients = new Map<string, { backend: string; lastMs: number }>();
  #backends: readonly Backend[] = [];
  #affinityMs: number | undefined;

  constructor(options: { clock: Clock; random: Random }) {
    this.#clock = options.clock;
    this.#random = options.random;
  }

  set(backends: readonly Backend[], affinitySeconds: number | undefined): void {
    this.#backends = backends;
    this.#affinityMs = affinitySeconds === undefined ? undefined : affinitySeconds * 1000;
    const names = new Set(backends.map(nameOf));
    for (const [client, { backend }] of this.#clients) if (this.#affinityMs === undefined || !names.has(backend)) this.#clients.delete(client);
  }

  /** Every backend, the chosen one first: the others are for when it does not answer. */
  orderFor(client: string): readonly Backend[] {
    if (this.#backends.length === 0) return [];
    const known = this.#remembered(client);
    const index = known >= 0 ? known : this.#random.integer(this.#backends.length);
    return [...this.#backends.slice(index), ...this.#backends.slice(0, index)];
  }

  /** The client was led to this backend. */
  remember(client: string, backend: Backend): void {
    if (this.#affinityMs === undefined) return;
    this.#clients.delete(client);
    this.#clients.set(client, { backend: nameOf(backend), lastMs: this.#clock.monotonicMs() });
    if (this.#clients.size > maxClients) this.#clients.delete(this.#clients.keys().next().value!);
  }

  #remembered(client: string): number {
    const known = this.#clients.get(client);
    if (known === undefined || this.#affinityMs === undefined || this.#clock.monotonicMs() - known.lastMs > this.#affinityMs) return -1;
    return this.#backends.findIndex((backend) => nameOf(backend) === known.backend);
  }
}

const nameOf = ({ address, port }: Backend) => `${address} ${port}`;

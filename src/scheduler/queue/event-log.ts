import type { ClusterEvent } from "../framework/cluster-event.ts";

/** Events that happened while attempts were under way, so that none is missed. Entries older than the oldest attempt are dropped. */
export class EventLog {
  #events: ClusterEvent[] = [];
  #first = 0;

  get end(): number {
    return this.#first + this.#events.length;
  }

  add(event: ClusterEvent): void {
    this.#events.push(event);
  }

  since(position: number): readonly ClusterEvent[] {
    return this.#events.slice(Math.max(0, position - this.#first));
  }

  /** Forgets what lies before `position`. */
  trim(position: number): void {
    const dropped = position - this.#first;
    // Compacting only when half is dead keeps this O(1) on average.
    if (dropped <= 32 || dropped * 2 < this.#events.length) return;
    this.#events = this.#events.slice(dropped);
    this.#first = position;
  }

  clear(): void {
    this.#first = this.end;
    this.#events = [];
  }
}

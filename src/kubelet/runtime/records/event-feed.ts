/** Events of a runtime of our own to any number of listeners. A listener that falls behind loses events and is told to list again. */
import { BoundedQueue } from "../../../base/bounded-queue.ts";
import type { ContainerEvent } from "../cri.ts";
import type { ContainerRecord, SandboxRecord } from "./runtime-records.ts";

export class EventFeed {
  readonly #listeners = new Set<Listener>();

  emit(event: ContainerEvent): void {
    for (const listener of this.#listeners) if (!listener.queue.offer(event)) listener.hasMissed = true;
  }

  emitContainer(type: ContainerEvent["type"], record: ContainerRecord, sandbox: SandboxRecord): void {
    this.emit({ type, container_id: record.id, pod_sandbox_id: sandbox.id, pod_uid: sandbox.config.metadata.uid });
  }

  emitSandbox(type: ContainerEvent["type"], sandbox: SandboxRecord): void {
    this.emit({ type, container_id: sandbox.id, pod_sandbox_id: sandbox.id, pod_uid: sandbox.config.metadata.uid });
  }

  async *listen(signal: AbortSignal): AsyncGenerator<ContainerEvent> {
    const listener: Listener = { queue: new BoundedQueue(queueLimit), hasMissed: false };
    this.#listeners.add(listener);
    try {
      yield relist;
      for await (const event of listener.queue.drain(signal)) {
        yield event;
        if (!listener.hasMissed || listener.queue.size > 0) continue;
        listener.hasMissed = false;
        yield relist;
      }
    } finally {
      this.#listeners.delete(listener);
    }
  }
}

type Listener = { queue: BoundedQueue<ContainerEvent>; hasMissed: boolean };

const queueLimit = 10_000;
const relist: ContainerEvent = { type: "RELIST", container_id: "", pod_sandbox_id: "", pod_uid: "" };

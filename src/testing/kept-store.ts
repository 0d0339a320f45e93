import { FaultStore } from "./fault-store.ts";

/** A store that outlives the servers on it: closing it does nothing. */
export class KeptStore extends FaultStore {
  override close(): Promise<void> {
    return Promise.resolve();
  }
}

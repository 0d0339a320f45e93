/** A store as what clients use side by side. */
import { CompactedError } from "../../../src/storage/index.ts";
import type { Mutation, Store, StoredValue, StoreEvent } from "../../../src/storage/index.ts";
import { loopTurn } from "../../../src/base/virtual-clock.ts";
import type { Call, Change, Kept, Outcome } from "./history.ts";
import type { Subject } from "./workload.ts";

/** `current` gives the store that is open at the moment; `crash` lets it fall over and opens what comes after it. */
export function storeSubject(current: () => Store, crash: () => Promise<void>): Subject {
  return {
    crash,
    turn: loopTurn,
    isHistoryGone: (error) => error instanceof CompactedError,
    async call(_client, key, call) {
      if (call.kind === "get") return { kind: "read", kept: keptOf(await current().get(prefix + key)) };
      const result = await current().commit(mutationOf(key, call));
      return result.isCommitted
        ? { kind: "committed", revision: result.revision }
        : ({ kind: "refused", current: { kept: keptOf(result.current) } } satisfies Outcome);
    },
    async list() {
      const { items, revision } = await current().range(prefix);
      return { items: new Map(items.map((item) => [keyOf(item), keptOf(item)!])), revision };
    },
    async *watch(_client, after, signal) {
      for await (const { events, revision } of current().watch(prefix, after, signal)) yield { changes: events.map(changeOf), revision };
    },
  };
}

const prefix = "/keys/";

function mutationOf(key: string, call: Exclude<Call, { kind: "get" }>): Mutation {
  const { expected } = call;
  return call.kind === "delete"
    ? { kind: "delete", key: prefix + key, expected }
    : { kind: "put", key: prefix + key, value: Buffer.from(call.value), expected };
}

function keyOf({ key }: { readonly key: string }): string {
  return key.slice(prefix.length);
}

function keptOf(stored: StoredValue | undefined): Kept | undefined {
  return stored && { value: Buffer.from(stored.value).toString(), revision: stored.modRevision };
}

function changeOf(event: StoreEvent): Change {
  return { kind: event.kind, key: keyOf(event), value: Buffer.from(event.value).toString(), revision: event.revision };
}

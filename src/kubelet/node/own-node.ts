/**
 * The node's own object: as the last report was answered, or, once somebody waits for what others write into it, as it is this moment.
 * Driven by `follow`; nothing is watched before.
 */
import { deepEqual } from "../../apimachinery/json.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node } from "../../api/core-v1/types.ts";
import { resources } from "../../client/index.ts";
import type { Informer, InformerSet } from "../../client/index.ts";

export class OwnNode {
  readonly #options: OwnNodeOptions;
  readonly #listeners = new Set<() => void>();
  #informer: Informer<Node> | undefined;

  constructor(options: OwnNodeOptions) {
    this.#options = options;
  }

  get current(): DeepReadonly<Node> | undefined {
    return this.#informer?.get("", this.#options.nodeName) ?? this.#options.reported();
  }

  /** Watches it from now on. */
  follow(): void {
    if (this.#informer !== undefined) return;
    const { informers, nodeName } = this.#options;
    this.#informer = informers.borrow<Node>(resources.nodes, { fieldSelector: `metadata.name=${nodeName}` }).informer;
    this.#informer.subscribe((change) => {
      if (change.kind === "update" && deepEqual(volumesOf(change.old), volumesOf(change.object))) return;
      for (const listener of this.#listeners) listener();
    });
  }

  /** Calls `listener` when the volumes in its status change, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export interface OwnNodeOptions {
  readonly informers: InformerSet;
  readonly nodeName: string;
  reported(): DeepReadonly<Node> | undefined;
}

function volumesOf({ status }: DeepReadonly<Node>): unknown {
  return [status?.volumesAttached, status?.volumesInUse];
}

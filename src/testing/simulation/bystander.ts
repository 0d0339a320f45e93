/**
 * Somebody else who writes on the objects that controllers replace whole: a number, one higher each time. A controller that replaces what it
 * read too long ago takes it away again. Told of replacements by the controllers' process, driven by the simulation.
 * Invariant: holds the last few objects that were replaced.
 */
import assert from "node:assert/strict";
import { someOf } from "./pods.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../../client/index.ts";
import type { FaultyRequest } from "../fault-transport.ts";
import type { StoredChange } from "./stored-state.ts";

export class Bystander {
  readonly #random: Random;
  readonly #paths = new Set<string>();
  #notes = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A controller sends this request. */
  see({ method, path }: Pick<FaultyRequest, "method" | "path">): void {
    if (method !== "PUT") return;
    const object = path.replace(/\/(status|finalize|scale|approval)$/, "");
    this.#paths.delete(object);
    this.#paths.add(object);
    if (this.#paths.size > keptPaths) this.#paths.delete(this.#paths.values().next().value!);
  }

  /** Writes on one of the objects; one that is gone is let go of. */
  async write(client: Client): Promise<void> {
    const path = someOf(this.#random, [...this.#paths]);
    if (path === undefined) return;
    const { metadata } = await client.raw<KubeObject>(path).catch(() => ({ metadata: undefined }));
    if (metadata?.uid === undefined) return void this.#paths.delete(path);
    const body = encoder.encode(JSON.stringify({ metadata: { uid: metadata.uid, annotations: { [annotation(metadata.uid)]: String(++this.#notes) } } }));
    const headers = { "content-type": "application/merge-patch+json", accept: "application/json" };
    await client.send({ method: "PATCH", path, query: "", headers, body });
  }

  /** Throws when a commit has taken the number away, or put an older one back. */
  readonly check = ({ object, old }: StoredChange): void => {
    if (object === undefined || old === undefined || object.metadata.uid !== old.metadata.uid) return;
    assert.ok(noteOf(object) >= noteOf(old), `note ${noteOf(object)} of another writer after ${noteOf(old)}`);
  };
}

/** Of its own for each object: some controllers copy annotations from one to another. */
function annotation(uid: string): string {
  return `simulation/${uid}`;
}

const keptPaths = 20;
const encoder = new TextEncoder();

function noteOf({ metadata }: DeepReadonly<KubeObject>): number {
  return Number(metadata.annotations?.[annotation(metadata.uid ?? "")] ?? 0);
}

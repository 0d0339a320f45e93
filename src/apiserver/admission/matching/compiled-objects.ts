/** All objects of a resource, each compiled once per generation. */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { findObjects } from "../../registry/rule-context.ts";
import type { ServerState } from "../../server-state.ts";

/** In the order of their names. */
export class CompiledObjects<T> {
  readonly #resource: string;
  readonly #compile: (object: KubeObject) => T;
  #state: unknown;
  #byUid = new Map<string, CompiledEntry<T>>();

  constructor(resource: string, compile: (object: KubeObject) => T) {
    this.#resource = resource;
    this.#compile = compile;
  }

  get entries(): readonly CompiledEntry<T>[] {
    return [...this.#byUid.values()];
  }

  /** Whether anything has changed since the last call. */
  refresh(server: ServerState): boolean {
    const slash = this.#resource.lastIndexOf("/");
    // The cache's state is an immutable map: the same reference means the same content.
    const state = server.resources.preferred(this.#resource.slice(0, slash), this.#resource.slice(slash + 1))?.storage?.cache.state;
    if (state === this.#state) return false;
    this.#state = state;
    const before = this.#byUid;
    this.#byUid = new Map(
      findObjects(server, this.#resource, "").map((object) => {
        const { uid = "", generation } = object.metadata;
        const known = before.get(uid);
        return [uid, known !== undefined && known.object.metadata.generation === generation ? known : { object, compiled: this.#compile(object) }];
      }),
    );
    return true;
  }
}

interface CompiledEntry<T> {
  readonly object: KubeObject;
  readonly compiled: T;
}

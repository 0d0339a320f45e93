/** Data computed from all objects of one resource, kept until one of them changes: default classes and the like. */
import type { ServerState } from "../server-state.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { findObjects } from "../registry/rule-context.ts";

/** A function that computes again only when the resource (`group/resource`) has changed since. */
export function derived<T>(resource: string, compute: (objects: readonly KubeObject[]) => T): (server: ServerState) => T {
  const known = new WeakMap<ServerState, { readonly state: unknown; readonly value: T }>();
  const slash = resource.lastIndexOf("/");
  return (server) => {
    // The cache's state is an immutable map: the same reference means the same content.
    const state = server.resources.preferred(resource.slice(0, slash), resource.slice(slash + 1))?.storage?.cache.state;
    const found = known.get(server);
    if (found !== undefined && found.state === state) return found.value;
    const value = compute(findObjects(server, resource, ""));
    known.set(server, { state, value });
    return value;
  };
}

/** Node authorization (documentation page "Using Node Authorization"): a kubelet sees what its own pods need. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import { noOpinion } from "./authorizer.ts";
import type { Authorizer } from "./authorizer.ts";

type Finder = (resource: string, namespace: string, name: string) => KubeObject | undefined;

/** Placeholder shape until the graph is attached. */
export function nodeAuthorizer(_find: Finder, _cacheOf: (group: string, resource: string) => ResourceCache): Authorizer {
  return { name: "Node", authorize: () => noOpinion };
}

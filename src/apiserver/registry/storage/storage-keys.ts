/** Where resources are stored below the root of all keys, and whose a key is. */
import { allGroups } from "../versions/served-versions.ts";

/** Resources whose keys are not below their own name. */
const storageNames: Readonly<Record<string, string>> = {
  "/nodes": "minions",
  "/services": "services/specs",
  "/endpoints": "services/endpoints",
  "/replicationcontrollers": "controllers",
  "networking.k8s.io/ingresses": "ingress",
  "apiextensions.k8s.io/customresourcedefinitions": "apiextensions.k8s.io/customresourcedefinitions",
  "apiregistration.k8s.io/apiservices": "apiregistration.k8s.io/apiservices",
};

/** The prefix of a built-in resource's keys below the root, without a final slash. */
export function storageName(group: string, resource: string): string {
  return storageNames[`${group}/${resource}`] ?? resource;
}

export interface GroupResource {
  readonly group: string;
  readonly name: string;
}

/** By storage name; of two groups with a resource of one name (events) the core group's is stored. */
const builtIn = new Map<string, GroupResource>();
for (const { group, versions } of allGroups) {
  for (const { name } of versions.flatMap(({ resources }) => resources)) {
    const storedAs = storageName(group, name);
    if (!builtIn.has(storedAs)) builtIn.set(storedAs, { group, name });
  }
}

/** The resource that a key belongs to; undefined for keys that hold no objects (leases of servers). */
export function resourceOfKey(key: string, root: string): GroupResource | undefined {
  const [first = "", second = ""] = key.slice(root.length).split("/", 2);
  const found = builtIn.get(first) ?? builtIn.get(`${first}/${second}`);
  if (found !== undefined) return found;
  return first.includes(".") ? { group: first, name: second } : undefined;
}

/** Keys of objects in caches and queues: `namespace/name`, or `name` for cluster-scoped objects. */
export function keyOf(object: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): string {
  return objectKey(object.metadata.namespace ?? "", object.metadata.name ?? "");
}

/** The key of a name; `namespace` is `""` for cluster-scoped objects. */
export function objectKey(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** The namespace (`""` for cluster-scoped objects) and name of a key. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf("/");
  return slash < 0 ? { namespace: "", name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

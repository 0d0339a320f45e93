/** The JSON patch (RFC 6902) that leads from one value to another: members one by one, lists as a whole. Does not recurse. */
import { deepEqual, isObject } from "../../apimachinery/json.ts";

export type PatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

export function jsonDifference(before: unknown, after: unknown): PatchOperation[] {
  const operations: PatchOperation[] = [];
  const pending: { path: string; before: unknown; after: unknown }[] = [{ path: "", before, after }];
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    const { path } = item;
    if (deepEqual(item.before, item.after)) continue;
    if (!isObject(item.before) || !isObject(item.after)) {
      operations.push({ op: "replace", path, value: item.after });
      continue;
    }
    for (const name of Object.keys(item.before))
      if (!Object.hasOwn(item.after, name) || item.after[name] === undefined) operations.push({ op: "remove", path: `${path}/${escaped(name)}` });
    for (const [name, value] of Object.entries(item.after)) {
      if (value === undefined) continue;
      const at = `${path}/${escaped(name)}`;
      if (Object.hasOwn(item.before, name)) pending.push({ path: at, before: item.before[name], after: value });
      else operations.push({ op: "add", path: at, value });
    }
  }
  return operations;
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

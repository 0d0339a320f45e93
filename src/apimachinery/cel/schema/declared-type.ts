/** Types of data that a schema declares, with the sizes that costs are estimated from. */
import { dynType, listType, mapType, stringType } from "../check/types.ts";
import type { CelType, StructType, StructTypeField } from "../check/types.ts";
import type { CostNode, SizeOf } from "../cost/estimate.ts";
import type { Range } from "../cost/ranges.ts";
import { escapePropertyName } from "./property-names.ts";

export interface DeclaredType {
  readonly type: CelType;
  /** Most characters, bytes, items or entries that a value can have. */
  readonly maxElements: number;
  /** Fewest bytes that a value takes in JSON. */
  readonly minSize: number;
  readonly keys?: DeclaredType;
  /** Of lists and maps. */
  readonly items?: DeclaredType;
  /** Of objects, by the name in CEL. */
  readonly fields?: ReadonlyMap<string, DeclaredType>;
}

/** What fits a request. */
export const maxRequestBytes = 3 * 1024 * 1024;
/** The longest text: a request less its quotes. */
export const maxTextLength = maxRequestBytes - 2;

export function scalarOf(type: CelType, minSize: number, maxElements = 0): DeclaredType {
  return { type, minSize, maxElements };
}

export const declaredDyn = scalarOf(dynType, 1, maxTextLength);
/** Kubernetes estimates what is done with a key as if keys were empty: many published definitions are within their budgets only so. */
const declaredKey = scalarOf(stringType, 2);

/** `listKeys` are those of lists whose order does not count. */
export function listOf(items: DeclaredType, maxItems = Math.floor((maxRequestBytes - 2) / (items.minSize + 1)), listKeys?: readonly string[]): DeclaredType {
  const type = listType(items.type);
  return { type: listKeys === undefined ? type : { ...type, listKeys }, items, maxElements: Math.max(maxItems, 0), minSize: 2 };
}

export function mapOf(values: DeclaredType, maxEntries = Math.floor((maxRequestBytes - 2) / (values.minSize + 6))): DeclaredType {
  return { type: mapType(stringType, values.type), keys: declaredKey, items: values, maxElements: Math.max(maxEntries, 0), minSize: 2 };
}

/** An object called `name`. `members` are by their JSON names; those that expressions cannot name are left out. */
export function objectOf(name: string, members: ReadonlyMap<string, DeclaredType>, minSize: number): DeclaredType {
  const fields = new Map<string, DeclaredType>();
  const typed = new Map<string, StructTypeField>();
  const celNames = new Map<string, string>();
  for (const [jsonName, member] of members) {
    const celName = escapePropertyName(jsonName);
    if (celName === undefined) continue;
    fields.set(celName, member);
    typed.set(celName, celName === jsonName ? { type: member.type } : { type: member.type, jsonName });
    if (celName !== jsonName) celNames.set(jsonName, celName);
  }
  const type: StructType = { kind: "struct", name, field: (field) => typed.get(field), celName: (jsonName) => celNames.get(jsonName) ?? jsonName };
  return { type, fields, minSize, maxElements: 0 };
}

/** Sizes of what is reached from a variable of a declared type, for `estimateCost`. As in Kubernetes, every name counts as that variable. */
export function sizeOfDeclared(root: DeclaredType): SizeOf {
  return ({ path }: CostNode): Range | undefined => {
    if (path === undefined || path.length === 0) return undefined;
    let current: DeclaredType | undefined = root;
    for (const link of path.slice(1)) {
      if (link === "@items" || link === "@values") current = current?.items;
      else if (link === "@keys") current = current?.keys;
      else current = current?.fields?.get(link);
    }
    return current && { min: 0, max: current.maxElements };
  };
}

/** Brings stored sets up to a schema that changed since: what has become atomic is owned whole by who owned a part of it. */
import type { Schema } from "../schema.ts";
import { isEmptySet, isMember, makeNode, memberNode } from "./sets/field-set.ts";
import type { FieldSet } from "./sets/field-set.ts";
import { isFreeForm, memberSchema, shapeOf } from "./typed/typed-shape.ts";

/** `set` itself when nothing in it became atomic. */
export function reconcileSet(set: FieldSet, schema: Schema): FieldSet {
  let changed: Record<string, FieldSet> | undefined;
  for (const element in set) {
    if (element === ".") continue;
    const node = set[element]!;
    const child = element.startsWith("f:") ? memberSchema(schema, element.slice(2)) : schema.shape === "list" ? schema.items : undefined;
    if (child === undefined || isFreeForm(child) || isEmptySet(node)) continue;
    const reconciled = reconcileNode(node, child);
    if (reconciled !== node) (changed ??= { ...set })[element] = reconciled;
  }
  return changed ?? set;
}

function reconcileNode(node: FieldSet, schema: Schema): FieldSet {
  if (schema.shape !== "scalar" && shapeOf(schema, undefined) === "leaf") return memberNode;
  const reconciled = reconcileSet(node, schema);
  if (reconciled === node) return node;
  const { ".": _, ...children } = reconciled;
  return makeNode(isMember(node), children)!;
}

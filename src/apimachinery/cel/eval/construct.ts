/** Lists, maps and objects that expressions write down. Those of literals alone are made once, while planning, and are free. */
import type { ListExpr, MapExpr, StructExpr } from "../syntax/ast.ts";
import type { Frame, Step } from "./frame.ts";
import { constant, PlanError, value } from "./plan-parts.ts";
import type { Plan } from "./plan-parts.ts";
import type { Planner } from "./plan.ts";
import { StructValue } from "./struct-value.ts";
import { ArrayList, CelError, hashOf, HashMap, isCelError, Optional } from "./values.ts";
import type { MapItem, Value } from "./values.ts";

export function planList(planner: Planner, expr: ListExpr): Plan {
  const elements = expr.elements.map((element) => planner.plan(element));
  if (elements.every((element) => element.constant !== undefined) && expr.optionals.size === 0)
    return constant(new ArrayList(elements.map((element) => element.constant!)));
  const steps = elements.map((element) => element.run);
  return value((frame) => {
    const items = listItems(steps, expr.optionals, frame);
    frame.charge(listCost);
    return isCelError(items) ? items : new ArrayList(items);
  });
}

export function planMap(planner: Planner, expr: MapExpr): Plan {
  const entries = expr.entries.map((entry) => ({ key: planner.plan(entry.key), value: planner.plan(entry.value), isOptional: entry.isOptional }));
  const build: Step = (frame) => {
    const items = new Map<unknown, MapItem>();
    for (const entry of entries) {
      const key = entry.key.run(frame);
      if (isCelError(key)) return key;
      const member = entry.value.run(frame);
      if (isCelError(member)) return member;
      const held = entry.isOptional ? unwrapEntry(member) : member;
      if (isCelError(held)) return held;
      if (held !== undefined) items.set(hashOf(key), [key, held]);
    }
    return new HashMap(items);
  };
  if (entries.every((entry) => entry.key.constant !== undefined && entry.value.constant !== undefined && !entry.isOptional)) return constant(build(noFrame));
  return value((frame) => {
    const map = build(frame);
    frame.charge(mapCost);
    return map;
  });
}

export function planStruct(planner: Planner, expr: StructExpr): Plan {
  const reference = planner.checked.references.get(expr);
  if (reference?.to !== "type" || reference.type.kind !== "struct") throw new PlanError(`undefined type: ${expr.typeName}`);
  const { type } = reference;
  const fields = expr.fields.map((field) => ({ name: field.name, value: planner.plan(field.value).run, isOptional: field.isOptional }));
  return value((frame) => {
    const members = structMembers(fields, frame);
    frame.charge(structCost);
    return isCelError(members) ? members : new StructValue(type, members);
  });
}

const listCost = 10;
const mapCost = 30;
const structCost = 40;
const noFrame = undefined as never;

function listItems(steps: readonly Step[], optionals: ReadonlySet<number>, frame: Frame): Value[] | CelError {
  const items: Value[] = [];
  for (let index = 0; index < steps.length; index++) {
    const item = steps[index]!(frame);
    if (isCelError(item)) return item;
    const held = optionals.has(index) ? unwrapEntry(item) : item;
    if (isCelError(held)) return held;
    if (held !== undefined) items.push(held);
  }
  return items;
}

function structMembers(fields: readonly { name: string; value: Step; isOptional: boolean }[], frame: Frame): Map<string, Value> | CelError {
  const members = new Map<string, Value>();
  for (const field of fields) {
    const member = field.value(frame);
    if (isCelError(member)) return member;
    const held = field.isOptional ? unwrapEntry(member) : member;
    if (isCelError(held)) return held;
    if (held !== undefined) members.set(field.name, held);
  }
  return members;
}

function unwrapEntry(member: Value): Value | undefined {
  return member instanceof Optional ? member.value : new CelError(`cannot initialize optional entry from non-optional value ${String(member)}`);
}

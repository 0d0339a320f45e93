/** Folds: what macros over lists and maps come down to. */
import type { ComprehensionExpr } from "../syntax/ast.ts";
import type { Frame, Step } from "./frame.ts";
import type { Planner } from "./plan.ts";
import { CelError, GrowingList, GrowingMap, isCelError, ListValue, MapValue, typeNameOf } from "./values.ts";
import type { Value } from "./values.ts";

export function planFold(planner: Planner, expr: ComprehensionExpr): Step {
  const range = planner.plan(expr.iterRange).run;
  const start = planner.plan(expr.accuInit);
  const base = planner.depth;
  const names = expr.iterVar2 === undefined ? [expr.accuVar, expr.iterVar] : [expr.accuVar, expr.iterVar, expr.iterVar2];
  const locals = names.map((name) => ({ name }));
  const { condition, step } = planner.within(locals, () => ({ condition: planner.plan(expr.loopCondition), step: planner.plan(expr.loopStep).run }));
  const result = planner.within(locals.slice(0, 1), () => planner.plan(expr.result).run);
  const fresh = freshAccumulator(start.constant);
  const goesOn = condition.constant === true ? undefined : condition.run;
  const once: Once = { base, goesOn, step, hasTwo: expr.iterVar2 !== undefined };
  return (frame) => {
    const items = range(frame);
    if (isCelError(items)) return items;
    const initial = fresh === undefined ? start.run(frame) : fresh();
    frame.locals[base] = initial;
    const fault = items instanceof ListValue ? overList(frame, items, once) : items instanceof MapValue ? overMap(frame, items, once) : notIterable(items);
    return fault ?? result(frame);
  };
}

/** A name for a value, and an expression that may use it. */
export function planBinding(planner: Planner, expr: ComprehensionExpr): Step {
  const base = planner.depth;
  const lazy = planner.plan(expr.accuInit).run;
  const result = planner.within([{ name: expr.accuVar, lazy }], () => planner.plan(expr.result).run);
  return (frame) => {
    frame.locals[base] = undefined;
    return result(frame);
  };
}

interface Once {
  /** Index of the accumulator among the locals; the variables follow. */
  readonly base: number;
  readonly goesOn: Step | undefined;
  readonly step: Step;
  readonly hasTwo: boolean;
}

function overList(frame: Frame, list: ListValue, once: Once): CelError | undefined {
  const { locals } = frame;
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (once.hasTwo) locals[once.base + 2] = item;
    locals[once.base + 1] = once.hasTwo ? index : item;
    if (!advance(frame, once)) return undefined;
  }
  return undefined;
}

function overMap(frame: Frame, map: MapValue, once: Once): CelError | undefined {
  const { locals } = frame;
  for (const key of map.keys()) {
    locals[once.base + 1] = key;
    if (once.hasTwo) locals[once.base + 2] = map.get(key)!;
    if (!advance(frame, once)) return undefined;
  }
  return undefined;
}

/** One round; false when the condition ends the fold. */
function advance(frame: Frame, { base, goesOn, step }: Once): boolean {
  if (goesOn !== undefined && goesOn(frame) !== true) return false;
  frame.locals[base] = step(frame);
  return true;
}

/** Lists and maps that start empty are built in place. */
function freshAccumulator(initial: Value | undefined): (() => Value) | undefined {
  if (initial instanceof ListValue && initial.size === 0) return () => new GrowingList();
  return initial instanceof MapValue && initial.size === 0 ? () => new GrowingMap() : undefined;
}

const goNames: Readonly<Record<string, string>> = {
  int: "types.Int",
  uint: "types.Uint",
  double: "types.Double",
  bool: "types.Bool",
  string: "types.String",
  bytes: "types.Bytes",
  null_type: "types.Null",
  "google.protobuf.Timestamp": "types.Timestamp",
  "google.protobuf.Duration": "types.Duration",
  type: "*types.Type",
  optional_type: "*types.Optional",
};

function notIterable(value: Value): CelError {
  return new CelError(`got '${goNames[typeNameOf(value)] ?? typeNameOf(value)}', expected iterable type`);
}

/**
 * Turns a checked expression into closures, once. Costs are charged where cel-go charges them, which follows from how it evaluates chains of
 * selections ("attributes"): one for the chain's start, one for each link that is found, nothing for the start when the chain itself is only
 * looked up as a branch of `?:` or as an index.
 */
import type { Checked } from "../check/checker.ts";
import type { Overload } from "../check/declarations.ts";
import type { CelType } from "../check/types.ts";
import { runtimeTypeName } from "../check/types.ts";
import type { CallExpr, ComprehensionExpr, Expr, ListExpr, MapExpr, SelectExpr, StructExpr } from "../syntax/ast.ts";
import type { ActualCost } from "./actual-cost.ts";
import { dispatcher } from "./dispatch.ts";
import { planFold } from "./fold.ts";
import type { Frame, Step } from "./frame.ts";
import { literalValue } from "./literal-value.ts";
import { isPresent, select, selectOptional } from "./select.ts";
import { StructValue } from "./struct-value.ts";
import { ArrayList, CelError, Double, hashOf, HashMap, isCelError, isInt, ListValue, noSuchOverload, Optional, TypeValue, Uint } from "./values.ts";
import type { MapItem, Value } from "./values.ts";

/** A fault that shows while planning: a conversion of a literal that fails. */
export class PlanError extends Error {
  override name = "PlanError";
}

/** Throws `PlanError`. */
export function plan(expr: Expr, checked: Checked, cost: ActualCost): Step {
  return new Planner(checked, cost).plan(expr).run;
}

/** How an expression is evaluated. */
export interface Plan {
  readonly run: Step;
  /** For chains of selections: without the charge for the start. */
  readonly look: Step;
  readonly isChain: boolean;
  /** What starting the chain costs. */
  readonly startCost: number;
  /** Known before evaluating, and free. */
  readonly constant?: Value;
}

const chainStart = 1;
const linkCost = 1;
const listCost = 10;
const mapCost = 30;
const structCost = 40;

export class Planner {
  readonly checked: Checked;
  readonly #cost: ActualCost;
  /** Variables of the folds around the expression, outermost first. */
  #locals: readonly string[] = [];

  constructor(checked: Checked, cost: ActualCost) {
    this.checked = checked;
    this.#cost = cost;
  }

  plan(expr: Expr): Plan {
    switch (expr.kind) {
      case "literal":
        return constant(literalValue(expr.value));
      case "ident":
        return this.#variable(expr, expr.name);
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return this.#struct(expr);
      case "comprehension":
        return this.#fold(expr);
    }
  }

  /** Plans with more locals in scope. */
  within<T>(names: readonly string[], build: () => T): T {
    const outer = this.#locals;
    this.#locals = [...outer, ...names];
    const built = build();
    this.#locals = outer;
    return built;
  }

  /** Index at which the next local goes. */
  get depth(): number {
    return this.#locals.length;
  }

  #variable(expr: Expr, name: string): Plan {
    const reference = this.checked.references.get(expr);
    if (reference?.to === "type") return constant(new TypeValue(shallowName(reference.type)));
    const index = this.#locals.lastIndexOf(name);
    if (index >= 0) return chain((frame) => frame.locals[index]!, chainStart);
    const resolved = reference?.to === "variable" ? reference.name : name;
    const missing = new CelError(`no such attribute(s): ${resolved}`);
    return chain((frame) => {
      const found = frame.activation.get(resolved);
      return found === undefined ? missing : found;
    }, chainStart);
  }

  #select(expr: SelectExpr): Plan {
    const reference = this.checked.references.get(expr);
    if (reference !== undefined) return this.#variable(expr, reference.to === "variable" ? reference.name : "");
    const { look, startCost } = this.#operand(expr.operand);
    const { field } = expr;
    if (expr.isTest) {
      return value((frame) => {
        const operand = look(frame);
        if (isCelError(operand)) return operand;
        frame.charge(linkCost);
        return isPresent(operand, field);
      });
    }
    return chain((frame) => {
      const operand = look(frame);
      if (isCelError(operand)) return operand;
      if (operand instanceof Optional) return charged(frame, select(operand, field));
      frame.charge(linkCost);
      return select(operand, field);
    }, startCost);
  }

  /** What a chain goes on from; anything but a chain starts one. */
  #operand(expr: Expr): Pick<Plan, "look" | "startCost"> {
    const operand = this.plan(expr);
    return operand.isChain ? operand : { look: operand.run, startCost: chainStart };
  }

  #call(expr: CallExpr): Plan {
    switch (expr.functionName) {
      case "_&&_":
        return this.#logical(expr, false);
      case "_||_":
        return this.#logical(expr, true);
      case "_?_:_":
        return this.#conditional(expr);
      case "_[_]":
        return this.#index(expr, false);
      case "_?._":
      case "_[?_]":
        return this.#index(expr, true);
    }
    const isMember = expr.target !== undefined;
    if (isMember && (expr.functionName === "or" || expr.functionName === "orValue") && expr.args.length === 1) {
      const alternative = this.#alternative(expr);
      if (alternative !== undefined) return alternative;
    }
    return this.#function(expr);
  }

  /** `absorbing` decides whatever the other side is, even an error. */
  #logical(expr: CallExpr, absorbing: boolean): Plan {
    const [left, right] = expr.args.map((arg) => this.plan(arg).run) as [Step, Step];
    return value((frame) => {
      const first = left(frame);
      if (first === absorbing) return absorbing;
      const second = right(frame);
      if (second === absorbing) return absorbing;
      if (first === !absorbing && second === !absorbing) return !absorbing;
      return isCelError(first) ? first : isCelError(second) ? second : noSuchOverload;
    });
  }

  #conditional(expr: CallExpr): Plan {
    const [condition, whenTrue, whenFalse] = expr.args.map((arg) => this.plan(arg)) as [Plan, Plan, Plan];
    const { run } = condition;
    const [yes, no] = [whenTrue.look, whenFalse.look];
    return chain((frame) => {
      const decision = run(frame);
      if (decision === true) return yes(frame);
      if (decision === false) return no(frame);
      return isCelError(decision) ? decision : noSuchOverload;
    }, 0);
  }

  #index(expr: CallExpr, isOptional: boolean): Plan {
    const { look, startCost } = this.#operand(expr.args[0]!);
    const index = this.plan(expr.args[1]!);
    const indexStep = index.look;
    if (isOptional) {
      return chain((frame) => {
        const operand = look(frame);
        if (isCelError(operand)) return operand;
        const key = indexStep(frame);
        return isCelError(key) ? key : charged(frame, selectOptional(operand, key));
      }, startCost);
    }
    return chain((frame) => {
      const operand = look(frame);
      if (isCelError(operand)) return operand;
      const key = indexStep(frame);
      if (operand instanceof Optional && !isCelError(key)) return charged(frame, select(operand, key));
      frame.charge(linkCost);
      return isCelError(key) ? key : select(operand, key);
    }, startCost);
  }

  /** `optional.or(other)`, `optional.orValue(other)`: free, and the other side is evaluated only when it is needed. */
  #alternative(expr: CallExpr): Plan | undefined {
    const reference = this.checked.references.get(expr);
    if (reference?.to !== "function" || !reference.overloads.every(({ id }) => id === "optional_or_optional" || id === "optional_orValue_value"))
      return undefined;
    const [target, other] = [this.plan(expr.target!).run, this.plan(expr.args[0]!).run];
    const isValue = expr.functionName === "orValue";
    return value((frame) => {
      const optional = target(frame);
      if (!(optional instanceof Optional)) return isCelError(optional) ? optional : noSuchOverload;
      if (optional.value !== undefined) return isValue ? optional.value : optional;
      return other(frame);
    });
  }

  #function(expr: CallExpr): Plan {
    const reference = this.checked.references.get(expr);
    if (reference?.to !== "function") throw new PlanError(`no such overload: ${expr.functionName}`);
    const args = (expr.target !== undefined && !reference.isNamespaced ? [expr.target, ...expr.args] : expr.args).map((arg) => this.plan(arg));
    const { name, overloads } = reference;
    if (conversions.has(name) && args.length === 1 && args[0]!.constant !== undefined) return converted(name, overloads, args[0]!.constant);
    const only = overloads.length === 1 ? overloads[0]! : undefined;
    const fault = only?.checkConstants?.(args.map((arg) => arg.constant));
    if (fault !== undefined) throw new PlanError(fault.message);
    if (only?.id === "in_list" && args[1]!.constant instanceof ListValue) {
      const membership = constantMembership(args[0]!, args[1]!.constant);
      if (membership !== undefined) return membership;
    }
    return value(
      this.#cost.charged(
        name,
        only,
        args.map((arg) => arg.run),
        dispatcher(name, overloads, this.#argTypes(expr, reference.isNamespaced)),
      ),
    );
  }

  #argTypes(expr: CallExpr, isNamespaced: boolean): CelType[] {
    const args = expr.target !== undefined && !isNamespaced ? [expr.target, ...expr.args] : expr.args;
    return args.map((arg) => this.checked.types.get(arg) ?? { kind: "dyn" });
  }

  #list(expr: ListExpr): Plan {
    const elements = expr.elements.map((element) => this.plan(element));
    if (elements.every((element) => element.constant !== undefined) && expr.optionals.size === 0)
      return constant(new ArrayList(elements.map((element) => element.constant!)));
    const steps = elements.map((element) => element.run);
    return value((frame) => {
      const items = listItems(steps, expr.optionals, frame);
      frame.charge(listCost);
      return isCelError(items) ? items : new ArrayList(items);
    });
  }

  #map(expr: MapExpr): Plan {
    const entries = expr.entries.map((entry) => ({ key: this.plan(entry.key), value: this.plan(entry.value), isOptional: entry.isOptional }));
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

  #struct(expr: StructExpr): Plan {
    const reference = this.checked.references.get(expr);
    if (reference?.to !== "type" || reference.type.kind !== "struct") throw new PlanError(`undefined type: ${expr.typeName}`);
    const { type } = reference;
    const fields = expr.fields.map((field) => ({ name: field.name, value: this.plan(field.value).run, isOptional: field.isOptional }));
    return value((frame) => {
      const members = structMembers(fields, frame);
      frame.charge(structCost);
      return isCelError(members) ? members : new StructValue(type, members);
    });
  }

  #fold(expr: ComprehensionExpr): Plan {
    return value(planFold(this, expr));
  }
}

/** Conversions of literals are done while planning. */
const conversions: ReadonlySet<string> = new Set(["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"]);
const noFrame = undefined as never;

function constant(known: Value): Plan {
  const run: Step = () => known;
  return { run, look: run, isChain: false, startCost: 0, constant: known };
}

function value(run: Step): Plan {
  return { run, look: run, isChain: false, startCost: 0 };
}

/** Links that lead to nothing are free. */
function charged(frame: Frame, found: Value): Value {
  if (found instanceof Optional && found.value !== undefined) frame.charge(linkCost);
  return found;
}

function chain(look: Step, startCost: number): Plan {
  if (startCost === 0) return { run: look, look, isChain: true, startCost };
  const run: Step = (frame) => {
    const found = look(frame);
    frame.charge(startCost);
    return found;
  };
  return { run, look, isChain: true, startCost };
}

function converted(name: string, overloads: readonly Overload[], argument: Value): Plan {
  const result = dispatcher(name, overloads, [{ kind: "dyn" }])([argument]);
  if (isCelError(result)) throw new PlanError(result.message);
  return constant(result);
}

/** `x in [1, 2]`, looked up in a set; undefined when the list holds anything but plain values. */
function constantMembership(item: Plan, list: ListValue): Plan | undefined {
  if (list.size === 0) return constant(false);
  const hashes = new Set<unknown>();
  for (const each of list) {
    if (typeof each === "object" && !(each instanceof Double) && !(each instanceof Uint)) return undefined;
    hashes.add(hashOf(each));
  }
  const has = (wanted: Value): Value =>
    isCelError(wanted)
      ? wanted
      : (isInt(wanted) || typeof wanted !== "object" || wanted instanceof Double || wanted instanceof Uint) && hashes.has(hashOf(wanted));
  if (item.constant !== undefined) return value(() => has(item.constant!));
  return value((frame) => has(item.run(frame)));
}

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

function shallowName(type: CelType): string {
  return type.kind === "list" || type.kind === "map" || type.kind === "opaque" || type.kind === "type" ? type.name : runtimeTypeName(type);
}

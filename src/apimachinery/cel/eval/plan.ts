/**
 * Turns a checked expression into closures, once. Costs are charged where cel-go charges them, which follows from how it evaluates chains of
 * selections ("attributes"): one for the chain's start, one for each link that is found, nothing for the start when the chain itself is only
 * looked up as a branch of `?:` or as an index.
 */
import type { Checked } from "../check/checker.ts";
import type { Overload } from "../check/declarations.ts";
import type { CelType } from "../check/types.ts";
import { runtimeTypeName } from "../check/types.ts";
import { isBinding } from "../syntax/ast.ts";
import type { CallExpr, ComprehensionExpr, Expr, SelectExpr } from "../syntax/ast.ts";
import type { ActualCost } from "./actual-cost.ts";
import { planList, planMap, planStruct } from "./construct.ts";
import { dispatcher } from "./dispatch.ts";
import { planBinding, planFold } from "./fold.ts";
import type { Frame, Step } from "./frame.ts";
import { literalValue } from "./literal-value.ts";
import { isPresent, select, selectOptional } from "./select.ts";
import { chain, chainStart, charged, constant, linkCost, PlanError, value } from "./plan-parts.ts";
import type { Plan } from "./plan-parts.ts";
import { CelError, Double, hashOf, isCelError, isInt, ListValue, noSuchOverload, Optional, TypeValue, Uint } from "./values.ts";
import type { Value } from "./values.ts";

/** Throws `PlanError`. */
export function plan(expr: Expr, checked: Checked, cost: ActualCost): Step {
  return new Planner(checked, cost).plan(expr).run;
}

/** A variable of a fold. Bound names are evaluated when they are first asked for. */
export interface Local {
  readonly name: string;
  readonly lazy?: Step;
}

export class Planner {
  readonly checked: Checked;
  readonly #cost: ActualCost;
  /** Variables of the folds around the expression, outermost first. */
  #locals: readonly Local[] = [];

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
        return planList(this, expr);
      case "map":
        return planMap(this, expr);
      case "struct":
        return planStruct(this, expr);
      case "comprehension":
        return this.#fold(expr);
    }
  }

  /** Plans with more locals in scope. */
  within<T>(locals: readonly Local[], build: () => T): T {
    const outer = this.#locals;
    this.#locals = [...outer, ...locals];
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
    const index = this.#locals.findLastIndex((local) => local.name === name);
    const lazy = this.#locals[index]?.lazy;
    if (lazy !== undefined) return chain((frame) => frame.locals[index] ?? evaluated(frame, index, lazy), chainStart);
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

  #fold(expr: ComprehensionExpr): Plan {
    return value(isBinding(expr) ? planBinding(this, expr) : planFold(this, expr));
  }
}

/** Conversions of literals are done while planning. */
const conversions: ReadonlySet<string> = new Set(["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"]);

/** Evaluates a bound name as if it stood where it was bound: what has come on top since then is put aside. */
function evaluated(frame: Frame, index: number, lazy: Step): Value {
  const { locals } = frame;
  const later = locals.slice(index + 1);
  const found = lazy(frame);
  locals[index] = found;
  for (const [offset, local] of later.entries()) locals[index + 1 + offset] = local;
  return found;
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

function shallowName(type: CelType): string {
  return type.kind === "list" || type.kind === "map" || type.kind === "opaque" || type.kind === "type" ? type.name : runtimeTypeName(type);
}

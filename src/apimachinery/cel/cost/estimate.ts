/**
 * What an expression costs at least and at most, before it is run: sizes of data come from the caller, sizes of intermediate results from the
 * operations. The rules are cel-go's, since the limits that Kubernetes puts on the result make them part of the API.
 */
import type { OverloadCost } from "../check/declarations.ts";
import { unwrapOptional } from "../check/types.ts";
import type { CelType } from "../check/types.ts";
import type { Program } from "../program.ts";
import { codePointLength } from "../source.ts";
import { accumulatorName, isBinding } from "../syntax/ast.ts";
import type { CallExpr, ComprehensionExpr, Expr, ListExpr, MapExpr, SelectExpr } from "../syntax/ast.ts";
import { generalEstimate } from "./general-estimates.ts";
import { addCosts, fixedRange, multiplyRanges, unionOf, unknownSize } from "./ranges.ts";
import type { Range } from "./ranges.ts";

/** Sizes: characters, bytes, items or entries of what an expression gives; undefined when the caller does not know. */
export type SizeOf = (node: CostNode) => Range | undefined;

/** The range of costs of a program. */
export function estimateCost(program: Program, sizeOf: SizeOf): Range {
  return new Estimator(program, sizeOf).cost(program.expr);
}

export interface CostNode {
  /** From a variable down: field names, `@items`, `@keys`, `@values`, `@indices`; absent for what is no part of a variable. */
  readonly path?: readonly string[];
  readonly type: CelType;
  readonly expr?: Expr;
}

export interface CallEstimate {
  readonly cost: Range;
  /** Of calls that give texts, bytes, lists or maps. */
  readonly resultSize?: Range;
}

/** What an estimate of a call can ask. */
export interface EstimatedCall {
  readonly overloadId: string;
  readonly target?: CostNode;
  readonly args: readonly CostNode[];
  /** 0 to 2^64 when nothing is known. */
  readonly sizeOf: (node: CostNode) => Range;
}

/** By the function's name; the cost of the arguments is added. Undefined leaves the call to the general rules. */
export type FunctionEstimate = (call: EstimatedCall) => CallEstimate | undefined;

interface EntrySize {
  readonly container: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

interface LocalVariable {
  readonly path: readonly string[] | undefined;
  readonly size: Range | undefined;
  readonly entrySize?: EntrySize | undefined;
}

const linkCost = fixedRange(1);
const listCost = fixedRange(10);
const mapCost = fixedRange(30);
const structCost = fixedRange(40);
const noCost = fixedRange(0);

class Estimator {
  readonly #program: Program;
  readonly #sizeOf: SizeOf;
  readonly #paths = new Map<Expr, readonly string[] | undefined>();
  readonly #sizes = new Map<Expr, Range>();
  readonly #entrySizes = new Map<Expr, EntrySize>();
  readonly #locals = new Map<string, LocalVariable[]>();

  constructor(program: Program, sizeOf: SizeOf) {
    this.#program = program;
    this.#sizeOf = sizeOf;
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case "literal":
        return noCost;
      case "ident":
        this.#paths.set(expr, this.#local(expr.name)?.path ?? (this.#local(expr.name) === undefined ? [expr.name] : undefined));
        return linkCost;
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return addCosts(...expr.fields.map((field) => this.cost(field.value)), structCost);
      case "comprehension":
        return isBinding(expr) ? this.#binding(expr) : this.#fold(expr);
    }
  }

  #select(expr: SelectExpr): Range {
    const reference = this.#program.checked.references.get(expr);
    if (reference?.to === "variable") {
      this.#paths.set(expr, [reference.name]);
      return linkCost;
    }
    const operand = this.cost(expr.operand);
    if (expr.isTest) return operand;
    const { kind } = this.#typeOf(expr.operand);
    this.#paths.set(expr, extend(this.#pathOf(expr.operand), expr.field));
    return kind === "map" || kind === "struct" || kind === "parameter" ? addCosts(operand, linkCost) : operand;
  }

  #call(expr: CallExpr): Range {
    if (expr.functionName === "dyn" && expr.args.length === 1) return this.#dyn(expr, expr.args[0]!);
    const argCosts = expr.args.map((arg) => this.cost(arg));
    if (expr.functionName === "_?._") return addCosts(linkCost, ...argCosts);
    const reference = this.#program.checked.references.get(expr);
    if (reference?.to !== "function" || reference.overloads.length === 0) return noCost;
    const hasTarget = expr.target !== undefined && !reference.isNamespaced;
    const targetCost = hasTarget ? this.cost(expr.target!) : noCost;
    const target = hasTarget ? this.#node(expr.target!) : undefined;
    const args = expr.args.map((arg) => this.#node(arg));
    let cost: Range | undefined;
    let size: Range | undefined;
    for (const overload of reference.overloads) {
      const call: EstimatedCall = { overloadId: overload.id, args, sizeOf: (node) => this.#sizeOrUnknown(node), ...(target && { target }) };
      const estimate = this.#estimate(expr, reference.name, call, argCosts, overload.cost);
      cost = cost === undefined ? estimate.cost : unionOf(cost, estimate.cost);
      if (estimate.resultSize !== undefined) size = size === undefined ? estimate.resultSize : unionOf(size, estimate.resultSize);
      if (overload.id === "index_list" || overload.id === "index_map") {
        size = this.#entrySize(expr.args[0]!)?.value;
        this.#paths.set(expr, extend(this.#pathOf(expr.args[0]!), overload.id === "index_list" ? "@items" : "@values"));
      }
      size ??= this.#size(expr);
    }
    if (size !== undefined) this.#sizes.set(expr, size);
    return addCosts(targetCost, cost ?? noCost);
  }

  #dyn(expr: Expr, argument: Expr): Range {
    const cost = this.cost(argument);
    this.#copySizes(expr, argument);
    return addCosts(linkCost, cost);
  }

  #estimate(expr: CallExpr, name: string, call: EstimatedCall, argCosts: readonly Range[], own: OverloadCost | undefined): CallEstimate {
    const special = own?.estimate?.(call) ?? this.#program.environment.estimates.get(name)?.(call);
    if (special !== undefined) return { ...special, cost: addCosts(special.cost, ...argCosts) };
    const general = generalEstimate(call, argCosts);
    if (call.overloadId === "conditional") this.#joinEntrySizes(expr, expr.args[1]!, expr.args[2]!);
    else if (call.overloadId.startsWith("add_") && general.resultSize !== undefined) this.#joinEntrySizes(expr, expr.args[0]!, expr.args[1]!);
    return general;
  }

  #list(expr: ListExpr): Range {
    const costs = expr.elements.map((element) => this.cost(element));
    const value = expr.elements
      .map((element) => this.#size(element) ?? unknownSize)
      .reduce(unionOf, expr.elements.length === 0 ? noCost : { min: Infinity, max: 0 });
    this.#entrySizes.set(expr, { container: "list", key: fixedRange(1), value });
    return addCosts(...costs, listCost);
  }

  #map(expr: MapExpr): Range {
    const start = expr.entries.length === 0 ? noCost : { min: Infinity, max: 0 };
    const costs = expr.entries.flatMap((entry) => [this.cost(entry.key), this.cost(entry.value)]);
    const key = expr.entries.map((entry) => this.#size(entry.key) ?? unknownSize).reduce(unionOf, start);
    const value = expr.entries.map((entry) => this.#size(entry.value) ?? unknownSize).reduce(unionOf, start);
    this.#entrySizes.set(expr, { container: "map", key, value });
    return addCosts(...costs, mapCost);
  }

  #fold(expr: ComprehensionExpr): Range {
    const before = addCosts(this.cost(expr.iterRange), this.cost(expr.accuInit));
    this.#push(expr.accuVar, this.#bound(expr.accuInit));
    const variables: [string, LocalVariable][] =
      expr.iterVar2 === undefined
        ? [[expr.iterVar, this.#iterated(expr.iterRange, this.#isList(expr.iterRange) ? "value" : "key")]]
        : [
            [expr.iterVar, this.#iterated(expr.iterRange, "key")],
            [expr.iterVar2, this.#iterated(expr.iterRange, "value")],
          ];
    for (const [name, variable] of variables) this.#push(name, variable);
    const once = addCosts(this.cost(expr.loopStep), this.cost(expr.loopCondition));
    for (const [name] of variables) this.#pop(name);
    const result = this.cost(expr.result);
    this.#pop(expr.accuVar);
    const times = this.#size(expr.iterRange) ?? unknownSize;
    if (expr.accuInit.kind === "literal") {
      const size = this.#size(expr.accuInit);
      if (size !== undefined) this.#sizes.set(expr, size);
    } else if (expr.accuInit.kind === "list" || expr.accuInit.kind === "map") {
      this.#sizes.set(expr, times);
      const entries = this.#entrySize(expr.loopStep);
      if (entries !== undefined) this.#entrySizes.set(expr, entries);
    }
    return addCosts(before, result, multiplyRanges(times, once));
  }

  #binding(expr: ComprehensionExpr): Range {
    const before = addCosts(this.cost(expr.iterRange), this.cost(expr.accuInit));
    this.#push(expr.accuVar, this.#bound(expr.accuInit));
    const result = this.cost(expr.result);
    this.#pop(expr.accuVar);
    this.#copySizes(expr, expr.result);
    return addCosts(before, result);
  }

  #bound(value: Expr): LocalVariable {
    return { path: this.#pathOf(value), size: this.#size(value), entrySize: this.#entrySize(value) };
  }

  #isList(range: Expr): boolean {
    return (this.#entrySize(range)?.container ?? this.#typeOf(range).kind) === "list";
  }

  #iterated(range: Expr, part: "key" | "value"): LocalVariable {
    const entries = this.#entrySize(range);
    const isList = this.#isList(range);
    const link = part === "key" ? (isList ? "@indices" : "@keys") : isList ? "@items" : "@values";
    return { path: extend(this.#pathOf(range), link), size: entries?.[part] };
  }

  #push(name: string, variable: LocalVariable): void {
    const known = this.#locals.get(name);
    if (known === undefined) this.#locals.set(name, [variable]);
    else known.push(variable);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #typeOf(expr: Expr): CelType {
    return this.#program.checked.types.get(expr) ?? { kind: "dyn" };
  }

  #pathOf(expr: Expr): readonly string[] | undefined {
    const local = expr.kind === "ident" ? this.#local(expr.name) : undefined;
    return local === undefined ? this.#paths.get(expr) : local.path;
  }

  #node(expr: Expr): CostNode {
    const path = this.#pathOf(expr);
    const isPart = path !== undefined && path[0] !== accumulatorName;
    return { type: this.#typeOf(expr), expr, ...(isPart && { path }) };
  }

  #sizeOrUnknown(node: CostNode): Range {
    return (node.expr === undefined ? this.#sizeOf(node) : this.#size(node.expr)) ?? unknownSize;
  }

  #size(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr) ?? writtenSize(expr);
    if (known !== undefined) return known;
    const path = this.#pathOf(expr);
    const given = this.#sizeOf({ type: this.#typeOf(expr), expr, ...(path && { path }) });
    if (given !== undefined) {
      this.#sizes.set(expr, given);
      return given;
    }
    if (isScalar(this.#typeOf(expr))) return fixedRange(1);
    return expr.kind === "ident" ? this.#local(expr.name)?.size : undefined;
  }

  #entrySize(expr: Expr): EntrySize | undefined {
    return this.#entrySizes.get(expr) ?? (expr.kind === "ident" ? this.#local(expr.name)?.entrySize : undefined);
  }

  #joinEntrySizes(expr: Expr, left: Expr, right: Expr): void {
    const [a, b] = [this.#entrySize(left), this.#entrySize(right)];
    if (a !== undefined && b !== undefined)
      this.#entrySizes.set(expr, { container: a.container, key: unionOf(a.key, b.key), value: unionOf(a.value, b.value) });
  }

  #copySizes(to: Expr, from: Expr): void {
    const [size, entries] = [this.#size(from), this.#entrySize(from)];
    if (size !== undefined) this.#sizes.set(to, size);
    if (entries !== undefined) this.#entrySizes.set(to, entries);
  }
}

function extend(path: readonly string[] | undefined, link: string): readonly string[] {
  return [...(path ?? []), link];
}

function writtenSize(expr: Expr): Range | undefined {
  if (expr.kind === "list") return fixedRange(expr.elements.length);
  if (expr.kind === "map") return fixedRange(expr.entries.length);
  if (expr.kind !== "literal") return undefined;
  const { value } = expr;
  return fixedRange(value.type === "string" ? codePointLength(value.value) : value.type === "bytes" ? value.value.length : 1);
}

const scalars: ReadonlySet<CelType["kind"]> = new Set<CelType["kind"]>(["bool", "double", "duration", "int", "timestamp", "uint"]);

function isScalar(type: CelType): boolean {
  const inner = unwrapOptional(type);
  return inner === undefined ? scalars.has(type.kind) : isScalar(inner);
}

/** Finds the type of every expression, what names refer to, and which overloads calls may mean. Faults are cel-go's, to the letter. */
import type { CelIssue } from "../source.ts";
import { qualifiedName } from "../syntax/ast.ts";
import type { CallExpr, ComprehensionExpr, Expr, ListExpr, MapExpr, SelectExpr, StructExpr } from "../syntax/ast.ts";
import type { FunctionDeclaration, Overload } from "./declarations.ts";
import { Scope } from "./scope.ts";
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  formatCall,
  formatType,
  intType,
  isDynOrError,
  isSameType,
  listType,
  mapType,
  nullType,
  optionalType,
  parameter,
  stringType,
  typeType,
  uintType,
  unwrapOptional,
} from "./types.ts";
import type { CelType, StructType } from "./types.ts";
import { mostGeneral, Substitutions } from "./unification.ts";

/** What the checker asks of an environment. */
export interface Declarations {
  /** Prefix under which names are looked up first, such as `a.b`; usually empty. */
  readonly container: string;
  variable(name: string): CelType | undefined;
  /** The type that a name denotes: `int`, `Object.spec`. */
  typeNamed(name: string): CelType | undefined;
  functionNamed(name: string): FunctionDeclaration | undefined;
}

export interface Checked {
  readonly types: ReadonlyMap<Expr, CelType>;
  readonly references: ReadonlyMap<Expr, Reference>;
  readonly issues: readonly CelIssue[];
}

export type Reference =
  | { readonly to: "variable"; readonly name: string }
  | { readonly to: "type"; readonly type: CelType }
  /** `isNamespaced`: what looks like the call's target is part of the function's name. */
  | { readonly to: "function"; readonly name: string; readonly overloads: readonly Overload[]; readonly isNamespaced: boolean };

export function check(declarations: Declarations, expr: Expr): Checked {
  const checker = new Checker(declarations);
  checker.check(expr);
  return checker.finish();
}

class Checker {
  readonly #declarations: Declarations;
  readonly #types = new Map<Expr, CelType>();
  readonly #references = new Map<Expr, Reference>();
  readonly #issues: CelIssue[] = [];
  readonly #substitutions = new Substitutions();
  #scope = new Scope();
  #freeParameters = 0;

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
  }

  finish(): Checked {
    const types = new Map([...this.#types].map(([expr, type]) => [expr, this.#substitutions.apply(type, true)]));
    return { types, references: this.#references, issues: this.#issues };
  }

  check(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    this.#types.set(expr, type);
    return type;
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case "literal":
        return literalTypes[expr.value.type];
      case "ident":
        return this.#name(expr, expr.name) ?? this.#fault(expr.at, `undeclared reference to '${expr.name}' (in container '${this.#declarations.container}')`);
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
        return this.#comprehension(expr);
    }
  }

  /** Type of what a (dotted) name refers to; undefined when it refers to nothing. */
  #name(expr: Expr, name: string): CelType | undefined {
    const local = this.#scope.find(name.replace(/\..*$/s, ""));
    if (local !== undefined) {
      if (name.includes(".") && !name.startsWith(".")) return undefined;
      this.#references.set(expr, { to: "variable", name });
      return local;
    }
    for (const candidate of candidates(this.#declarations.container, name)) {
      const variable = this.#declarations.variable(candidate);
      if (variable !== undefined) {
        this.#references.set(expr, { to: "variable", name: candidate });
        return variable;
      }
      const type = this.#declarations.typeNamed(candidate);
      if (type !== undefined) {
        this.#references.set(expr, { to: "type", type });
        return typeType(type);
      }
    }
    return undefined;
  }

  #select(expr: SelectExpr): CelType {
    const name = qualifiedName(expr);
    const named = name === undefined ? undefined : this.#name(expr, name);
    if (named !== undefined) return named;
    const type = this.#field(expr.operand, expr.field, expr.at, false);
    return expr.isTest ? boolType : this.#substitutions.apply(type);
  }

  #field(operand: Expr, field: string, at: number, isOptional: boolean): CelType {
    const operandType = this.#substitutions.apply(this.check(operand));
    const inner = unwrapOptional(operandType);
    const type = this.#fieldOf(inner ?? operandType, field, at);
    return inner !== undefined || isOptional ? optionalType(type) : type;
  }

  #fieldOf(type: CelType, field: string, at: number): CelType {
    if (type.kind === "map") return type.parameters[1]!;
    if (type.kind === "struct") return type.field(field)?.type ?? this.#fault(at, `undefined field '${field}'`);
    if (type.kind === "parameter") {
      this.#substitutions.assign(dynType, type);
      return dynType;
    }
    if (!isDynOrError(type)) this.#fault(at, `type '${formatType(type)}' does not support field selection`);
    return dynType;
  }

  #call(expr: CallExpr): CelType {
    if (expr.functionName === "_?._") return this.#optionalSelect(expr);
    for (const arg of expr.args) this.check(arg);
    if (expr.target === undefined) {
      const declared = this.#function(expr.functionName);
      return declared === undefined ? this.#undeclared(expr) : this.#overload(expr, declared, [...expr.args], false);
    }
    const prefix = qualifiedName(expr.target);
    const namespaced = prefix === undefined ? undefined : this.#function(`${prefix}.${expr.functionName}`);
    if (namespaced !== undefined) return this.#overload(expr, namespaced, [...expr.args], true);
    this.check(expr.target);
    const declared = this.#function(expr.functionName);
    return declared === undefined ? this.#undeclared(expr) : this.#overload(expr, declared, [expr.target, ...expr.args], false);
  }

  #undeclared(expr: CallExpr): CelType {
    return this.#fault(expr.at, `undeclared reference to '${expr.functionName}' (in container '${this.#declarations.container}')`);
  }

  #function(name: string): FunctionDeclaration | undefined {
    for (const candidate of candidates(this.#declarations.container, name)) {
      const declared = this.#declarations.functionNamed(candidate);
      if (declared !== undefined) return declared;
    }
    return undefined;
  }

  #optionalSelect(expr: CallExpr): CelType {
    const [operand, field] = expr.args as [Expr, Expr & { kind: "literal"; value: { type: "string"; value: string } }];
    const type = this.#field(operand, field.value.value, expr.at, true);
    this.#types.set(field, stringType);
    this.#references.set(expr, { to: "function", name: "_?._", overloads: [], isNamespaced: false });
    return this.#substitutions.apply(type);
  }

  #overload(expr: CallExpr, declared: FunctionDeclaration, args: readonly Expr[], isNamespaced: boolean): CelType {
    const isMember = expr.target !== undefined && !isNamespaced;
    if (declared.name === "_&&_" || declared.name === "_||_") return this.#logical(expr, declared, args);
    const argTypes = args.map((arg) => this.#types.get(arg)!);
    const matching: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of declared.overloads) {
      if (overload.isMember !== isMember) continue;
      const fresh = this.#fresh(overload);
      if (!this.#substitutions.assignAll(argTypes, overload.args.map(fresh))) continue;
      matching.push(overload);
      const type = this.#substitutions.apply(fresh(overload.result));
      if (result === undefined) result = type;
      else if (result.kind !== "dyn" && !isSameType(result, type)) result = dynType;
    }
    if (result === undefined) {
      const shown = argTypes.map((type) => this.#substitutions.apply(type, true));
      return this.#fault(expr.at, `found no matching overload for '${declared.name}' applied to '${formatCall(shown, isMember)}'`);
    }
    this.#references.set(expr, { to: "function", name: declared.name, overloads: matching, isNamespaced });
    return result;
  }

  /** Operands of `&&` and `||` are told apart, whatever the chain. */
  #logical(expr: CallExpr, declared: FunctionDeclaration, args: readonly Expr[]): CelType {
    let isFaulty = false;
    for (const arg of args) {
      const type = this.#types.get(arg)!;
      if (this.#substitutions.assign(type, boolType)) continue;
      this.#fault(arg.at, `expected type 'bool' but found '${formatType(this.#substitutions.apply(type))}'`);
      isFaulty = true;
    }
    if (isFaulty) return errorType;
    this.#references.set(expr, { to: "function", name: declared.name, overloads: declared.overloads, isNamespaced: false });
    return boolType;
  }

  /** Replaces an overload's type parameters by new ones. */
  #fresh(overload: Overload): (type: CelType) => CelType {
    if (overload.typeParameters.length === 0) return (type) => type;
    const renamed = new Substitutions();
    for (const name of overload.typeParameters) renamed.set(name, this.#newParameter());
    return (type) => renamed.apply(type);
  }

  #newParameter(): CelType {
    return parameter(`_var${this.#freeParameters++}`);
  }

  #list(expr: ListExpr): CelType {
    let items: CelType | undefined;
    expr.elements.forEach((element, index) => {
      const type = this.check(element);
      items = this.#join(items, expr.optionals.has(index) ? this.#unwrapped(element, type) : type);
    });
    return listType(items ?? this.#newParameter());
  }

  #unwrapped(expr: Expr, type: CelType): CelType {
    const inner = unwrapOptional(type);
    if (inner === undefined && type.kind !== "dyn") this.#mismatch(expr.at, optionalType(type), type);
    return inner ?? type;
  }

  #map(expr: MapExpr): CelType {
    let keys: CelType | undefined;
    let values: CelType | undefined;
    for (const entry of expr.entries) {
      keys = this.#join(keys, this.check(entry.key));
      const type = this.check(entry.value);
      values = this.#join(values, entry.isOptional ? this.#unwrapped(entry.value, type) : type);
    }
    return mapType(keys ?? this.#newParameter(), values ?? this.#newParameter());
  }

  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    return this.#substitutions.assign(previous, current) ? mostGeneral(previous, current) : dynType;
  }

  #struct(expr: StructExpr): CelType {
    const type = candidates(this.#declarations.container, expr.typeName)
      .map((name) => this.#declarations.typeNamed(name))
      .find((each) => each !== undefined);
    if (type === undefined) return this.#fault(expr.at, `undeclared reference to '${expr.typeName}' (in container '${this.#declarations.container}')`);
    if (type.kind !== "struct") this.#fault(expr.at, `'${formatType(type)}' is not a message type`);
    const struct = type.kind === "struct" ? type : undefined;
    if (struct !== undefined) this.#references.set(expr, { to: "type", type: struct });
    for (const field of expr.fields) this.#structField(struct, field);
    return struct ?? errorType;
  }

  #structField(struct: StructType | undefined, field: StructExpr["fields"][number]): void {
    const declared = struct?.field(field.name)?.type;
    if (struct !== undefined && declared === undefined && struct.hasSilentFields !== true) this.#fault(field.at, `undefined field '${field.name}'`);
    const type = this.check(field.value);
    const given = field.isOptional ? this.#unwrapped(field.value, type) : type;
    if (struct === undefined || (declared === undefined && struct.hasSilentFields !== true)) return;
    if (declared !== undefined && this.#substitutions.assign(declared, given)) return;
    const shown = declared === undefined ? "" : formatType(declared);
    this.#fault(field.at, `expected type of field '${field.name}' is '${shown}' but provided type is '${formatType(this.#substitutions.apply(given))}'`);
  }

  #comprehension(expr: ComprehensionExpr): CelType {
    this.check(expr.iterRange);
    const accuType = this.check(expr.accuInit);
    const rangeType = this.#substitutions.apply(this.#types.get(expr.iterRange)!);
    const [single, key, value] = this.#iterated(rangeType, expr.iterRange.at);
    const outer = this.#scope;
    const withResult = outer.with(expr.accuVar, accuType);
    this.#scope = expr.iterVar2 === undefined ? withResult.with(expr.iterVar, single) : withResult.with(expr.iterVar, key).with(expr.iterVar2, value);
    this.#expect(expr.loopCondition, boolType);
    this.#expect(expr.loopStep, accuType);
    this.#scope = withResult;
    const result = this.check(expr.result);
    this.#scope = outer;
    return this.#substitutions.apply(result);
  }

  /** Types of the only variable, of the first of two, and of the second. */
  #iterated(range: CelType, at: number): [CelType, CelType, CelType] {
    if (range.kind === "list") return [range.parameters[0]!, intType, range.parameters[0]!];
    if (range.kind === "map") return [range.parameters[0]!, range.parameters[0]!, range.parameters[1]!];
    if (isDynOrError(range) || range.kind === "parameter") {
      this.#substitutions.assign(dynType, range);
      return [dynType, dynType, dynType];
    }
    this.#fault(at, `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`);
    return [errorType, errorType, errorType];
  }

  #expect(expr: Expr, expected: CelType): void {
    const type = this.check(expr);
    if (!this.#substitutions.assign(expected, type)) this.#mismatch(expr.at, expected, type);
  }

  #mismatch(at: number, expected: CelType, found: CelType): void {
    const [want, got] = [this.#substitutions.apply(expected), this.#substitutions.apply(found)];
    this.#fault(at, `expected type '${formatType(want)}' but found '${formatType(got)}'`);
  }

  #fault(offset: number, message: string): CelType {
    this.#issues.push({ offset, message });
    return errorType;
  }
}

const literalTypes = { null: nullType, bool: boolType, int: intType, uint: uintType, double: doubleType, string: stringType, bytes: bytesType } as const;

/** Names to try, the longest container first: `a.b.x`, `a.x`, `x`. A leading dot means the last only. */
export function candidates(container: string, name: string): string[] {
  if (name.startsWith(".")) return [name.slice(1)];
  const names = [name];
  for (let prefix = container; prefix !== ""; prefix = prefix.slice(0, Math.max(prefix.lastIndexOf("."), 0))) names.push(`${prefix}.${name}`);
  return [...names.slice(1), name];
}

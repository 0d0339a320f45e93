/** Functions as an environment declares them. */
import type { FunctionEstimate } from "../cost/estimate.ts";
import type { CelError, Value } from "../eval/values.ts";
import type { CelType } from "./types.ts";

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

export interface Overload {
  readonly id: string;
  /** Called as `target.name(…)`; the target is the first of `args`. */
  readonly isMember: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  /** Names of type parameters in `args` and `result`. */
  readonly typeParameters: readonly string[];
  readonly implementation: Implementation;
  /** Takes errors for arguments, too. */
  readonly isNonStrict?: boolean;
  /** Arguments are not held against `args` when evaluated: the implementation looks at them itself. */
  readonly isUnguarded?: boolean;
  readonly cost?: OverloadCost;
  /** The fault of arguments that are literals, found before evaluating; undefined stands for arguments that are none. */
  readonly checkConstants?: (args: ReadonlyArray<Value | undefined>) => CelError | undefined;
}

/** Gets as many values as the overload has arguments; returns an error value rather than throwing. */
export type Implementation = (...args: Value[]) => Value;

/** Costs of its own, where the general ones do not fit. */
export interface OverloadCost {
  readonly actual?: (args: readonly Value[], result: Value) => number;
  readonly estimate?: FunctionEstimate;
}

/** An overload from a short form: type parameters are those that the types name. */
export function overload(id: string, args: readonly CelType[], result: CelType, implementation: Implementation, options: Partial<Overload> = {}): Overload {
  const typeParameters = new Set<string>();
  for (const type of [...args, result]) collectParameters(type, typeParameters);
  return { id, isMember: false, args, result, typeParameters: [...typeParameters], implementation, ...options };
}

export function memberOverload(
  id: string,
  args: readonly CelType[],
  result: CelType,
  implementation: Implementation,
  options: Partial<Overload> = {},
): Overload {
  return overload(id, args, result, implementation, { isMember: true, ...options });
}

export function declare(name: string, ...overloads: Overload[]): FunctionDeclaration {
  return { name, overloads };
}

/** Declarations of one name become one, in order; an overload declared again replaces the former. */
export function mergeDeclarations(declarations: readonly FunctionDeclaration[]): Map<string, FunctionDeclaration> {
  const merged = new Map<string, Map<string, Overload>>();
  for (const { name, overloads } of declarations) {
    const known = merged.get(name) ?? new Map<string, Overload>();
    for (const each of overloads) known.set(each.id, each);
    merged.set(name, known);
  }
  return new Map([...merged].map(([name, overloads]) => [name, { name, overloads: [...overloads.values()] }]));
}

function collectParameters(type: CelType, names: Set<string>): void {
  if (type.kind === "parameter") names.add(type.name);
  else if ("parameters" in type) for (const each of type.parameters) collectParameters(each, names);
}

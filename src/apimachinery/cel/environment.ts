/** Environments: what names, functions, macros and rules an expression may use. They are data, made once and shared. */
import type { Declarations } from "./check/checker.ts";
import { mergeDeclarations } from "./check/declarations.ts";
import type { FunctionDeclaration } from "./check/declarations.ts";
import type { LiteralRule } from "./check/literal-rules.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from "./check/types.ts";
import type { CelType } from "./check/types.ts";
import { ActualCost } from "./eval/actual-cost.ts";
import type { FunctionCost } from "./eval/actual-cost.ts";
import type { FunctionEstimate } from "./cost/estimate.ts";
import { standardFunctions } from "./library/standard.ts";
import { standardMacros } from "./syntax/macros.ts";
import type { Macro } from "./syntax/macros.ts";

/** Functions that go together. Costs are by function name, and hold for every function so called. */
export interface Library {
  readonly name: string;
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: readonly Macro[];
  readonly types?: ReadonlyMap<string, CelType>;
  readonly literalRules?: readonly LiteralRule[];
  readonly actualCosts?: ReadonlyMap<string, FunctionCost>;
  readonly estimates?: ReadonlyMap<string, FunctionEstimate>;
}

export interface EnvironmentOptions {
  readonly variables?: Readonly<Record<string, CelType>>;
  /** Types that may be named besides those of the libraries, such as `Object.spec` for object literals. */
  readonly typeNamed?: (name: string) => CelType | undefined;
  readonly libraries?: readonly Library[];
  readonly container?: string;
  readonly features?: EnvironmentFeatures;
}

export interface EnvironmentFeatures {
  /** `1 < 1.5` (on unless false). */
  readonly crossTypeNumericComparisons?: boolean;
}

export class Environment implements Declarations {
  readonly container: string;
  readonly macros: readonly Macro[];
  readonly literalRules: readonly LiteralRule[];
  readonly actualCost: ActualCost;
  readonly estimates: ReadonlyMap<string, FunctionEstimate>;
  readonly #options: EnvironmentOptions;
  readonly #functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly #variables: ReadonlyMap<string, CelType>;
  readonly #types: ReadonlyMap<string, CelType>;

  constructor(options: EnvironmentOptions, inherited?: Environment) {
    const libraries = options.libraries ?? [];
    this.#options = options;
    this.container = options.container ?? "";
    this.#variables = new Map(Object.entries(options.variables ?? {}));
    this.#functions =
      inherited?.functions ?? mergeDeclarations([...standardFunctions(options.features), ...libraries.flatMap((library) => library.functions ?? [])]);
    this.#types = inherited?.types ?? new Map([...namedTypes, ...libraries.flatMap((library) => [...(library.types ?? [])])]);
    this.macros = inherited?.macros ?? [...standardMacros, ...libraries.flatMap((library) => library.macros ?? [])];
    this.literalRules = inherited?.literalRules ?? libraries.flatMap((library) => library.literalRules ?? []);
    this.actualCost = inherited?.actualCost ?? new ActualCost(new Map(libraries.flatMap((library) => [...(library.actualCosts ?? [])])));
    this.estimates = inherited?.estimates ?? new Map(libraries.flatMap((library) => [...(library.estimates ?? [])]));
  }

  get functions(): ReadonlyMap<string, FunctionDeclaration> {
    return this.#functions;
  }

  get types(): ReadonlyMap<string, CelType> {
    return this.#types;
  }

  /** The same environment with other variables and named types: cheap, nothing is declared again. */
  withVariables(variables: Readonly<Record<string, CelType>>, typeNamed?: EnvironmentOptions["typeNamed"]): Environment {
    const named = typeNamed ?? this.#options.typeNamed;
    return new Environment({ ...this.#options, variables: { ...this.#options.variables, ...variables }, ...(named && { typeNamed: named }) }, this);
  }

  variable(name: string): CelType | undefined {
    return this.#variables.get(name);
  }

  typeNamed(name: string): CelType | undefined {
    return this.#types.get(name) ?? this.#options.typeNamed?.(name);
  }

  functionNamed(name: string): FunctionDeclaration | undefined {
    return this.#functions.get(name);
  }
}

export function createEnvironment(options: EnvironmentOptions): Environment {
  return new Environment(options);
}

const namedTypes: ReadonlyArray<readonly [string, CelType]> = [
  ["bool", boolType],
  ["bytes", bytesType],
  ["double", doubleType],
  ["int", intType],
  ["list", listType(dynType)],
  ["map", mapType(dynType, dynType)],
  ["null_type", nullType],
  ["string", stringType],
  ["type", typeType()],
  ["uint", uintType],
  ["google.protobuf.Duration", durationType],
  ["google.protobuf.Timestamp", timestampType],
];

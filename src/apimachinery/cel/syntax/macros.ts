/** Macros: calls that are rewritten while parsing. Which of them an environment has is data: lists of `Macro`. */
import { accumulatorName } from "./ast.ts";
import type { ComprehensionExpr, Expr } from "./ast.ts";

export interface Macro {
  readonly name: string;
  readonly isMember: boolean;
  readonly argCount: number;
  /** The expression instead of the call; undefined leaves the call as it is. Throws `MacroFault`. */
  readonly expand: (call: MacroCall) => Expr | undefined;
}

export interface MacroCall {
  /** Offset of the opening bracket. */
  readonly at: number;
  readonly target?: Expr;
  readonly args: readonly Expr[];
}

export class MacroFault extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

export function expandMacro(macro: Macro, call: MacroCall): Expr | undefined {
  return macro.expand(call);
}

/** Builds the nodes of one expansion, all of them at the macro's place. */
export class Nodes {
  readonly at: number;

  constructor(at: number) {
    this.at = at;
  }

  bool(value: boolean): Expr {
    return { kind: "literal", at: this.at, value: { type: "bool", value } };
  }

  int(value: number): Expr {
    return { kind: "literal", at: this.at, value: { type: "int", value: BigInt(value) } };
  }

  ident(name: string): Expr {
    return { kind: "ident", at: this.at, name };
  }

  accumulator(): Expr {
    return this.ident(accumulatorName);
  }

  list(...elements: Expr[]): Expr {
    return { kind: "list", at: this.at, elements, optionals: new Set() };
  }

  map(): Expr {
    return { kind: "map", at: this.at, entries: [] };
  }

  call(functionName: string, ...args: Expr[]): Expr {
    return { kind: "call", at: this.at, functionName, args };
  }

  memberCall(functionName: string, target: Expr, ...args: Expr[]): Expr {
    return { kind: "call", at: this.at, functionName, target, args };
  }

  fold(parts: Omit<ComprehensionExpr, "kind" | "at" | "accuVar" | "result"> & { readonly accuVar?: string; readonly result?: Expr }): Expr {
    return { kind: "comprehension", at: this.at, accuVar: accumulatorName, result: this.accumulator(), ...parts };
  }

  /** `result` with `name` standing for `value`, which is evaluated when it is first needed. */
  bind(name: string, value: Expr, result: Expr): Expr {
    return this.fold({
      iterRange: this.list(),
      iterVar: "#unused",
      accuVar: name,
      accuInit: value,
      loopCondition: this.bool(false),
      loopStep: this.ident(name),
      result,
    });
  }
}

const overwrites = "iteration variable overwrites accumulator variable";

/** The name of a variable that a macro declares. */
export function variableName(expr: Expr, fault = "argument is not an identifier"): string {
  if (expr.kind !== "ident" || expr.name.startsWith(".")) throw new MacroFault(expr.at, fault);
  if (expr.name === "__result__" || expr.name === accumulatorName) throw new MacroFault(expr.at, overwrites);
  return expr.name;
}

export const hasMacro: Macro = {
  name: "has",
  isMember: false,
  argCount: 1,
  expand({ at, args: [argument] }) {
    if (argument!.kind !== "select" || argument!.isTest) throw new MacroFault(argument!.at, "invalid argument to has() macro");
    return { ...argument!, at, isTest: true };
  },
};

const simpleName = "argument must be a simple name";

function quantifier(name: string, build: (nodes: Nodes, range: Expr, variable: string, predicate: Expr) => Expr): Macro {
  return {
    name,
    isMember: true,
    argCount: 2,
    expand: ({ at, target, args }) => build(new Nodes(at), target!, variableName(args[0]!, simpleName), args[1]!),
  };
}

/** The steps of the three quantifiers, for one variable or two. */
export const quantifierSteps = {
  all: (nodes: Nodes, predicate: Expr) => ({
    accuInit: nodes.bool(true),
    loopCondition: nodes.call("@not_strictly_false", nodes.accumulator()),
    loopStep: nodes.call("_&&_", nodes.accumulator(), predicate),
    result: nodes.accumulator(),
  }),
  exists: (nodes: Nodes, predicate: Expr) => ({
    accuInit: nodes.bool(false),
    loopCondition: nodes.call("@not_strictly_false", nodes.call("!_", nodes.accumulator())),
    loopStep: nodes.call("_||_", nodes.accumulator(), predicate),
    result: nodes.accumulator(),
  }),
  existsOne: (nodes: Nodes, predicate: Expr) => ({
    accuInit: nodes.int(0),
    loopCondition: nodes.bool(true),
    loopStep: nodes.call("_?_:_", predicate, nodes.call("_+_", nodes.accumulator(), nodes.int(1)), nodes.accumulator()),
    result: nodes.call("_==_", nodes.accumulator(), nodes.int(1)),
  }),
};

function one(name: string, step: keyof typeof quantifierSteps): Macro {
  return quantifier(name, (nodes, iterRange, iterVar, predicate) => nodes.fold({ iterRange, iterVar, ...quantifierSteps[step](nodes, predicate) }));
}

/** `target.map(x, item)` or, with a condition, `target.map(x, condition, item)`. */
export function mapFold(nodes: Nodes, target: Expr, args: readonly Expr[]): Expr {
  const iterVar = variableName(args[0]!);
  const item = args.at(-1)!;
  const step = nodes.call("_+_", nodes.accumulator(), nodes.list(item));
  const loopStep = args.length === 3 ? nodes.call("_?_:_", args[1]!, step, nodes.accumulator()) : step;
  return nodes.fold({ iterRange: target, iterVar, accuInit: nodes.list(), loopCondition: nodes.bool(true), loopStep });
}

const filterMacro: Macro = {
  name: "filter",
  isMember: true,
  argCount: 2,
  expand: ({ at, target, args }) => mapFold(new Nodes(at), target!, [args[0]!, args[1]!, args[0]!]),
};

function mapMacro(argCount: 2 | 3): Macro {
  return { name: "map", isMember: true, argCount, expand: ({ at, target, args }) => mapFold(new Nodes(at), target!, args) };
}

export const standardMacros: readonly Macro[] = [
  hasMacro,
  one("all", "all"),
  one("exists", "exists"),
  one("exists_one", "existsOne"),
  mapMacro(2),
  mapMacro(3),
  filterMacro,
];

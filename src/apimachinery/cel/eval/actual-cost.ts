/** What calls cost when evaluated: cel-go's own figures, those of Kubernetes' libraries, and those that overloads bring along. */
import type { Overload } from "../check/declarations.ts";
import { codePointLength } from "../source.ts";
import type { Step } from "./frame.ts";
import { ListValue, MapValue, OpaqueValue } from "./values.ts";
import type { Value } from "./values.ts";

/** Cost of a call by the function's name; undefined leaves it to the general rules. */
export type FunctionCost = (args: readonly Value[], result: Value, overloadId: string) => number | undefined;

const perCharacter = 0.1;
const perPatternCharacter = 0.25;

export class ActualCost {
  readonly #functions: ReadonlyMap<string, FunctionCost>;

  constructor(functions: ReadonlyMap<string, FunctionCost>) {
    this.#functions = functions;
  }

  /** Evaluates the arguments, runs `call` on them and charges for it. `overload` is the only one possible, if there is only one. */
  charged(name: string, overload: Overload | undefined, steps: readonly Step[], call: (args: Value[]) => Value): Step {
    const charge = this.#chargeFor(name, overload);
    const [first, second] = steps;
    if (steps.length === 1) {
      return (frame) => {
        const args = [first!(frame)];
        const result = call(args);
        frame.charge(typeof charge === "number" ? charge : charge(args, result));
        return result;
      };
    }
    if (steps.length === 2) {
      return (frame) => {
        const args = [first!(frame), second!(frame)];
        const result = call(args);
        frame.charge(typeof charge === "number" ? charge : charge(args, result));
        return result;
      };
    }
    return (frame) => {
      const args = steps.map((step) => step(frame));
      const result = call(args);
      frame.charge(typeof charge === "number" ? charge : charge(args, result));
      return result;
    };
  }

  #chargeFor(name: string, overload: Overload | undefined): number | ((args: readonly Value[], result: Value) => number) {
    const own = overload?.cost?.actual;
    if (own !== undefined) return own;
    const id = overload?.id ?? "";
    const general = generalCosts.get(id) ?? (() => 1);
    const byName = this.#functions.get(name);
    if (byName === undefined) return generalCosts.has(id) ? general : 1;
    return (args, result) => byName(args, result, id) ?? general(args);
  }
}

/** Characters, bytes, items or entries; 1 for everything else. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return codePointLength(value);
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  return value instanceof OpaqueValue ? (value.size ?? 1) : 1;
}

/** Reading something of `size` once, or `times` over. */
export function traversal(size: number, times = 1): number {
  return Math.ceil(size * perCharacter * times);
}

/** Matching a text against a pattern. */
export function matching(textSize: number, patternSize: number): number {
  return Math.ceil((1 + textSize) * perCharacter) * Math.ceil(patternSize * perPatternCharacter);
}

type GeneralCost = (args: readonly Value[]) => number;

const ofSmaller: GeneralCost = ([left, right]) => traversal(Math.min(sizeOf(left!), sizeOf(right!)));
const ofBoth: GeneralCost = ([left, right]) => traversal(sizeOf(left!) + sizeOf(right!));
const ofFirst: GeneralCost = ([first]) => traversal(sizeOf(first!));
const ofSecond: GeneralCost = ([, second]) => traversal(sizeOf(second!));

const generalCosts: ReadonlyMap<string, GeneralCost> = new Map<string, GeneralCost>([
  ["starts_with_string", ofSecond],
  ["ends_with_string", ofSecond],
  ["string_to_bytes", ofFirst],
  ["bytes_to_string", ofFirst],
  ["strings_quote", ofFirst],
  ["string_format", ofFirst],
  ["in_list", ([, list]) => sizeOf(list!)],
  ...[
    "less_string",
    "greater_string",
    "less_equals_string",
    "greater_equals_string",
    "less_bytes",
    "greater_bytes",
    "less_equals_bytes",
    "greater_equals_bytes",
    "equals",
    "not_equals",
  ].map((id): [string, GeneralCost] => [id, ofSmaller]),
  ["add_string", ofBoth],
  ["add_bytes", ofBoth],
  ["matches_string", ([text, pattern]) => matching(sizeOf(text!), sizeOf(pattern!))],
  ["matches", ([text, pattern]) => matching(sizeOf(text!), sizeOf(pattern!))],
  ["contains_string", ([text, part]) => traversal(sizeOf(text!)) * traversal(sizeOf(part!))],
]);

/**
 * The JSONPath of Kubernetes (documentation page "JSONPath Support"), as printer columns and selectable fields use it: keys, indexes,
 * slices, unions, wildcards, filters and descent. A missing key yields nothing; a step that does not fit its value (an index into text,
 * an index beyond the end) fails the whole path, as upstream does.
 */
import type { DeepReadonly, JsonObject, JsonValue } from "./json.ts";
import { isObject, isRawNumber } from "./json.ts";
import { JsonPathSyntaxError, parseSteps } from "./json-path-parser.ts";
import type { Operand, Slice, Step } from "./json-path-parser.ts";

export { JsonPathSyntaxError };

export type Json = DeepReadonly<JsonValue>;

export interface JsonPath {
  readonly text: string;
  /** What the path finds in `value`, in order, or undefined when a step does not fit. */
  find(value: Json): readonly Json[] | undefined;
}

/** Parses a path that starts with a dot or a bracket (`.spec.items[0].name`). Throws JsonPathSyntaxError. */
export function parseJsonPath(text: string): JsonPath {
  const steps = parseSteps(text);
  return {
    text,
    find(value) {
      try {
        return follow(steps, [value]);
      } catch (error) {
        if (error instanceof MisfitError) return undefined;
        throw error;
      }
    },
  };
}

/** A step met a value that it cannot be taken from; caught where the path is followed. */
class MisfitError extends Error {}

function follow(steps: readonly Step[], from: readonly Json[]): readonly Json[] {
  let values = from;
  for (const step of steps) values = take(step, values);
  return values;
}

function take(step: Step, values: readonly Json[]): readonly Json[] {
  switch (step.kind) {
    case "field":
      return values.flatMap((value) => (isObject(value) && Object.hasOwn(value, step.name) ? [(value as DeepReadonly<JsonObject>)[step.name]!] : []));
    case "wildcard":
      return values.flatMap(children);
    case "slice":
      return values.flatMap((value) => sliceOf(step, value));
    case "filter":
      return values.flatMap((value) => listOf(value).filter((item) => passes(step, item)));
    case "union":
      return step.branches.flatMap((branch) => follow(branch, values));
    case "descent":
      return values.flatMap(descendants);
  }
}

function children(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[];
  return isObject(value) ? Object.values(value) : [];
}

function sliceOf({ first, end, step }: Slice, value: Json): readonly Json[] {
  if (value === null) return [];
  const items = listOf(value);
  const fromEnd = (index: number) => (index < 0 ? index + items.length : index);
  const start = first === undefined ? 0 : fromEnd(first);
  const stop = end === undefined ? items.length : end === "next" ? start + 1 : fromEnd(end);
  if (start === stop) return [];
  if (start < 0 || start >= items.length || stop < 0 || stop > items.length || start > stop) throw new MisfitError();
  return items.slice(start, stop).filter((_, index) => index % (step ?? 1) === 0);
}

function listOf(value: Json): readonly Json[] {
  if (!Array.isArray(value)) throw new MisfitError();
  return value as readonly Json[];
}

function passes(filter: Extract<Step, { kind: "filter" }>, item: Json): boolean {
  const left = operandValues(filter.left, item);
  if (filter.operator === "exists") return left.length > 0;
  if (left.length === 0) return false;
  const right = operandValues(filter.right!, item);
  if (right.length === 0) return false;
  if (left.length > 1 || right.length > 1) throw new MisfitError();
  return compare(filter.operator, scalar(left[0]!), scalar(right[0]!));
}

function operandValues(operand: Operand, item: Json): readonly Json[] {
  return operand.kind === "literal" ? [operand.value] : follow(operand.steps, [item]);
}

function scalar(value: Json): string | number | boolean {
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (typeof value === "object") throw new MisfitError();
  return value;
}

function compare(operator: string, left: string | number | boolean, right: string | number | boolean): boolean {
  if (typeof left !== typeof right) throw new MisfitError();
  switch (operator) {
    case "==":
      return left === right;
    case "!=":
      return left !== right;
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    default:
      return left >= right;
  }
}

/** A value and everything inside it, outermost first. Does not recurse: hostile depth is legal in custom resources. */
function descendants(value: Json): Json[] {
  const found: Json[] = [];
  const pending: Json[] = [value];
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    found.push(current);
    pending.push(...children(current).toReversed());
  }
  return found;
}

/** One requirement of a label selector, and what is wrong with one. */
import { fieldErrorText, invalid, notSupported } from "../field-error.ts";
import type { FieldError } from "../field-error.ts";
import { FieldPath } from "../field-path.ts";
import { isLabelValue, isQualifiedName } from "../names.ts";

/** Makes a requirement, or throws `SelectorError` with every fault of key, operator and values. */
export function newRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const faults = [...keyFaults(key, FieldPath.root("key")), ...countFaults(operator, values), ...valueFaults(key, values)];
  const texts = [...new Set(faults.map(fieldErrorText))];
  if (texts.length > 0) throw new SelectorError(texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`);
  return { key, operator, values: new Set(values) };
}

export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: ReadonlySet<string>;
}

/** A selector's text or object that cannot be used. */
export class SelectorError extends Error {
  override name = "SelectorError";
  readonly reason = "BadSelector";
}

/** Go's ParseInt(text, 10, 64). */
export function parseInteger(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ""));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** Faults of a label key; the parser reports them at the root, requirements at `key`. */
export function keyFaults(key: string, path: FieldPath): FieldError[] {
  const faults = isQualifiedName(key);
  return faults.length === 0 ? [] : [invalid(path, key, faults.join("; "))];
}

const valuesPath = FieldPath.root("values");

function countFaults(operator: LabelOperator, values: readonly string[]): FieldError[] {
  switch (operator) {
    case "in":
    case "notin":
      return values.length > 0 ? [] : [invalid(valuesPath, [], "for 'in', 'notin' operators, values set can't be empty")];
    case "=":
    case "==":
    case "!=":
      return values.length === 1 ? [] : [invalid(valuesPath, values, "exact-match compatibility requires one single value")];
    case "exists":
    case "!":
      return values.length === 0 ? [] : [invalid(valuesPath, values, "values set must be empty for exists and does not exist")];
    case "gt":
    case "lt": {
      const faults = values.length === 1 ? [] : [invalid(valuesPath, values, "for 'Gt', 'Lt' operators, exactly one value is required")];
      const wrong = values.flatMap((value, index) =>
        parseInteger(value) === undefined ? [invalid(valuesPath.index(index), value, "for 'Gt', 'Lt' operators, the value must be an integer")] : [],
      );
      return [...faults, ...wrong];
    }
    default:
      return [notSupported(FieldPath.root("operator"), operator, ["!", "!=", "=", "==", "exists", "gt", "in", "lt", "notin"])];
  }
}

function valueFaults(key: string, values: readonly string[]): FieldError[] {
  return values.flatMap((value, index) => {
    const faults = isLabelValue(value);
    return faults.length === 0 ? [] : [invalid(valuesPath.index(index).key(key), value, faults.join("; "))];
  });
}

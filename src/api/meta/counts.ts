/** Rules of fields that count things. */
import { numberOf } from "../../apimachinery/json.ts";
import { invalid } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";

/** A count from 0 on; an absent one has no faults. */
export function validateCount(value: number | undefined, path: FieldPath): FieldError[] {
  return numberOf(value ?? 0) < 0 ? [invalid(path, value, "must be greater than or equal to 0")] : [];
}

/** The counts called `names` of one object, in this order. */
export function validateCounts<T extends object>(holder: T, names: readonly (keyof T & string)[], path: FieldPath): FieldError[] {
  return names.flatMap((name) => validateCount(holder[name] as number | undefined, path.child(name)));
}

/** A fault for each pair whose first count is greater than the second: `[count, bound, name of the bound in the text]`. */
export function validateBounds<T extends object>(
  holder: T,
  pairs: readonly (readonly [name: keyof T & string, bound: keyof T & string, boundText: string])[],
  path: FieldPath,
): FieldError[] {
  const count = (name: keyof T) => (holder[name] as number | undefined) ?? 0;
  return pairs
    .filter(([name, bound]) => count(name) > count(bound))
    .map(([name, , text]) => invalid(path.child(name), count(name), `cannot be greater than ${text}`));
}

/** A count that never goes back: that of name collisions. */
export function validateNotDecremented(count: number | undefined, old: number | undefined, path: FieldPath): FieldError[] {
  return old !== undefined && (count ?? -1) < old ? [invalid(path, count ?? 0, "cannot be decremented")] : [];
}

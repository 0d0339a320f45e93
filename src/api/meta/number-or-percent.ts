/** Rules of fields that are a count or a percentage. */
import { invalid } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { percentOf } from "../../apimachinery/int-or-string.ts";
import type { IntOrString } from "../../apimachinery/int-or-string.ts";
import { regexText } from "../../apimachinery/names.ts";
import { validateCount } from "./counts.ts";

/** A count from 0 on, or a percentage. */
export function validateNumberOrPercent(value: IntOrString, path: FieldPath): FieldError[] {
  if (typeof value === "number") return validateCount(value, path);
  return isPercent(value)
    ? []
    : [invalid(path, value, regexText("a valid percent string must be a numeric string followed by an ending '%'", "[0-9]+%", "1%", "93%"))];
}

/** A fault when `value` is a percentage above 100. */
export function validateAtMostWhole(value: IntOrString, path: FieldPath): FieldError[] {
  return typeof value === "string" && isPercent(value) && (percentOf(value) ?? 0) > 100 ? [invalid(path, value, "must not be greater than 100%")] : [];
}

/** The count, or the number of percents; 0 for another text. */
export function numberOrPercent(value: IntOrString | undefined): number {
  if (value === undefined) return 0;
  return typeof value === "number" ? value : isPercent(value) ? (percentOf(value) ?? 0) : 0;
}

function isPercent(value: string): boolean {
  return /^[0-9]+%$/.test(value);
}

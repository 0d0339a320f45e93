/** Rules of when an Indexed Job has succeeded (KEP-3998). */
import { invalid, required, tooLong, tooMany } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength } from "../../apimachinery/names.ts";
import { validateCount } from "../meta/counts.ts";
import { countIndexes, parseIndexes } from "./indexes.ts";
import type { SuccessPolicy, SuccessPolicyRule } from "./types.ts";

const maxRules = 20;
const maxIndexesBytes = 64 * 1024;

export function validateSuccessPolicy({ rules = [] }: SuccessPolicy, completions: number, path: FieldPath): FieldError[] {
  const at = path.child("rules");
  if (rules.length === 0) return [required(at, "at least one rules must be specified when the successPolicy is specified")];
  return [
    ...(rules.length > maxRules ? [tooMany(at, rules.length, maxRules)] : []),
    ...rules.flatMap((rule, index) => validateRule(rule, completions, at.index(index))),
  ];
}

function validateRule({ succeededCount, succeededIndexes }: SuccessPolicyRule, completions: number, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (succeededCount === undefined && succeededIndexes === undefined)
    errors.push(required(path, "at least one of succeededCount or succeededIndexes must be specified"));
  let indexes = 0;
  if (succeededIndexes !== undefined) {
    const at = path.child("succeededIndexes");
    if (byteLength(succeededIndexes) > maxIndexesBytes) errors.push(tooLong(at, maxIndexesBytes));
    const parsed = parseIndexes(succeededIndexes, completions);
    if ("fault" in parsed) errors.push(invalid(at, succeededIndexes, `error parsing succeededIndexes: ${parsed.fault}`));
    else indexes = countIndexes(parsed.intervals);
  }
  if (succeededCount === undefined) return errors;
  const at = path.child("succeededCount");
  errors.push(...validateCount(succeededCount, at));
  if (succeededIndexes === undefined && succeededCount > completions)
    errors.push(invalid(at, succeededCount, `must be less than or equal to ${completions} (the number of specified completions)`));
  if (succeededIndexes !== undefined && succeededCount > indexes) {
    errors.push(invalid(at, succeededCount, `must be less than or equal to ${indexes} (the number of indexes in the specified succeededIndexes field)`));
  }
  return errors;
}

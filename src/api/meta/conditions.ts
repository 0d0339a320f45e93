/** Rules of `metav1.Condition` lists (API reference "Condition"). */
import { duplicate, invalid, notSupported, required, tooLong } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, regexText } from "../../apimachinery/names.ts";
import type { Condition } from "../meta-v1/types.ts";
import { validateLabelName } from "./labels.ts";

export function validateConditions(conditions: readonly Condition[] | undefined, path: FieldPath): FieldError[] {
  const types = new Set<string>();
  return (conditions ?? []).flatMap((condition, index) => {
    const errors = types.has(condition.type) ? [duplicate(path.index(index).child("type"), condition.type)] : [];
    types.add(condition.type);
    return [...errors, ...validateCondition(condition, path.index(index))];
  });
}

const maxReasonBytes = 1024;
const maxMessageBytes = 32 * 1024;
const reasonText =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";

function validateCondition(condition: Condition, path: FieldPath): FieldError[] {
  const errors = validateLabelName(condition.type ?? "", path.child("type"));
  if (!["False", "True", "Unknown"].includes(condition.status))
    errors.push(notSupported(path.child("status"), condition.status ?? "", ["False", "True", "Unknown"]));
  if ((condition.observedGeneration ?? 0) < 0)
    errors.push(invalid(path.child("observedGeneration"), condition.observedGeneration, "must be greater than or equal to zero"));
  if (!condition.lastTransitionTime) errors.push(required(path.child("lastTransitionTime")));
  const reason = condition.reason ?? "";
  if (reason === "") {
    errors.push(required(path.child("reason")));
  } else {
    if (!/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason)) {
      errors.push(
        invalid(
          path.child("reason"),
          reason,
          regexText(reasonText, "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?", "my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"),
        ),
      );
    }
    if (byteLength(reason) > maxReasonBytes) errors.push(tooLong(path.child("reason"), maxReasonBytes));
  }
  if (byteLength(condition.message ?? "") > maxMessageBytes) errors.push(tooLong(path.child("message"), maxMessageBytes));
  return errors;
}

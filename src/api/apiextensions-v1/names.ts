/** Rules of the names of a custom resource, wanted or accepted. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1035Label } from "../../apimachinery/names.ts";
import type { CustomResourceDefinitionNames } from "./types.ts";

export function validateNames(names: CustomResourceDefinitionNames, path: FieldPath): FieldError[] {
  const { plural, singular, kind, listKind, shortNames = [], categories = [] } = names;
  return [
    ...(plural ? validateLabel(plural, path.child("plural")) : []),
    ...(singular ? validateLabel(singular, path.child("singular")) : []),
    ...(kind ? validateKind(kind, path.child("kind")) : []),
    ...(listKind ? validateKind(listKind, path.child("listKind")) : []),
    ...shortNames.flatMap((name, index) => validateLabel(name, path.child("shortNames").index(index))),
    ...(kind && kind === listKind ? [invalid(path.child("listKind"), listKind, "kind and listKind may not be the same")] : []),
    ...categories.flatMap((name, index) => validateLabel(name, path.child("categories").index(index))),
  ];
}

/** All faults of a DNS label as one. */
export function validateLabel(value: string, path: FieldPath): FieldError[] {
  const faults = isDns1035Label(value);
  return faults.length === 0 ? [] : [invalid(path, value, faults.join(","))];
}

function validateKind(value: string, path: FieldPath): FieldError[] {
  const faults = isDns1035Label(value.toLowerCase());
  return faults.length === 0 ? [] : [invalid(path, value, `may have mixed case, but should otherwise match: ${faults.join(",")}`)];
}

/** References to objects of any kind in the same place, as ingress backends, ingress classes and addresses hold them. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalidEach } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain } from "../../apimachinery/names.ts";
import { validateSegment } from "../meta/segment.ts";

export function validateTypedReference(
  reference: { readonly apiGroup?: string; readonly kind?: string; readonly name?: string },
  path: FieldPath,
): FieldError[] {
  const { apiGroup } = reference;
  return [
    ...(apiGroup === undefined ? [] : invalidEach(path.child("apiGroup"), apiGroup, isDns1123Subdomain(apiGroup))),
    ...validateSegment(reference.kind, path.child("kind")),
    ...validateSegment(reference.name, path.child("name")),
  ];
}

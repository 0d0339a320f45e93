/** Texts that stand as one segment of a URL path. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalidEach, required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { pathSegmentName } from "../../apimachinery/names.ts";

/** A text that must be there and fit into a URL path. */
export function validateSegment(value: string | undefined, path: FieldPath): FieldError[] {
  return value ? invalidEach(path, value, pathSegmentName(value)) : [required(path)];
}

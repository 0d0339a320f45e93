/** Rules of file paths in volumes and mounts. */
import { invalid } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";

/** No element of the path may be `..`. */
export function validatePathWithoutBacksteps(value: string, path: FieldPath): FieldError[] {
  return value.split("/").includes("..") ? [invalid(path, value, "must not contain '..'")] : [];
}

/** Relative, and without a way up. */
export function validateDescendingPath(value: string, path: FieldPath): FieldError[] {
  return [...(value.startsWith("/") ? [invalid(path, value, "must be a relative path")] : []), ...validatePathWithoutBacksteps(value, path)];
}

/** As `validateDescendingPath`; names that begin with two dots are kept for the kubelet's own use. */
export function validateUnreservedPath(value: string, path: FieldPath): FieldError[] {
  const errors = validateDescendingPath(value, path);
  if (value.startsWith("..") && !value.startsWith("../")) errors.push(invalid(path, value, "must not start with '..'"));
  return errors;
}

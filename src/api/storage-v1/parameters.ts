/** Rules that storage classes and volume attributes classes share: the driver's name and the parameters given to it. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, required, tooLong } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isQualifiedName } from "../../apimachinery/names.ts";

const maxParameters = 512;
const maxParameterBytes = 256 * 1024;

/** A driver's name is a qualified name once in lower case, and errors show it so. */
export function validateDriverName(name: string, path: FieldPath): FieldError[] {
  const lower = name.toLowerCase();
  return invalidEach(path, lower, isQualifiedName(lower));
}

export function validateParameters(parameters: Readonly<Record<string, string>>, path: FieldPath, mayBeEmpty: boolean): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > maxParameters) return [tooLong(path, maxParameters)];
  const errors = entries.some(([name]) => name === "") ? [invalid(path, "", "field can not be empty.")] : [];
  const bytes = entries.reduce((sum, [name, value]) => sum + byteLength(name) + byteLength(value), 0);
  if (bytes > maxParameterBytes) errors.push(tooLong(path, maxParameterBytes));
  if (!mayBeEmpty && entries.length === 0) errors.push(required(path, "must contain at least one key/value pair"));
  return errors;
}

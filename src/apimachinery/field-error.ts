/**
 * One fault of an object, as validation returns it. The text of each kind is Kubernetes' (API type StatusCause); validation returns all
 * faults, in the order in which upstream finds them.
 */
import { goQuote } from "./go/go-quote.ts";
import { isRawNumber } from "./json.ts";
import type { FieldPath } from "./field-path.ts";

/** metav1.CauseType values that validation produces, beside the words that open each text. */
const openings = {
  FieldValueNotFound: "Not found",
  FieldValueRequired: "Required value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueForbidden: "Forbidden",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
  InternalError: "Internal error",
  FieldValueTypeInvalid: "Invalid value",
} as const;

export type FieldErrorReason = keyof typeof openings;

export interface FieldError {
  readonly reason: FieldErrorReason;
  /** Path as text; `<nil>` for the root. */
  readonly field: string;
  /** Text without the field, such as `Invalid value: "x": must be no more than 63 characters`. */
  readonly message: string;
}

export function required(path: FieldPath, detail = ""): FieldError {
  return plain("FieldValueRequired", path, detail);
}
export function forbidden(path: FieldPath, detail: string): FieldError {
  return plain("FieldValueForbidden", path, detail);
}
export function internalError(path: FieldPath, detail: string): FieldError {
  return plain("InternalError", path, detail);
}
export function invalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return withValue("FieldValueInvalid", path, value, detail);
}
/** An `invalid` that does not show the value. */
export function invalidWithoutValue(path: FieldPath, detail: string): FieldError {
  return plain("FieldValueInvalid", path, detail);
}
/** One `invalid` for every text of `details`, as the rules of names.ts return them. */
export function invalidEach(path: FieldPath, value: unknown, details: readonly string[]): FieldError[] {
  return details.map((detail) => invalid(path, value, detail));
}
export function typeInvalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return withValue("FieldValueTypeInvalid", path, value, detail);
}
export function notFound(path: FieldPath, value: unknown): FieldError {
  return withValue("FieldValueNotFound", path, value, "");
}
export function duplicate(path: FieldPath, value: unknown): FieldError {
  return withValue("FieldValueDuplicate", path, value, "");
}
/** `supported` in the order given: upstream sorts where its set is a set. */
export function notSupported(path: FieldPath, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`;
  return withValue("FieldValueNotSupported", path, value, detail);
}
/** A text longer than `maxBytes` bytes; the value itself is not shown. */
export function tooLong(path: FieldPath, maxBytes: number): FieldError {
  return plain("FieldValueTooLong", path, maxBytes >= 0 ? `may not be more than ${maxBytes} ${maxBytes === 1 ? "byte" : "bytes"}` : "value is too long");
}
export function tooMany(path: FieldPath, actual: number, max: number): FieldError {
  return withValue("FieldValueTooMany", path, actual, `must have at most ${max} ${max === 1 ? "item" : "items"}`);
}

function plain(reason: FieldErrorReason, path: FieldPath, detail: string): FieldError {
  return { reason, field: fieldText(path), message: detail === "" ? openings[reason] : `${openings[reason]}: ${detail}` };
}

function withValue(reason: FieldErrorReason, path: FieldPath, value: unknown, detail: string): FieldError {
  const shown = `${openings[reason]}: ${valueText(value)}`;
  return { reason, field: fieldText(path), message: detail === "" ? shown : `${shown}: ${detail}` };
}

function fieldText(path: FieldPath): string {
  const text = path.toString();
  return text === "" ? "<nil>" : text;
}

/** A value as Go's field errors print it: texts quoted, numbers and booleans bare, absent `null`, structures as JSON. */
function valueText(value: unknown): string {
  if (value === undefined || value === null) return "null";
  if (isRawNumber(value)) return value.rawJSON;
  return typeof value === "string" ? goQuote(value) : JSON.stringify(value);
}

/** `field: message`, as it stands in a Status message. */
export function fieldErrorText(error: FieldError): string {
  return `${error.field}: ${error.message}`;
}

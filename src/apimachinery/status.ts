/** metav1.Status and the one failure that crosses HTTP. Reasons, codes and texts are Kubernetes' (API reference "Status"). */
import { fieldErrorText } from "./field-error.ts";
import { goQuote } from "./go/go-quote.ts";
import type { FieldError } from "./field-error.ts";
import { qualifiedResource } from "./object.ts";

/** meta/v1 Status: what the server answers where it has no object to give. `code` is HTTP's. */
export interface Status {
  kind: "Status";
  apiVersion: "v1";
  metadata: { continue?: string; resourceVersion?: string };
  status?: "Success" | "Failure";
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}
/** The resource an error speaks of. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

/** A Kubernetes Status as a failure. `reason` is metav1.StatusReason. */
export class StatusError extends Error {
  override name = "StatusError";
  readonly status: Status;

  constructor(status: Omit<Status, "kind" | "apiVersion" | "metadata" | "status"> & { metadata?: Status["metadata"] }, cause?: unknown) {
    super(status.message, cause === undefined ? undefined : { cause });
    const { metadata = {}, ...rest } = status;
    this.status = { kind: "Status", apiVersion: "v1", metadata, status: "Failure", ...rest };
  }

  get reason(): string {
    return this.status.reason ?? "";
  }
  get code(): number {
    return this.status.code ?? 500;
  }
}

export function isStatusReason(error: unknown, reason: string): error is StatusError {
  return error instanceof StatusError && error.reason === reason;
}
/** The object, or the resource, is not there (404). */
export const isNotFound = (error: unknown): error is StatusError => isStatusReason(error, "NotFound");
/** An object of that name is there (409). */
export const isAlreadyExists = (error: unknown): error is StatusError => isStatusReason(error, "AlreadyExists");
/** The object has changed since the resourceVersion or uid given, or another manager owns a field (409). */
export const isConflict = (error: unknown): error is StatusError => isStatusReason(error, "Conflict");
/** The resourceVersion or continue token is too old (410): list again. */
export const isExpired = (error: unknown): error is StatusError => isStatusReason(error, "Expired") || isStatusReason(error, "Gone");
/** The identity has no right to it, or admission refused it (403). */
export const isForbidden = (error: unknown): error is StatusError => isStatusReason(error, "Forbidden");
/** Validation refused the object (422); the fields are in the status' `details.causes`. */
export const isInvalid = (error: unknown): error is StatusError => isStatusReason(error, "Invalid");

function named(resource: ResourceName, name: string): StatusDetails {
  return {
    ...(name !== "" && { name }),
    ...(resource.group !== "" && { group: resource.group }),
    ...(resource.resource !== "" && { kind: resource.resource }),
  };
}
const label = (resource: ResourceName) => qualifiedResource(resource.resource, resource.group);

export function notFoundError(resource: ResourceName, name: string): StatusError {
  return new StatusError({ message: `${label(resource)} ${goQuote(name)} not found`, reason: "NotFound", details: named(resource, name), code: 404 });
}
export function alreadyExistsError(resource: ResourceName, name: string): StatusError {
  return new StatusError({ message: `${label(resource)} ${goQuote(name)} already exists`, reason: "AlreadyExists", details: named(resource, name), code: 409 });
}
export function conflictError(resource: ResourceName, name: string, detail: string): StatusError {
  return new StatusError({
    message: `Operation cannot be fulfilled on ${label(resource)} ${goQuote(name)}: ${detail}`,
    reason: "Conflict",
    details: named(resource, name),
    code: 409,
  });
}
export function forbiddenError(resource: ResourceName, name: string, detail: string): StatusError {
  const subject = name === "" ? `${label(resource)} is forbidden` : `${label(resource)} ${goQuote(name)} is forbidden`;
  return new StatusError({
    message: resource.resource === "" ? `forbidden: ${detail}` : `${subject}: ${detail}`,
    reason: "Forbidden",
    details: named(resource, name),
    code: 403,
  });
}
export function badRequestError(message: string): StatusError {
  return new StatusError({ message, reason: "BadRequest", code: 400 });
}
export function unauthorizedError(): StatusError {
  return new StatusError({ message: "Unauthorized", reason: "Unauthorized", code: 401 });
}
export function methodNotAllowedError(resource: ResourceName, action: string): StatusError {
  return new StatusError({
    message: `${action} is not supported on resources of kind ${goQuote(label(resource))}`,
    reason: "MethodNotAllowed",
    details: named(resource, ""),
    code: 405,
  });
}
export function tooManyRequestsError(message: string, retryAfterSeconds: number): StatusError {
  return new StatusError({ message, reason: "TooManyRequests", ...(retryAfterSeconds > 0 && { details: { retryAfterSeconds } }), code: 429 });
}
export function internalServerError(message: string, cause?: unknown): StatusError {
  return new StatusError({ message: `Internal error occurred: ${message}`, reason: "InternalError", details: { causes: [{ message }] }, code: 500 }, cause);
}
export function expiredError(message: string): StatusError {
  return new StatusError({ message, reason: "Expired", code: 410 });
}
export function timeoutError(message: string, retryAfterSeconds: number): StatusError {
  return new StatusError({ message: `Timeout: ${message}`, reason: "Timeout", details: retryAfterSeconds > 0 ? { retryAfterSeconds } : {}, code: 504 });
}

/** 422 for a list of faults; `kind` and `group` are the object's. */
export function invalidError(kind: { group: string; kind: string }, name: string, errors: readonly FieldError[]): StatusError {
  const label = qualifiedResource(kind.kind, kind.group);
  const unique = [...new Set(errors.map(fieldErrorText))];
  const detail = unique.length === 1 ? unique[0] : `[${unique.join(", ")}]`;
  return new StatusError({
    message: `${label} ${goQuote(name)} is invalid${errors.length === 0 ? "" : `: ${detail}`}`,
    reason: "Invalid",
    details: {
      ...(name !== "" && { name }),
      ...(kind.group !== "" && { group: kind.group }),
      ...(kind.kind !== "" && { kind: kind.kind }),
      ...(errors.length > 0 && { causes: errors.map((error) => ({ reason: error.reason, message: error.message, field: error.field })) }),
    },
    code: 422,
  });
}

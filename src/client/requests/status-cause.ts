import { StatusError } from "../../apimachinery/status.ts";

/** Whether a refusal names this cause (`details.causes[].reason`). */
export function hasStatusCause(error: unknown, reason: string): error is StatusError {
  return error instanceof StatusError && (error.status.details?.causes ?? []).some((cause) => cause.reason === reason);
}

/** The namespace is being deleted: nothing can be created in it any more. */
export function isNamespaceTerminating(error: unknown): error is StatusError {
  return hasStatusCause(error, "NamespaceTerminating");
}

/** The one place where a storage failure becomes a Status. */
import { StatusError, conflictError } from "../../../apimachinery/status.ts";
import type { ResourceName } from "../../../apimachinery/status.ts";
import { CompactedError, StoreError } from "../../../storage/store.ts";
import { expiredError } from "../../../apimachinery/status.ts";

/** Text of a 410: the version asked for is no longer known. */
export const tooOldMessage =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

export function storageFailure(error: unknown): unknown {
  if (error instanceof CompactedError) return expiredError("The resourceVersion for the provided list is too old.");
  if (!(error instanceof StoreError)) return error;
  switch (error.reason) {
    case "TooLarge":
      return new StatusError({ message: "etcdserver: request is too large", code: 500 }, error);
    case "Full":
      return new StatusError({ message: "etcdserver: mvcc: database space exceeded", code: 500 }, error);
    case "Unavailable":
    case "Closed":
      return new StatusError({ message: "etcdserver: request timed out", reason: "Timeout", code: 504 }, error);
    case "Corrupt":
      return new StatusError({ message: error.message, reason: "InternalError", code: 500 }, error);
  }
}

/** 409 of a lost race. */
export function modifiedError(resource: ResourceName, name: string): StatusError {
  return conflictError(resource, name, "the object has been modified; please apply your changes to the latest version and try again");
}

/** 409 of a precondition (uid, resourceVersion) that does not hold. */
export function preconditionError(resource: ResourceName, name: string, field: "UID" | "ResourceVersion", expected: string, actual: string): StatusError {
  return conflictError(resource, name, `Precondition failed: ${field} in precondition: ${expected}, ${field} in object meta: ${actual}`);
}

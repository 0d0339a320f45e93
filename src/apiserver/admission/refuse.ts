/** How a plugin refuses: the 403 that names the object of the request. */
import { forbiddenError } from "../../apimachinery/status.ts";
import type { StatusError } from "../../apimachinery/status.ts";
import type { AdmissionRequest } from "./chain.ts";

/** `pods "a" is forbidden: DETAIL`; several details stand in brackets. */
export function refuse(request: AdmissionRequest, ...details: readonly string[]): StatusError {
  return forbiddenError(request.definition, nameOf(request), details.length === 1 ? details[0]! : `[${details.join(", ")}]`);
}

/** The name the client gave, or the one it asked to be made up. */
export function nameOf({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.name || object?.metadata.generateName || "Unknown";
}

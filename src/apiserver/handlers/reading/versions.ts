/** Resource versions in requests: parsing and their faults (documentation page "API concepts: Resource versions"). */
import { StatusError, badRequestError } from "../../../apimachinery/status.ts";

/** A version as a number, or undefined when it is none. */
export function parseVersion(text: string): number | undefined {
  return /^\d{1,19}$/.test(text) ? Number(text) : undefined;
}

/** Go's text for a version that is no number. */
export function versionFault(text: string): string {
  const isTooBig = /^\d+$/.test(text);
  return `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${isTooBig ? "value out of range" : "invalid syntax"}`;
}

export function invalidListVersion(text: string): StatusError {
  return badRequestError(`invalid resource version: ${versionFault(text)}`);
}

/** GET and WATCH answer a bad version with a bare 500. */
export function invalidGetVersion(text: string): StatusError {
  return new StatusError({ message: versionFault(text), code: 500 });
}

/** 504: the version lies in the future of this server. */
export function futureVersionError(asked: number, current: number, hasWatchCache = true): StatusError {
  return new StatusError({
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    reason: "Timeout",
    details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }], ...(hasWatchCache && { retryAfterSeconds: 1 }) },
    code: 504,
  });
}

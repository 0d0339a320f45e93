/** ListOptions of lists and watches, with metav1's rules (documentation page "API concepts: Semantics for list"). */
import { forbidden, notSupported } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { badRequestError, invalidError } from "../../../apimachinery/status.ts";
import { decodeContinue } from "./continue-token.ts";
import { invalidListVersion, parseVersion } from "./versions.ts";

export interface ListOptions {
  /** Undefined: the newest. 0: anything. */
  readonly revision: number | undefined;
  /** The list must show exactly `revision`. */
  readonly isExact: boolean;
  /** 0: no limit. */
  readonly limit: number;
  readonly continueToken: string;
}

/** Reads and checks the options of a list. Throws 400, 422. */
export function parseListOptions(query: URLSearchParams): ListOptions {
  const version = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const continueToken = query.get("continue") ?? "";
  const limit = parseInteger(query, "limit") ?? 0;
  parseInteger(query, "timeoutSeconds");
  const errors = matchErrors({ version, match, continueToken, isWatch: false, sendsInitial: query.get("sendInitialEvents") });
  if (errors.length > 0) throw invalidListOptions(errors);
  if (continueToken !== "" && version !== "" && version !== "0") {
    // What is wrong with the token comes first.
    decodeContinue(continueToken);
    throw badRequestError("specifying resource version is not allowed when using continue");
  }
  const revision = version === "" ? undefined : parseVersion(version);
  if (version !== "" && revision === undefined) throw invalidListVersion(version);
  const isExact = match === "Exact" || (match === "" && limit > 0 && revision !== undefined && revision > 0);
  return { revision: revision === 0 ? undefined : revision, isExact, limit: version === "0" && match !== "Exact" ? 0 : Math.max(0, limit), continueToken };
}

export function invalidListOptions(errors: readonly FieldError[]) {
  return invalidError({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors);
}

export interface MatchInput {
  readonly version: string;
  readonly match: string;
  readonly continueToken: string;
  readonly isWatch: boolean;
  readonly sendsInitial: string | null;
}

const matchPath = FieldPath.root("resourceVersionMatch");
const initialPath = FieldPath.root("sendInitialEvents");

/** Rules between resourceVersion, resourceVersionMatch, continue and sendInitialEvents. */
export function matchErrors(input: MatchInput): FieldError[] {
  const errors: FieldError[] = [];
  const { match, version } = input;
  if (input.isWatch) {
    if (input.sendsInitial === null && match !== "")
      errors.push(forbidden(matchPath, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    if (input.sendsInitial !== null && match !== "NotOlderThan")
      errors.push(forbidden(matchPath, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
    if (match !== "" && match !== "NotOlderThan") errors.push(notSupported(matchPath, match, ["NotOlderThan"]));
    if (input.continueToken !== "") errors.push(forbidden(matchPath, "resourceVersionMatch is forbidden when continue is provided"));
    return errors;
  }
  if (input.sendsInitial !== null) errors.push(forbidden(initialPath, "sendInitialEvents is forbidden for list"));
  if (match === "") return errors;
  if (version === "") errors.push(forbidden(matchPath, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  if (input.continueToken !== "") errors.push(forbidden(matchPath, "resourceVersionMatch is forbidden when continue is provided"));
  if (match !== "Exact" && match !== "NotOlderThan") errors.push(notSupported(matchPath, match, ["Exact", "NotOlderThan", ""]));
  if (match === "Exact" && version === "0") errors.push(forbidden(matchPath, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  return errors;
}

/** An integer of the query. Throws 400 as Go's conversion words it. */
export function parseInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw badRequestError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

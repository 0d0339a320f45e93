/** Whom a request wants to act as: the `Impersonate-*` headers (documentation page "User impersonation"). */
import { badRequestError } from "../../apimachinery/status.ts";
import type { UserInfo } from "../../apimachinery/request.ts";

export interface WantedUser {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

const extraPrefix = "impersonate-extra-";
export const serviceAccountUser = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** Undefined when nobody is to be impersonated. Throws 400 for attributes without a user. */
export function wantedUser(headers: Readonly<Record<string, string>>): WantedUser | undefined {
  if (!isImpersonating(headers)) return undefined;
  const username = headers["impersonate-user"] ?? "";
  const extra = new Map<string, string[]>();
  for (const name in headers) if (name.startsWith(extraPrefix)) extra.set(unescapeKey(name.slice(extraPrefix.length)), splitHeader(headers[name]!));
  const groups = headers["impersonate-group"] === undefined ? [] : splitHeader(headers["impersonate-group"]);
  const wanted = { username, groups, uid: headers["impersonate-uid"] ?? "", extra };
  if (username !== "") return wanted;
  if (groups.length === 0 && wanted.uid === "" && extra.size === 0) return undefined;
  throw badRequestError(`requested ${goText(wanted)} without impersonating a user name`);
}

function isImpersonating(headers: Readonly<Record<string, string>>): boolean {
  for (const name in headers) if (name.startsWith("impersonate-")) return true;
  return false;
}

/** The user as the rest of the pipeline sees it: groups that follow from the name are added. `defaultGroups` are those of the way that allowed it. */
export function impersonatedUser(wanted: WantedUser, defaultGroups: readonly string[] = []): UserInfo {
  const { username, uid, extra } = wanted;
  const account = serviceAccountUser.exec(username);
  const groups = wanted.groups.length === 0 ? [...defaultGroups] : [...wanted.groups];
  if (account !== null && groups.length === 0) groups.push("system:serviceaccounts", `system:serviceaccounts:${account[1]}`);
  if (username === "system:anonymous") {
    if (!groups.includes("system:unauthenticated")) groups.push("system:unauthenticated");
  } else if (!groups.includes("system:authenticated") && !groups.includes("system:unauthenticated")) groups.push("system:authenticated");
  return { username, groups, ...(uid !== "" && { uid }), ...(extra.size > 0 && { extra: Object.fromEntries(extra) }) };
}

/** Repeated headers reach us joined with a line feed. */
function splitHeader(value: string): string[] {
  return value.split("\n");
}

/** Keys are percent-encoded; one that is not readable stays as it is. */
function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** The attributes as Go prints its struct. */
function goText({ username, uid, groups, extra }: WantedUser): string {
  const list = (items: readonly string[]) => `[]string{${items.map((item) => JSON.stringify(item)).join(", ")}}`;
  const groupText = groups.length === 0 ? "[]string(nil)" : list(groups);
  const extraText =
    extra.size === 0
      ? "map[string][]string(nil)"
      : `map[string][]string{${[...extra.keys()]
          .sort()
          .map((key) => `${JSON.stringify(key)}:${list(extra.get(key)!)}`)
          .join(", ")}}`;
  return `&user.DefaultInfo{Name:${JSON.stringify(username)}, UID:${JSON.stringify(uid)}, Groups:${groupText}, Extra:${extraText}}`;
}

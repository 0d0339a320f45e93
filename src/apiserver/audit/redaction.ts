/** Tokens are written into no log, whatever the policy says: who could read it could be whoever they are for. */
import { isObject } from "../../apimachinery/json.ts";
import type { JsonValue } from "../../apimachinery/json.ts";

/** Where kinds carry tokens. */
const tokenMembers: Readonly<Record<string, "spec" | "status">> = { TokenRequest: "status", TokenReview: "spec" };

/** The object without its token. */
export function withoutTokens(value: JsonValue): JsonValue {
  if (!isObject(value) || typeof value["kind"] !== "string") return value;
  const member = Object.hasOwn(tokenMembers, value["kind"]) ? tokenMembers[value["kind"]] : undefined;
  const part = member === undefined ? undefined : value[member];
  if (member === undefined || !isObject(part) || part["token"] === undefined) return value;
  const { token: _token, ...rest } = part;
  return { ...value, [member]: rest };
}

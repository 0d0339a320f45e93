/** From the claims of a good token to a user (documentation page "Authenticating: Using Authentication Configuration"). */
import type { UserInfo } from "../../../apimachinery/request.ts";
import type { ClaimMapping, JwtConfiguration } from "./configuration.ts";
import { ExpressionError, compileExpression } from "./expressions.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** Claims that make no user; the text is what the log tells. */
export class ClaimError extends Error {
  override name = "ClaimError";
}

/** Compiles the configuration's expressions; throws ExpressionError. The function returned throws ClaimError. */
export function claimMapper({ claimMappings, claimValidationRules = [], userValidationRules = [] }: JwtConfiguration): (claims: Claims) => UserInfo {
  const username = textMapping(claimMappings.username, "username");
  const groups = claimMappings.groups === undefined ? () => [] : listMapping(claimMappings.groups);
  const uid = claimMappings.uid === undefined ? () => "" : textMapping(claimMappings.uid, "uid");
  const extra = (claimMappings.extra ?? []).map(({ key, valueExpression }) => ({ key, read: extraValue(valueExpression) }));
  const rules = claimValidationRules.map((rule) =>
    rule.expression === undefined
      ? requiredClaim(rule.claim ?? "", rule.requiredValue ?? "")
      : booleanRule("claims", rule.expression, rule.message, "claim validation expression"),
  );
  const userRules = userValidationRules.map(({ expression, message }) => booleanRule("user", expression, message, "user info validation rule"));
  return (claims) => {
    for (const rule of rules) rule(claims);
    const user = {
      username: username(claims),
      uid: uid(claims),
      groups: groups(claims),
      extra: Object.fromEntries([
        ...(typeof claims["jti"] === "string" && claims["jti"] !== ""
          ? [["authentication.kubernetes.io/credential-id", [`JTI=${claims["jti"]}`]] as const]
          : []),
        ...extra.map(({ key, read }) => [key, read(claims)] as const).filter(([, values]) => values.length > 0),
      ]),
    };
    for (const rule of userRules) rule(user);
    return {
      username: user.username,
      groups: user.groups,
      ...(user.uid !== "" && { uid: user.uid }),
      ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
    };
  };
}

/** Nothing may be read into an address that its owner has not confirmed. */
function checkEmail(claims: Claims): void {
  const verified = claims["email_verified"];
  if (verified === undefined) return;
  if (typeof verified !== "boolean") throw new ClaimError("parse 'email_verified' claim: not a boolean");
  if (!verified) throw new ClaimError("email not verified");
}

function textMapping({ claim = "", prefix = "", expression }: ClaimMapping, what: string): (claims: Claims) => string {
  if (expression !== undefined && expression !== "") {
    const run = compileExpression("claims", expression);
    return (claims) => {
      const { value } = evaluated(() => run(claims), `${what} claim expression`);
      if (typeof value !== "string") throw new ClaimError(`error evaluating ${what} claim expression: ${what} claim expression must return a string`);
      return value;
    };
  }
  return (claims) => {
    if (!Object.hasOwn(claims, claim)) throw new ClaimError(`parse ${what} claims ${JSON.stringify(claim)}: claim not present`);
    if (claim === "email" && what === "username") checkEmail(claims);
    return prefix + (claims[claim] === null ? "" : textOf(claims[claim], `parse ${what} claims ${JSON.stringify(claim)}`));
  };
}

function listMapping({ claim = "", prefix = "", expression }: ClaimMapping): (claims: Claims) => string[] {
  if (expression !== undefined && expression !== "") {
    const run = compileExpression("claims", expression);
    return (claims) => {
      const { value } = evaluated(() => run(claims), "group claim expression");
      if (value === "" || value === null) return [];
      const list = typeof value === "string" ? [value] : value;
      if (!Array.isArray(list) || list.some((item) => typeof item !== "string"))
        throw new ClaimError("error evaluating group claim expression: expression must return a string or a list of strings");
      return list as string[];
    };
  }
  return (claims) => {
    const value = claims[claim] ?? [];
    const where = `parse groups claim ${JSON.stringify(claim)}`;
    return (Array.isArray(value) ? value : [value]).map((item) => prefix + textOf(item, where));
  };
}

/** A text or a list of them; empty ones are left out. */
function extraValue(expression: string): (claims: Claims) => string[] {
  const run = compileExpression("claims", expression);
  return (claims) => {
    const { value } = evaluated(() => run(claims), "extra claim expression");
    if (value === null) return [];
    const list = typeof value === "string" ? [value] : value;
    if (!Array.isArray(list) || list.some((item) => typeof item !== "string"))
      throw new ClaimError(`error evaluating extra claim expression: ${expression}: expression must return a string or a list of strings`);
    return (list as string[]).filter((item) => item !== "");
  };
}

function requiredClaim(claim: string, wanted: string): (claims: Claims) => void {
  return (claims) => {
    if (!Object.hasOwn(claims, claim)) throw new ClaimError(`required claim ${claim} not present in ID token`);
    const value = textOf(claims[claim], `parse claim ${claim}`);
    if (value !== wanted) throw new ClaimError(`required claim ${claim} value does not match. Got = ${value}, want = ${wanted}`);
  };
}

function booleanRule(variable: "claims" | "user", expression: string, message: string | undefined, what: string): (values: unknown) => void {
  const run = compileExpression(variable, expression);
  return (values) => {
    const { value } = evaluated(() => run(values), what);
    if (value !== true) throw new ClaimError(`error evaluating ${what}: validation expression '${expression}' failed: ${message ?? ""}`);
  };
}

function evaluated<T>(run: () => T, what: string): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof ExpressionError) throw new ClaimError(`error evaluating ${what}: ${error.message}`, { cause: error });
    throw error;
  }
}

function textOf(value: unknown, where: string): string {
  if (typeof value !== "string") throw new ClaimError(`${where}: not a text`);
  return value;
}

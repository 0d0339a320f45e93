/** Rules of an AuthenticationConfiguration (API type apiserver.config.k8s.io/v1). */
import { X509Certificate } from "node:crypto";
import { duplicate, invalid, required, tooMany } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import type { AuthenticationConfiguration, ClaimMapping, JwtConfiguration } from "./configuration.ts";
import { ExpressionError, checkExpression, readsClaim } from "./expressions.ts";

const maxIssuers = 64;

/** All faults, in the order in which they are told. `ownIssuers` are those of service account tokens. */
export function validateAuthentication({ jwt = [], anonymous }: AuthenticationConfiguration, ownIssuers: readonly string[]): FieldError[] {
  const path = FieldPath.root("jwt");
  if (jwt.length > maxIssuers) return [tooMany(path, jwt.length, maxIssuers)];
  const seen = { url: new Set<string>(), discoveryURL: new Set<string>() };
  const errors = jwt.flatMap((configuration, index) => {
    const at = path.index(index);
    return [
      ...validateIssuer(configuration, ownIssuers, at.child("issuer")),
      ...duplicates(configuration, seen, at.child("issuer")),
      ...validateMappings(configuration, at.child("claimMappings")),
      ...validateEmail(configuration, at),
      ...validateClaimRules(configuration, at.child("claimValidationRules")),
      ...validateUserRules(configuration, at.child("userValidationRules")),
    ];
  });
  const conditions = anonymous?.conditions ?? [];
  if (conditions.length > 0 && anonymous?.enabled !== true) {
    errors.push(
      invalid(
        FieldPath.root("anonymous", "conditions"),
        conditions.map(({ path: Path }) => ({ Path })),
        "enabled should be set to true when conditions are defined",
      ),
    );
  }
  return errors;
}

function duplicates({ issuer }: JwtConfiguration, seen: Readonly<Record<"url" | "discoveryURL", Set<string>>>, path: FieldPath): FieldError[] {
  return (["url", "discoveryURL"] as const).flatMap((field) => {
    const value = issuer?.[field] ?? "";
    if (value === "") return [];
    const isKnown = seen[field].has(value);
    seen[field].add(value);
    return isKnown ? [duplicate(path.child(field), value)] : [];
  });
}

function validateIssuer({ issuer }: JwtConfiguration, ownIssuers: readonly string[], path: FieldPath): FieldError[] {
  const { url = "", discoveryURL = "", certificateAuthority = "", egressSelectorType = "" } = (issuer ?? {}) as Partial<JwtConfiguration["issuer"]>;
  const errors = validateIssuerUrl(url, ownIssuers, path);
  if (discoveryURL !== "") {
    if (discoveryURL.replace(/\/$/, "") === url.replace(/\/$/, ""))
      errors.push(invalid(path.child("discoveryURL"), discoveryURL, "discoveryURL must be different from URL"));
    errors.push(...validateUrl(discoveryURL, path.child("discoveryURL")));
  }
  if (!["", "controlplane", "cluster"].includes(egressSelectorType))
    errors.push(invalid(path.child("egressSelectorType"), egressSelectorType, "egress selector must be either controlplane or cluster"));
  errors.push(...validateAudiences(issuer, path));
  if (certificateAuthority !== "" && !isCertificate(certificateAuthority))
    errors.push(invalid(path.child("certificateAuthority"), "<omitted>", "data does not contain any valid RSA or ECDSA certificates"));
  return errors;
}

export function validateIssuerUrl(url: string, ownIssuers: readonly string[], path: FieldPath): FieldError[] {
  const errors = url === "" ? [required(path.child("url"))] : validateUrl(url, path.child("url"));
  if (ownIssuers.includes(url)) errors.push(invalid(path.child("url"), url, `URL must not overlap with disallowed issuers: [${ownIssuers.join(" ")}]`));
  return errors;
}

function validateUrl(text: string, path: FieldPath): FieldError[] {
  if (!URL.canParse(text)) return [invalid(path, text, "URL cannot be parsed")];
  const url = new URL(text);
  const errors: FieldError[] = [];
  if (url.protocol !== "https:") errors.push(invalid(path, text, "URL scheme must be https"));
  if (url.username !== "" || url.password !== "") errors.push(invalid(path, text, "URL must not contain a username or password"));
  if (url.search !== "") errors.push(invalid(path, text, "URL must not contain a query"));
  if (url.hash !== "") errors.push(invalid(path, text, "URL must not contain a fragment"));
  return errors;
}

function validateAudiences(issuer: JwtConfiguration["issuer"] | undefined, path: FieldPath): FieldError[] {
  const audiences = issuer?.audiences ?? [];
  const at = path.child("audiences");
  if (audiences.length === 0) return [required(at, `at least one ${at.toString()} is required`)];
  const seen = new Set<string>();
  const errors = audiences.flatMap((audience, index) => {
    if (audience === "") return [required(at.index(index))];
    const isKnown = seen.has(audience);
    seen.add(audience);
    return isKnown ? [duplicate(at.index(index), audience)] : [];
  });
  const policy = issuer?.audienceMatchPolicy ?? "";
  if (audiences.length > 1 && policy !== "MatchAny")
    errors.push(invalid(path.child("audienceMatchPolicy"), policy, "audienceMatchPolicy must be MatchAny for multiple audiences"));
  if (audiences.length === 1 && policy !== "" && policy !== "MatchAny")
    errors.push(invalid(path.child("audienceMatchPolicy"), policy, "audienceMatchPolicy must be empty or MatchAny for single audience"));
  return errors;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).publicKey.asymmetricKeyType !== undefined;
  } catch {
    // Whatever it is, it is no certificate.
    return false;
  }
}

function validateMappings({ claimMappings }: JwtConfiguration, path: FieldPath): FieldError[] {
  const { username = {}, groups, uid, extra = [] } = (claimMappings ?? {}) as Partial<JwtConfiguration["claimMappings"]>;
  const seen = new Set<string>();
  return [
    ...validatePrefixed(username, true, path.child("username")),
    ...(groups === undefined ? [] : validatePrefixed(groups, false, path.child("groups"))),
    ...(uid?.claim && uid.expression
      ? [invalid(path.child("uid"), "", "claim and expression can't both be set")]
      : expressionFaults("claims", uid?.expression, path.child("uid", "expression"))),
    ...extra.flatMap(({ key = "", valueExpression = "" }, index) => {
      const at = path.child("extra").index(index);
      const errors = validateExtraKey(key, at.child("key"));
      if (key !== "" && seen.has(key)) errors.push(duplicate(at.child("key"), key));
      seen.add(key);
      return [
        ...errors,
        ...(valueExpression === "" ? [required(at.child("valueExpression"))] : expressionFaults("claims", valueExpression, at.child("valueExpression"))),
      ];
    }),
  ];
}

/** An address that nobody verified may be anyone's. */
function validateEmail({ claimMappings, claimValidationRules = [] }: JwtConfiguration, path: FieldPath): FieldError[] {
  const { username, extra = [] } = (claimMappings ?? {}) as Partial<JwtConfiguration["claimMappings"]>;
  const expression = username?.expression ?? "";
  if (expression === "" || !readsClaim(expression, "email")) return [];
  const readers = [expression, ...extra.map(({ valueExpression }) => valueExpression), ...claimValidationRules.map((rule) => rule.expression ?? "")];
  if (readers.some((reader) => readsClaim(reader, "email_verified"))) return [];
  return [
    invalid(
      path.child("claimMappings", "username", "expression"),
      expression,
      "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression",
    ),
  ];
}

function validatePrefixed({ claim = "", prefix, expression = "" }: ClaimMapping, isRequired: boolean, path: FieldPath): FieldError[] {
  if (claim !== "" && expression !== "") return [invalid(path, "", "claim and expression can't both be set")];
  if (claim === "" && expression === "") return isRequired ? [required(path, "claim or expression is required")] : [];
  if (expression !== "")
    return [
      ...(prefix === undefined ? [] : [invalid(path.child("prefix"), prefix, "may not be specified when expression is set")]),
      ...expressionFaults("claims", expression, path.child("expression")),
    ];
  return prefix === undefined
    ? [required(path.child("prefix"), "prefix is required when claim is set. It can be set to an empty string to disable prefixing")]
    : [];
}

function validateExtraKey(key: string, path: FieldPath): FieldError[] {
  if (key === "") return [required(path)];
  const domain = key.slice(0, Math.max(key.indexOf("/"), 0));
  if (domain === "" || key.endsWith("/")) return [invalid(path, key, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const errors = key === key.toLowerCase() ? [] : [invalid(path, key, "must be lowercase")];
  const isReserved = ["k8s.io", "kubernetes.io"].some((own) => domain === own || domain.endsWith(`.${own}`));
  return isReserved ? [...errors, invalid(path, key, "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use")] : errors;
}

function validateClaimRules({ claimValidationRules = [] }: JwtConfiguration, path: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return claimValidationRules.flatMap((rule, index) => {
    const at = path.index(index);
    const {
      claim = "",
      expression = "",
      message = "",
      requiredValue = "",
    } = rule as unknown as { claim?: string; expression?: string; message?: string; requiredValue?: string };
    if (claim !== "" && expression !== "") return [invalid(at, claim, "claim and expression can't both be set")];
    if (claim === "" && expression === "") return [required(at, "claim or expression is required")];
    const [field, value] = claim === "" ? (["expression", expression] as const) : (["claim", claim] as const);
    const isKnown = seen.has(value);
    seen.add(value);
    if (isKnown) return [duplicate(at.child(field), value)];
    if (field === "claim") return message === "" ? [] : [invalid(at.child("message"), message, "may not be specified when claim is set")];
    return [
      ...(requiredValue === "" ? [] : [invalid(at.child("requiredValue"), requiredValue, "may not be specified when expression is set")]),
      ...expressionFaults("claims", expression, at.child("expression"), true),
    ];
  });
}

function validateUserRules({ userValidationRules = [] }: JwtConfiguration, path: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return userValidationRules.flatMap(({ expression = "" }, index) => {
    const at = path.index(index).child("expression");
    if (expression === "") return [required(at)];
    const isKnown = seen.has(expression);
    seen.add(expression);
    return isKnown ? [duplicate(at, expression)] : expressionFaults("user", expression, at, true);
  });
}

function expressionFaults(variable: "claims" | "user", expression: string | undefined, path: FieldPath, mustBeBoolean = false): FieldError[] {
  if (expression === undefined || expression === "") return [];
  try {
    checkExpression(variable, expression, mustBeBoolean);
    return [];
  } catch (error) {
    if (error instanceof ExpressionError) return [invalid(path, expression, error.message)];
    throw error;
  }
}

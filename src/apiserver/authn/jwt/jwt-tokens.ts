/** Tokens of a foreign issuer (OpenID Connect ID tokens, RFC 7519): signature, issuer, audience, times, then claims to a user. */
import { constants, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { Clock } from "../../../base/clock.ts";
import { forApiAudiences } from "../bearer-tokens.ts";
import type { TokenAuthenticator } from "../bearer-tokens.ts";
import { ClaimError, claimMapper } from "./claim-mapping.ts";
import type { Claims } from "./claim-mapping.ts";
import type { JwtConfiguration } from "./configuration.ts";
import type { KeySet } from "./key-set.ts";

/** Throws ExpressionError when an expression of the configuration does not compile. */
export function jwtTokens(
  configuration: JwtConfiguration,
  parts: { readonly keys: KeySet; readonly clock: Clock; readonly apiAudiences: readonly string[] },
): TokenAuthenticator {
  const { issuer } = configuration;
  const toUser = claimMapper(configuration);
  return forApiAudiences("oidc", parts.apiAudiences, (token) => {
    const read = readToken(token);
    if (read === undefined || read.claims["iss"] !== issuer.url) return undefined;
    try {
      if (configuration.signingAlgorithms?.includes(String(read.header.alg)) === false)
        throw new ClaimError("verify token: oidc: id token signed with unsupported algorithm");
      checkSignature(read, parts.keys);
      checkClaims(read.claims, issuer.audiences, parts.clock.nowMs());
      return { user: toUser(read.claims) };
    } catch (error) {
      if (error instanceof ClaimError) return { rejected: `oidc: ${error.message}` };
      throw error;
    }
  });
}

interface ReadToken {
  readonly header: { readonly alg?: unknown; readonly kid?: unknown };
  readonly claims: Claims;
  /** What is signed: the first two parts. */
  readonly signed: string;
  readonly signature: string;
  /** False when a part holds letters that base64url does not have. */
  readonly isWellFormed: boolean;
}

function readToken(token: string): ReadToken | undefined {
  const [head = "", payload = "", signature, ...rest] = token.split(".");
  const header = readPart(head);
  const claims = readPart(payload);
  if (signature === undefined || rest.length > 0 || header === undefined || claims === undefined) return undefined;
  return { header, claims, signed: `${head}.${payload}`, signature, isWellFormed: [head, payload, signature].every((part) => /^[\w-]*$/.test(part)) };
}

function readPart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Not a JWT, and so not of this issuer.
    return undefined;
  }
}

interface Algorithm {
  readonly hash: string;
  readonly family: "RS" | "PS" | "ES";
  readonly curve?: string;
}

const algorithms: ReadonlyMap<unknown, Algorithm> = new Map(
  (
    [
      ["256", "prime256v1"],
      ["384", "secp384r1"],
      ["512", "secp521r1"],
    ] as const
  ).flatMap(([bits, curve]) => {
    const hash = `sha${bits}`;
    return [
      [`RS${bits}`, { hash, family: "RS" }],
      [`PS${bits}`, { hash, family: "PS" }],
      [`ES${bits}`, { hash, family: "ES", curve }],
    ] as [string, Algorithm][];
  }),
);

function checkSignature({ header, signed, signature, isWellFormed }: ReadToken, keySet: KeySet): void {
  const algorithm = algorithms.get(header.alg);
  if (!isWellFormed) throw new ClaimError("verify token: oidc: malformed jwt");
  if (algorithm === undefined) throw new ClaimError("verify token: oidc: id token signed with unsupported algorithm");
  const { keys } = keySet;
  if (keys === undefined) throw new ClaimError("authenticator not initialized");
  const candidates = header.kid === undefined || header.kid === "" ? keys : keys.filter(({ id }) => id === header.kid);
  if (candidates.length === 0) keySet.refresh();
  const bytes = Buffer.from(signature, "base64url");
  if (!candidates.some(({ key }) => isSignedBy(key, algorithm, Buffer.from(signed), bytes)))
    throw new ClaimError("verify token: failed to verify signature: failed to verify id token signature");
}

function isSignedBy(key: KeyObject, { hash, family, curve }: Algorithm, data: Buffer, signature: Buffer): boolean {
  const isElliptic = key.asymmetricKeyType === "ec";
  if (isElliptic !== (family === "ES") || (!isElliptic && key.asymmetricKeyType !== "rsa")) return false;
  switch (family) {
    case "ES":
      return key.asymmetricKeyDetails?.namedCurve === curve && verify(hash, data, { key, dsaEncoding: "ieee-p1363" }, signature);
    case "PS":
      return verify(hash, data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }, signature);
    case "RS":
      return verify(hash, data, key, signature);
  }
}

/** `nbf` may be this far ahead of our clock. */
const leewaySeconds = 300;

function checkClaims(claims: Claims, audiences: readonly string[], nowMs: number): void {
  const { sub, aud, exp, nbf } = claims;
  const fault = (text: string) => new ClaimError(`verify token: oidc: ${text}`);
  if (sub !== undefined && sub !== null && typeof sub !== "string") throw fault("failed to unmarshal claims: sub is not a text");
  const carried = Array.isArray(aud) ? aud : aud === undefined ? [] : [aud];
  if (!carried.some((audience) => audiences.includes(audience as string)))
    throw fault(`expected audience ${JSON.stringify(audiences.length === 1 ? audiences[0] : audiences)} got ${JSON.stringify(carried)}`);
  const expires = secondsOf(exp);
  if (expires === undefined || expires * 1000 <= nowMs) throw fault("token is expired");
  const notBefore = nbf === undefined ? undefined : secondsOf(nbf);
  if (nbf !== undefined && (notBefore === undefined || (notBefore - leewaySeconds) * 1000 > nowMs))
    throw fault("current time before the nbf (not before) time");
}

/** Numbers and their texts, with a fraction or without. */
function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === "number" || (typeof value === "string" && value !== "") ? Number(value) : Number.NaN;
  return Number.isFinite(seconds) ? seconds : undefined;
}

/**
 * Service account tokens: signed JWTs bound to a service account and perhaps a pod, secret or node (documentation page "Service Accounts";
 * KEP-1205, KEP-4193). The signer makes them, the authenticator checks them against the objects they are bound to.
 */
import { invalidSinceLabel, lastUsedLabel } from "./legacy-token-use.ts";
import type { NoteTokenUse } from "./legacy-token-use.ts";
import { createHash, timingSafeEqual } from "node:crypto";
import { newUid } from "../../base/ids.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { TokenAuthenticator, TokenResult } from "./bearer-tokens.ts";
import { signingKey, verificationKey } from "./token-keys.ts";
import type { SigningKey, VerificationKey } from "./token-keys.ts";

export interface BoundReference {
  readonly name: string;
  readonly uid?: string;
}

export interface TokenClaims {
  readonly audiences: readonly string[];
  readonly namespace: string;
  readonly serviceAccount: { readonly name: string; readonly uid: string };
  readonly pod?: BoundReference;
  readonly secret?: BoundReference;
  readonly node?: BoundReference;
  readonly expiresInSeconds: number;
  /** Seconds after which the holder should have fetched a new one. */
  readonly warnAfterSeconds?: number;
}

/** Issuer of the tokens that once stood in Secrets. */
export const legacyIssuer = "kubernetes/serviceaccount";
const openedLimit = 4096;

type Opened = { readonly payload: JwtPayload } | { readonly fault: string } | undefined;

export interface TokenKeys {
  /** PEM of the private key that signs. */
  readonly signingKey: string;
  /** PEM of further keys or certificates that tokens are checked with. */
  readonly verificationKeys?: readonly string[];
  readonly issuer: string;
  readonly audiences: readonly string[];
}

export class TokenSigner {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly #signingKey: SigningKey;
  readonly #keys: readonly VerificationKey[];
  readonly #clock: Clock;
  readonly #random: Random;
  /** Tokens whose signature was found good: checking it costs more than all the rest of a request. */
  readonly #opened = new Map<string, { readonly payload: JwtPayload }>();

  constructor(keys: TokenKeys, clock: Clock, random: Random) {
    this.issuer = keys.issuer;
    this.audiences = keys.audiences;
    this.#signingKey = signingKey(keys.signingKey);
    const all = [keys.signingKey, ...(keys.verificationKeys ?? [])].map(verificationKey);
    this.#keys = all.filter(({ id }, index) => all.findIndex((other) => other.id === id) === index);
    this.#clock = clock;
    this.#random = random;
  }

  /** A signed token and when it expires (ms). */
  sign(claims: TokenClaims): { readonly token: string; readonly expiresMs: number; readonly id: string } {
    const nowSeconds = Math.floor(this.#clock.nowMs() / 1000);
    const id = newUid(this.#random);
    const bound = (reference: BoundReference | undefined) => reference && { name: reference.name, ...(reference.uid !== undefined && { uid: reference.uid }) };
    const payload = {
      aud: claims.audiences,
      exp: nowSeconds + claims.expiresInSeconds,
      iat: nowSeconds,
      iss: this.issuer,
      jti: id,
      "kubernetes.io": {
        namespace: claims.namespace,
        ...(claims.node !== undefined && { node: bound(claims.node) }),
        ...(claims.pod !== undefined && { pod: bound(claims.pod) }),
        ...(claims.secret !== undefined && { secret: bound(claims.secret) }),
        serviceaccount: claims.serviceAccount,
        ...(claims.warnAfterSeconds !== undefined && { warnafter: nowSeconds + claims.warnAfterSeconds }),
      },
      nbf: nowSeconds,
      sub: `system:serviceaccount:${claims.namespace}:${claims.serviceAccount.name}`,
    };
    const head = `${base64(JSON.stringify({ alg: this.#signingKey.algorithm, kid: this.#signingKey.id }))}.${base64(JSON.stringify(payload))}`;
    return { token: `${head}.${this.#signingKey.sign(head).toString("base64url")}`, expiresMs: payload.exp * 1000, id };
  }

  /** The payload of a token that one of our keys signed, or why not; undefined when it is none of ours. Times and bindings are not checked here. */
  open(token: string): Opened {
    const key = createHash("sha256").update(token).digest("base64");
    const known = this.#opened.get(key);
    if (known !== undefined) return known;
    const opened = this.#verify(token);
    if (opened === undefined || !("payload" in opened)) return opened;
    if (this.#opened.size >= openedLimit) this.#opened.delete(this.#opened.keys().next().value!);
    this.#opened.set(key, opened);
    return opened;
  }

  #verify(token: string): Opened {
    const parts = token.split(".");
    // (decoding passes over letters that base64url does not have, so that a token would have many forms)
    if (parts.length !== 3 || !parts.every((part) => /^[\w-]+$/.test(part))) return undefined;
    const header = parseJson(parts[0]!) as { alg?: string; kid?: string } | undefined;
    const payload = parseJson(parts[1]!) as JwtPayload | undefined;
    if (header === undefined || payload === undefined || (payload.iss !== this.issuer && payload.iss !== legacyIssuer)) return undefined;
    const { alg, kid } = header;
    if (!this.#keys.some(({ algorithm }) => algorithm === alg)) return { fault: "unexpected signature algorithm" };
    const candidates = this.#keys.filter(({ id, algorithm }) => algorithm === alg && (kid === undefined || kid === id));
    const isSigned = candidates.some((key) => key.verify(`${parts[0]}.${parts[1]}`, Buffer.from(parts[2]!, "base64url")));
    return isSigned ? { payload } : { fault: "invalid signature" };
  }

  /** The algorithms of the keys that tokens are checked with. */
  algorithms(): string[] {
    return [...new Set(this.#keys.map(({ algorithm }) => algorithm))].sort();
  }

  /** JSON Web Key Set of the keys that tokens are checked with. */
  jwks(): { keys: object[] } {
    return { keys: this.#keys.map(({ jwk }) => jwk) };
  }
}

export interface JwtPayload {
  readonly iss?: string;
  readonly sub?: string;
  readonly aud?: readonly string[] | string;
  readonly exp?: number;
  readonly nbf?: number;
  readonly jti?: string;
  readonly "kubernetes.io"?: {
    readonly namespace?: string;
    readonly serviceaccount?: { readonly name?: string; readonly uid?: string };
    readonly pod?: BoundReference;
    readonly secret?: BoundReference;
    readonly node?: BoundReference;
  };
}

/** Reads an object from the server's cache: `find("/pods", namespace, name)`. */
export type ObjectFinder = (resource: string, namespace: string, name: string) => KubeObject | undefined;

/** Seconds for which a token outlives the object that it is bound to. */
const deletionGraceSeconds = 60;

/** Checks tokens against signature, times, audiences and bound objects. */
export function serviceAccountTokens(signer: TokenSigner, { clock, find, noteUse }: ServiceAccountTokenParts): TokenAuthenticator {
  return {
    name: "service-account",
    authenticateToken(token, audiences) {
      const opened = signer.open(token);
      if (opened === undefined) return undefined;
      if ("fault" in opened) return { rejected: opened.fault };
      const { payload } = opened;
      const nowMs = clock.nowMs();
      if (payload.iss === legacyIssuer)
        return checkLegacy(token, payload, { nowMs, find, noteUse, audiences: audiences.filter((audience) => signer.audiences.includes(audience)) });
      if (payload.exp !== undefined && payload.exp <= nowMs / 1000) return { rejected: "service account token has expired" };
      if (payload.nbf !== undefined && payload.nbf > nowMs / 1000 + leewaySeconds) return { rejected: "service account token is not valid yet" };
      const carried = typeof payload.aud === "string" ? [payload.aud] : (payload.aud ?? []);
      const common = audiences.filter((audience) => carried.includes(audience));
      if (common.length === 0) return { rejected: `token audiences ${listText(carried)} is invalid for the target audiences ${listText(audiences)}` };
      return checkBindings(payload, { nowMs, find, audiences: common });
    },
  };
}

/** Clocks may differ by this much. */
const leewaySeconds = 10;

export interface ServiceAccountTokenParts {
  readonly clock: Clock;
  readonly find: ObjectFinder;
  /** Hears of the uses of tokens that stand in Secrets, once a day each. */
  readonly noteUse: NoteTokenUse;
}

interface BindingOptions {
  readonly nowMs: number;
  readonly audiences: readonly string[];
  readonly find: ObjectFinder;
}

/** A token that stands in a Secret is good as long as it stands there. */
function checkLegacy(
  token: string,
  payload: JwtPayload,
  { audiences, find, nowMs, noteUse }: BindingOptions & Pick<ServiceAccountTokenParts, "noteUse">,
): TokenResult {
  const claim = (name: string) => String((payload as Readonly<Record<string, unknown>>)[`kubernetes.io/serviceaccount/${name}`] ?? "");
  const [namespace, secretName, accountName, uid] = [claim("namespace"), claim("secret.name"), claim("service-account.name"), claim("service-account.uid")];
  if (audiences.length === 0) return undefined;
  const secret = find("/secrets", namespace, secretName);
  const account = find("/serviceaccounts", namespace, accountName);
  const stored = Buffer.from((secret?.["data"] as Record<string, string> | undefined)?.["token"] ?? "", "base64");
  const given = Buffer.from(token);
  if (secret === undefined || stored.length !== given.length || !timingSafeEqual(stored, given))
    return { rejected: "service account token has been invalidated" };
  if (account === undefined || hasLeft(account, nowMs)) return { rejected: "service account has been deleted" };
  if (account.metadata.uid !== uid) return { rejected: `service account UID (${account.metadata.uid}) does not match claim (${uid})` };
  const { labels = {} } = secret.metadata;
  if ((labels[invalidSinceLabel] ?? "") !== "")
    return { rejected: `the token in secret ${namespace}/${secretName} for service account ${namespace}/${accountName} has been marked invalid. ${howToGoOn}` };
  const day = new Date(nowMs).toISOString().slice(0, 10);
  if (labels[lastUsedLabel] !== day) noteUse(namespace, secretName, day);
  return {
    user: { username: `system:serviceaccount:${namespace}:${accountName}`, uid, groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`] },
    audiences,
  };
}

const howToGoOn = `Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSinceLabel}' label from the secret to temporarily allow use of this token`;

function checkBindings(payload: JwtPayload, options: BindingOptions): TokenResult {
  const claims = payload["kubernetes.io"] ?? {};
  const { namespace = "", serviceaccount = {} } = claims;
  const account = options.find("/serviceaccounts", namespace, serviceaccount.name ?? "");
  if (account === undefined || hasLeft(account, options.nowMs)) return { rejected: "service account has been deleted" };
  if (account.metadata.uid !== serviceaccount.uid)
    return { rejected: `service account UID (${account.metadata.uid}) does not match claim (${serviceaccount.uid})` };
  const extra: Record<string, string[]> = { "authentication.kubernetes.io/credential-id": [`JTI=${payload.jti ?? ""}`] };
  for (const [kind, resource] of [
    ["secret", "/secrets"],
    ["pod", "/pods"],
    ["node", "/nodes"],
  ] as const) {
    const bound = claims[kind];
    if (bound === undefined) continue;
    if (kind !== "node" || claims.pod === undefined) {
      const object = options.find(resource, kind === "node" ? "" : namespace, bound.name);
      if (object === undefined || hasLeft(object, options.nowMs) || object.metadata.uid !== bound.uid)
        return { rejected: "service account token has been invalidated" };
    }
    if (kind === "secret") continue;
    extra[`authentication.kubernetes.io/${kind}-name`] = [bound.name];
    if (bound.uid !== undefined) extra[`authentication.kubernetes.io/${kind}-uid`] = [bound.uid];
  }
  const username = `system:serviceaccount:${namespace}:${serviceaccount.name}`;
  return {
    user: { username, uid: serviceaccount.uid!, groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`], extra },
    audiences: options.audiences,
  };
}

function hasLeft(object: KubeObject, nowMs: number): boolean {
  const deleted = object.metadata.deletionTimestamp;
  return deleted !== undefined && Date.parse(deleted) + deletionGraceSeconds * 1000 < nowMs;
}

/** As Go prints a list of texts. */
const listText = (items: readonly string[]) => `[${items.map((item) => JSON.stringify(item)).join(" ")}]`;

const base64 = (text: string) => Buffer.from(text).toString("base64url");

function parseJson(part: string): object | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // Not JSON: the token is not one of ours.
    return undefined;
  }
}

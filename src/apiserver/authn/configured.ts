/** The kinds of bearer tokens and the anonymous access that a server's options ask for. */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { TaskGroup } from "../../base/task-group.ts";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import type { AnonymousChoice } from "./anonymous.ts";
import { BearerTokens } from "./bearer-tokens.ts";
import type { TokenAuthenticator } from "./bearer-tokens.ts";
import { bootstrapTokens } from "./bootstrap-tokens.ts";
import type { AuthenticationConfiguration, JwtConfiguration } from "./jwt/configuration.ts";
import { jwtTokens } from "./jwt/jwt-tokens.ts";
import { KeySet } from "./jwt/key-set.ts";
import type { DocumentReader } from "./jwt/key-set.ts";
import { validateAuthentication, validateIssuerUrl } from "./jwt/validate.ts";
import { serviceAccountTokens } from "./service-account-tokens.ts";
import type { NoteTokenUse } from "./legacy-token-use.ts";
import type { ObjectFinder, TokenSigner } from "./service-account-tokens.ts";
import { staticTokens } from "./static-tokens.ts";
import { webhookTokens } from "./webhook-tokens.ts";
import type { WebhookTokenOptions } from "./webhook-tokens.ts";

export interface AuthenticationOptions {
  /** Token issuers, and who may come without credentials. */
  readonly authentication?: AuthenticationConfiguration;
  /** Reads the documents of token issuers; without it there are none. */
  readonly readDocument?: DocumentReader;
  /** Content of the static token file. */
  readonly staticTokens?: string;
  /** Asked about tokens that nobody else knows. */
  readonly tokenWebhook?: WebhookTokenOptions;
  /** Whether Secrets of type `bootstrap.kubernetes.io/token` authenticate. */
  readonly allowsBootstrapTokens?: boolean;
}

export interface TokenParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly tasks: TaskGroup;
  readonly apiAudiences: readonly string[];
  readonly signer: TokenSigner;
  readonly find: ObjectFinder;
  readonly noteUse: NoteTokenUse;
}

/** The kinds of tokens, whose issuers may be replaced while the server runs. */
export class ConfiguredTokens {
  readonly bearerTokens: BearerTokens;
  readonly #options: AuthenticationOptions;
  readonly #parts: TokenParts;
  /** Ends the following of issuers that count no more. */
  #following = new AbortController();

  /** Throws an Error for a configuration that cannot be used. */
  constructor(options: AuthenticationOptions, parts: TokenParts) {
    this.#options = options;
    this.#parts = parts;
    const { jwt = [] } = options.authentication ?? {};
    const faults = validateAuthentication(options.authentication ?? {}, []).map(fieldErrorText);
    if (faults.length > 0) throw new Error(`invalid authentication configuration: ${faults.length > 1 ? `[${faults.join(", ")}]` : faults[0]!}`);
    for (const { issuer } of jwt) {
      const [overlap] = validateIssuerUrl(issuer.url, [parts.signer.issuer], FieldPath.root("issuer"));
      if (overlap !== undefined) throw new Error(fieldErrorText(overlap));
    }
    this.bearerTokens = new BearerTokens(this.#kinds(options.authentication ?? {}), parts.apiAudiences);
  }

  /** Takes another configuration. Throws an Error when it cannot be used; then nothing changes. */
  replace(configuration: AuthenticationConfiguration): void {
    const fault = this.#faultOf(configuration);
    if (fault !== undefined) throw new Error(fault);
    // Who may come without credentials is decided once.
    if (!isDeepStrictEqual(configuration.anonymous, this.#options.authentication?.anonymous))
      throw new Error("anonymous: Forbidden: changed from initial configuration file");
    this.#following.abort();
    this.#following = new AbortController();
    this.bearerTokens.replace(this.#kinds(configuration));
  }

  #faultOf(configuration: AuthenticationConfiguration): string | undefined {
    const faults = validateAuthentication(configuration, [this.#parts.signer.issuer]).map(fieldErrorText);
    return faults.length > 1 ? `[${faults.join(", ")}]` : faults[0];
  }

  #kinds(configuration: AuthenticationConfiguration): TokenAuthenticator[] {
    const { readDocument, staticTokens: tokens, allowsBootstrapTokens, tokenWebhook } = this.#options;
    const { apiAudiences, clock, find, signer, noteUse } = this.#parts;
    const issuers = readDocument === undefined ? [] : (configuration.jwt ?? []);
    return [
      ...(tokens === undefined ? [] : [staticTokens(tokens, apiAudiences)]),
      serviceAccountTokens(signer, { clock, find, noteUse }),
      ...issuers.map((issuer) => followIssuer(issuer, readDocument!, { ...this.#parts, until: this.#following.signal })),
      ...(allowsBootstrapTokens === true ? [bootstrapTokens(apiAudiences, clock, (name) => find("/secrets", "kube-system", name))] : []),
      ...(tokenWebhook === undefined ? [] : [webhookTokens(tokenWebhook, clock, apiAudiences)]),
    ];
  }
}

/** The flag counts where the configuration says nothing. */
export function anonymousChoice({ authentication }: AuthenticationOptions, isAllowedByFlag: boolean): AnonymousChoice {
  const { enabled = isAllowedByFlag, conditions = [] } = authentication?.anonymous ?? {};
  return { isEnabled: enabled, ...(conditions.length > 0 && { paths: conditions.map(({ path }) => path) }) };
}

/** Its keys are read in the background. */
function followIssuer(
  configuration: JwtConfiguration,
  read: DocumentReader,
  { clock, log, tasks, apiAudiences, until }: TokenParts & { readonly until: AbortSignal },
): TokenAuthenticator {
  const { url, discoveryURL, certificateAuthority } = configuration.issuer;
  const discoveryUrl = discoveryURL ?? `${url.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const keys = new KeySet({ issuer: url, discoveryUrl, certificateAuthority, read, clock, log });
  tasks.start(`follow the keys of ${url}`, (signal) => keys.run(AbortSignal.any([signal, until])));
  return jwtTokens(configuration, { keys, clock, apiAudiences });
}

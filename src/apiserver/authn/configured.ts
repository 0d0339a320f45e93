/** The kinds of bearer tokens and the anonymous access that a server's options ask for. */
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { TaskGroup } from "../../base/task-group.ts";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { AnonymousChoice } from "./anonymous.ts";
import { BearerTokens } from "./bearer-tokens.ts";
import type { TokenAuthenticator } from "./bearer-tokens.ts";
import { bootstrapTokens } from "./bootstrap-tokens.ts";
import type { AuthenticationConfiguration, JwtConfiguration } from "./jwt/configuration.ts";
import { jwtTokens } from "./jwt/jwt-tokens.ts";
import { KeySet } from "./jwt/key-set.ts";
import type { DocumentReader } from "./jwt/key-set.ts";
import { validateAuthentication } from "./jwt/validate.ts";
import { serviceAccountTokens } from "./service-account-tokens.ts";
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
}

/** Throws an Error for a configuration that cannot be used. */
export function configuredTokens(options: AuthenticationOptions, parts: TokenParts): BearerTokens {
  const { apiAudiences, clock, find, signer } = parts;
  const faults = validateAuthentication(options.authentication ?? {}, [signer.issuer]).map(fieldErrorText);
  if (faults.length > 0) throw new Error(`invalid authentication configuration: ${faults.length === 1 ? faults[0]! : `[${faults.join(", ")}]`}`);
  const issuers = options.readDocument === undefined ? [] : (options.authentication?.jwt ?? []);
  return new BearerTokens(
    [
      ...(options.staticTokens === undefined ? [] : [staticTokens(options.staticTokens, apiAudiences)]),
      serviceAccountTokens(signer, clock, find),
      ...issuers.map((issuer) => followIssuer(issuer, options.readDocument!, parts)),
      ...(options.allowsBootstrapTokens === true ? [bootstrapTokens(apiAudiences, clock, (name) => find("/secrets", "kube-system", name))] : []),
      ...(options.tokenWebhook === undefined ? [] : [webhookTokens(options.tokenWebhook, clock, apiAudiences)]),
    ],
    apiAudiences,
  );
}

/** The flag counts where the configuration says nothing. */
export function anonymousChoice({ authentication }: AuthenticationOptions, isAllowedByFlag: boolean): AnonymousChoice {
  const { enabled = isAllowedByFlag, conditions = [] } = authentication?.anonymous ?? {};
  return { isEnabled: enabled, ...(conditions.length > 0 && { paths: conditions.map(({ path }) => path) }) };
}

/** Its keys are read in the background. */
function followIssuer(configuration: JwtConfiguration, read: DocumentReader, { clock, log, tasks, apiAudiences }: TokenParts): TokenAuthenticator {
  const { url, discoveryURL, certificateAuthority } = configuration.issuer;
  const discoveryUrl = discoveryURL ?? `${url.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const keys = new KeySet({ issuer: url, discoveryUrl, certificateAuthority, read, clock, log });
  tasks.start(`follow the keys of ${url}`, (signal) => keys.run(signal));
  return jwtTokens(configuration, { keys, clock, apiAudiences });
}

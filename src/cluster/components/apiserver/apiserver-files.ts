/** What flags of kube-apiserver name files for: admission configuration, static tokens. */
import { accessSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fieldErrorText } from "../../../apimachinery/field-error.ts";
import { parseDurationMs } from "../../../apimachinery/go/go-duration.ts";
import { authenticationType, authorizationType, decodeConfiguration } from "../../../apiserver/configuration-document.ts";
import { validateAuthorization } from "../../../apiserver/authz/validate-configuration.ts";
import type { AuthorizationConfiguration, ConfiguredWebhook } from "../../../apiserver/authz/validate-configuration.ts";
import { yamlToJson } from "../../../apimachinery/yaml/yaml.ts";
import type { AuthenticationConfiguration } from "../../../apiserver/authn/jwt/configuration.ts";
import type { AuthorizationChoice } from "../../../apiserver/authz/modes.ts";
import type { WebhookTokenOptions } from "../../../apiserver/authn/webhook-tokens.ts";
import type { WebhookAuthorizerOptions } from "../../../apiserver/authz/webhook-authorizer.ts";
import type { ReviewSender } from "../../../apiserver/webhooks/review-webhook.ts";
import { readText } from "../../files/read-text.ts";
import { webhookSender } from "../../connections/webhook-sender.ts";
import { UsageError } from "../../commands/arguments.ts";

export interface ApiServerFiles {
  /** Configuration of admission plugins by name. */
  readonly admissionConfigurations: Readonly<Record<string, unknown>>;
  readonly staticTokens?: string;
  readonly authorization?: AuthorizationChoice;
  readonly authentication?: AuthenticationConfiguration;
  readonly tokenWebhook?: WebhookTokenOptions;
}

type Flags = ReadonlyMap<string, readonly string[]>;

/** Reads the files that `flags` name. Throws UsageError when one cannot be read. */
export async function readApiServerFiles(flags: Flags): Promise<ApiServerFiles> {
  const admission = flags.get("admission-control-config-file")?.at(-1);
  const tokens = flags.get("token-auth-file")?.at(-1);
  const authentication = flags.get("authentication-config")?.at(-1);
  return {
    admissionConfigurations: admission === undefined ? {} : await admissionConfigurations(admission),
    ...(tokens !== undefined && { staticTokens: await text(tokens) }),
    ...(authentication === undefined
      ? await issuerByFlags(flags)
      : { authentication: authenticationFrom(await text(authentication), authentication, flags.has("anonymous-auth")) }),
    ...(await tokenWebhook(flags)),
    ...(await authorization(flags)),
  };
}

/** What an AuthenticationConfiguration says. Throws UsageError. */
export function authenticationFrom(configuration: string, file: string, hasAnonymousFlag = false): AuthenticationConfiguration {
  const failed = (fault: string) => new UsageError(`failed to load authentication configuration from file ${JSON.stringify(file)}: ${fault}`);
  if (configuration === "") throw failed("empty config data");
  const decoded = decodeConfiguration(Buffer.from(configuration), authenticationType);
  if ("fault" in decoded) throw failed(decoded.fault);
  const authentication = decoded.object as AuthenticationConfiguration;
  if (hasAnonymousFlag && authentication.anonymous !== undefined)
    throw new UsageError("anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file");
  return authentication;
}

/** The one issuer of the flags `--oidc-…` (documentation page "Authenticating: OpenID Connect Tokens"). */
async function issuerByFlags(flags: Flags): Promise<Pick<ApiServerFiles, "authentication">> {
  const last = (name: string) => flags.get(`oidc-${name}`)?.at(-1) ?? "";
  const [url, claim, groups, authorityFile] = [last("issuer-url"), last("username-claim") || "sub", last("groups-claim"), last("ca-file")];
  if (url === "") return {};
  // Names of e-mail addresses are their own; others are told apart by their issuer, unless the flag says `-`.
  const given = last("username-prefix");
  const prefix = given === "-" ? "" : given === "" && claim !== "email" ? `${url}#` : given;
  const required = (flags.get("oidc-required-claim") ?? []).flatMap((list) => list.split(",")).map((pair) => pair.split("="));
  return {
    authentication: {
      jwt: [
        {
          issuer: { url, audiences: [last("client-id")], ...(authorityFile !== "" && { certificateAuthority: await text(authorityFile) }) },
          claimMappings: { username: { claim, prefix }, ...(groups !== "" && { groups: { claim: groups, prefix: last("groups-prefix") } }) },
          claimValidationRules: required.map(([name = "", ...value]) => ({ claim: name, requiredValue: value.join("=") })),
          signingAlgorithms: (flags.get("oidc-signing-algs") ?? ["RS256"]).flatMap((list) => list.split(",")),
        },
      ],
    },
  };
}

/** Modes by flag, or the API type apiserver.config.k8s.io/v1 AuthorizationConfiguration. */
async function authorization(flags: Flags): Promise<Pick<ApiServerFiles, "authorization">> {
  const file = flags.get("authorization-config")?.at(-1);
  const modes = flags
    .get("authorization-mode")
    ?.flatMap((list) => list.split(","))
    .filter((mode) => mode !== "");
  if (file !== undefined && modes !== undefined)
    throw new UsageError("--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined");
  const policies = flags.get("authorization-policy-file")?.at(-1);
  const abac = policies === undefined ? {} : { abacPolicies: await policyText(policies), abacFile: policies };
  if (file !== undefined) return { authorization: { ...(await authorizationFrom(await text(file))), ...abac } };
  if (modes === undefined || modes.length === 0) return {};
  const webhook = modes.includes("Webhook") ? await webhookByFlags(flags) : undefined;
  return {
    authorization: {
      authorizers: modes.map((type) => ({ type, name: type.toLowerCase(), ...(type === "Webhook" && webhook !== undefined && { webhook }) })),
      ...abac,
    },
  };
}

async function policyText(path: string): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    throw new UsageError(`invalid authorization config: ${(error as Error).message}`);
  }
}

/** The choice that an AuthorizationConfiguration makes. Throws UsageError. */
export async function authorizationFrom(configuration: string): Promise<AuthorizationChoice> {
  const { authorizers = [] } = readAuthorization(configuration);
  const errors = validateAuthorization({ authorizers }, fileFault).map(fieldErrorText);
  if (errors.length > 0) throw new UsageError(errors.length === 1 ? errors[0]! : `[${errors.join(", ")}]`);
  if (authorizers.some(({ type }) => type === "ABAC")) throw new UsageError("invalid authorization config: open : no such file or directory");
  const made = authorizers.map(async ({ type, name, webhook }) => ({
    type: type!,
    name: name!,
    ...(webhook !== undefined && { webhook: await configuredWebhook(webhook) }),
  }));
  return { authorizers: await Promise.all(made) };
}

function readAuthorization(configuration: string): AuthorizationConfiguration {
  if (configuration === "") return {};
  const decoded = decodeConfiguration(Buffer.from(configuration), authorizationType);
  if ("fault" in decoded) throw new UsageError(`failed to load AuthorizationConfiguration from file: ${decoded.fault}`);
  return decoded.object as AuthorizationConfiguration;
}

function fileFault(path: string): string | undefined {
  try {
    accessSync(path);
    return undefined;
  } catch (error) {
    return `stat ${path}: ${(error as NodeJS.ErrnoException).code === "ENOENT" ? "no such file or directory" : String(error)}`;
  }
}

const flagTimeoutMs = 30_000;
const reviewVersions: readonly string[] = ["v1", "v1beta1"];

/** Of a configuration that was checked. */
async function configuredWebhook(webhook: ConfiguredWebhook): Promise<WebhookAuthorizerOptions> {
  const { connectionInfo, authorizedTTL, unauthorizedTTL, cacheAuthorizedRequests = true, cacheUnauthorizedRequests = true } = webhook;
  if (connectionInfo!.type === "InClusterConfig")
    throw new UsageError("unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined");
  const ttlMs = (text: string | undefined, fallback: string) => durationMs(text === undefined || durationMs(text) === 0 ? fallback : text);
  return {
    send: await sender(connectionInfo!.kubeConfigFile!),
    version: webhook.subjectAccessReviewVersion!,
    timeoutMs: durationMs(webhook.timeout!),
    authorizedTtlMs: cacheAuthorizedRequests ? ttlMs(authorizedTTL, "5m") : 0,
    unauthorizedTtlMs: cacheUnauthorizedRequests ? ttlMs(unauthorizedTTL, "30s") : 0,
    failurePolicy: webhook.failurePolicy as WebhookAuthorizerOptions["failurePolicy"],
    matchConditions: (webhook.matchConditions ?? []).map(({ expression }) => expression!),
  };
}

async function webhookByFlags(flags: Flags): Promise<WebhookAuthorizerOptions> {
  const last = (name: string, fallback: string) => flags.get(`authorization-webhook-${name}`)?.at(-1) ?? fallback;
  const version = last("version", "v1beta1");
  if (!reviewVersions.includes(version))
    throw new UsageError(`invalid authorization config: unsupported webhook authorizer version "${version}", supported versions are "v1", "v1beta1"`);
  return {
    send: await sender(last("config-file", "")),
    version,
    timeoutMs: flagTimeoutMs,
    authorizedTtlMs: durationMs(last("cache-authorized-ttl", "5m")),
    unauthorizedTtlMs: durationMs(last("cache-unauthorized-ttl", "30s")),
    failurePolicy: "NoOpinion",
    matchConditions: [],
  };
}

async function tokenWebhook(flags: Flags): Promise<Pick<ApiServerFiles, "tokenWebhook">> {
  const last = (name: string) => flags.get(`authentication-token-webhook-${name}`)?.at(-1);
  const path = last("config-file");
  if (path === undefined) return {};
  const version = last("version") ?? "v1beta1";
  if (!reviewVersions.includes(version))
    throw new UsageError(`unsupported authentication webhook version "${version}", supported versions are "v1", "v1beta1"`);
  return { tokenWebhook: { send: await sender(path), version, cacheTtlMs: durationMs(last("cache-ttl") ?? "2m") } };
}

async function sender(path: string): Promise<ReviewSender> {
  const missing = fileFault(path);
  if (missing !== undefined) throw new UsageError(missing);
  try {
    return await webhookSender(path);
  } catch (error) {
    throw new UsageError(`cannot use the webhook of ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A Go duration such as `1m30s`. Throws UsageError. */
function durationMs(written: string): number {
  try {
    return parseDurationMs(written);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** API type apiserver.config.k8s.io/v1 AdmissionConfiguration. */
interface AdmissionConfiguration {
  readonly plugins?: readonly { readonly name: string; readonly path?: string; readonly configuration?: unknown }[];
}

async function admissionConfigurations(path: string): Promise<Record<string, unknown>> {
  const { plugins = [] } = (await document(path)) as AdmissionConfiguration;
  const entries = plugins.map(
    async ({ name, path: own, configuration }) =>
      [name, own === undefined || own === "" ? configuration : await document(resolve(dirname(path), own))] as const,
  );
  const configurations: Record<string, unknown> = Object.fromEntries(await Promise.all(entries));
  const images = configurations["ImagePolicyWebhook"] as { imagePolicy?: { kubeConfigFile?: string } } | undefined;
  if (images?.imagePolicy !== undefined)
    configurations["ImagePolicyWebhook"] = { ...images, send: await sender(resolve(dirname(path), images.imagePolicy.kubeConfigFile ?? "")) };
  return configurations;
}

async function document(path: string): Promise<unknown> {
  return yamlToJson(Buffer.from(await text(path)));
}

async function text(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

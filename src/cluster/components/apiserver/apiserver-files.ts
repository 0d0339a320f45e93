/** What flags of kube-apiserver name files for: admission configuration, static tokens. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { yamlToJson } from "../../../apimachinery/yaml/yaml.ts";
import type { AuthenticationConfiguration } from "../../../apiserver/authn/jwt/configuration.ts";
import type { AuthorizationChoice } from "../../../apiserver/authz/modes.ts";
import type { WebhookTokenOptions } from "../../../apiserver/authn/webhook-tokens.ts";
import type { WebhookAuthorizerOptions } from "../../../apiserver/authz/webhook-authorizer.ts";
import type { ReviewSender } from "../../../apiserver/webhooks/review-webhook.ts";
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
    ...(authentication !== undefined && { authentication: (await document(authentication)) as AuthenticationConfiguration }),
    ...(await tokenWebhook(flags)),
    ...(await authorization(flags)),
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
  const abac = policies === undefined ? {} : { abacPolicies: await text(policies) };
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

/** The choice that an AuthorizationConfiguration makes. Throws UsageError. */
export async function authorizationFrom(configuration: string): Promise<AuthorizationChoice> {
  const { authorizers } = yamlToJson(Buffer.from(configuration)) as { authorizers?: ConfiguredAuthorizer[] };
  const made = (authorizers ?? []).map(async ({ type, name, webhook }) => ({
    type,
    name,
    ...(webhook !== undefined && { webhook: await configuredWebhook(webhook) }),
  }));
  return { authorizers: await Promise.all(made) };
}

/** Of API type apiserver.config.k8s.io/v1 AuthorizerConfiguration. */
interface ConfiguredAuthorizer {
  readonly type: string;
  readonly name: string;
  readonly webhook?: {
    readonly authorizedTTL?: string;
    readonly unauthorizedTTL?: string;
    readonly timeout: string;
    readonly subjectAccessReviewVersion: string;
    readonly failurePolicy: "NoOpinion" | "Deny";
    readonly connectionInfo: { readonly type: string; readonly kubeConfigFile?: string };
    readonly matchConditions?: readonly { readonly expression: string }[];
  };
}

const flagTimeoutMs = 30_000;

async function configuredWebhook(webhook: NonNullable<ConfiguredAuthorizer["webhook"]>): Promise<WebhookAuthorizerOptions> {
  return {
    send: await sender(webhook.connectionInfo.kubeConfigFile ?? ""),
    version: webhook.subjectAccessReviewVersion,
    timeoutMs: durationMs(webhook.timeout),
    authorizedTtlMs: durationMs(webhook.authorizedTTL ?? "5m"),
    unauthorizedTtlMs: durationMs(webhook.unauthorizedTTL ?? "30s"),
    failurePolicy: webhook.failurePolicy,
    matchConditions: (webhook.matchConditions ?? []).map(({ expression }) => expression),
  };
}

async function webhookByFlags(flags: Flags): Promise<WebhookAuthorizerOptions> {
  const last = (name: string, fallback: string) => flags.get(`authorization-webhook-${name}`)?.at(-1) ?? fallback;
  return {
    send: await sender(last("config-file", "")),
    version: last("version", "v1beta1"),
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
  return { tokenWebhook: { send: await sender(path), version: last("version") ?? "v1beta1", cacheTtlMs: durationMs(last("cache-ttl") ?? "2m") } };
}

async function sender(path: string): Promise<ReviewSender> {
  try {
    return await webhookSender(path);
  } catch (error) {
    throw new UsageError(`cannot use the webhook of ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** A Go duration such as `1m30s`. */
function durationMs(text: string): number {
  if (!/^(\d+(\.\d+)?(h|ms|m|s))+$|^0$/.test(text)) throw new UsageError(`${JSON.stringify(text)} is not a duration such as 1m30s`);
  return [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)].reduce((sum, [, amount, unit]) => sum + Number(amount) * unitMs[unit!]!, 0);
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

/** Rules of an AuthorizationConfiguration (API type apiserver.config.k8s.io/v1). Pure. */
import { parseDurationMs } from "../../apimachinery/go/go-duration.ts";
import { duplicate, invalid, notSupported, required, tooMany } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain } from "../../apimachinery/names.ts";
import { compileCondition } from "./match-conditions.ts";

/** As the file has it: every member may be missing. */
export interface AuthorizationConfiguration {
  readonly authorizers?: readonly ConfiguredAuthorizer[];
}

export interface ConfiguredAuthorizer {
  readonly type?: string;
  readonly name?: string;
  readonly webhook?: ConfiguredWebhook;
}

export interface ConfiguredWebhook {
  /** Go durations. */
  readonly authorizedTTL?: string;
  readonly unauthorizedTTL?: string;
  readonly timeout?: string;
  readonly cacheAuthorizedRequests?: boolean;
  readonly cacheUnauthorizedRequests?: boolean;
  readonly subjectAccessReviewVersion?: string;
  readonly matchConditionSubjectAccessReviewVersion?: string;
  readonly failurePolicy?: string;
  readonly connectionInfo?: { readonly type?: string; readonly kubeConfigFile?: string };
  readonly matchConditions?: readonly { readonly expression?: string }[];
}

const modes = ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"];
const longestTimeoutMs = 30_000;
const maxConditions = 64;

/** All faults. `fileFault` says what is wrong with a kubeconfig file, or undefined. */
export function validateAuthorization({ authorizers = [] }: AuthorizationConfiguration, fileFault: (path: string) => string | undefined): FieldError[] {
  const root = FieldPath.root("authorizers");
  if (authorizers.length === 0) return [required(root, "at least one authorization mode must be defined")];
  const [types, names] = [new Set<string>(), new Set<string>()];
  return authorizers.flatMap(({ type = "", name = "", webhook }, index) => {
    const at = root.index(index);
    const errors: FieldError[] = [];
    if (type === "") errors.push(required(at.child("type")));
    else if (!modes.includes(type)) return [notSupported(at.child("type"), type, modes)];
    else if (types.has(type) && type !== "Webhook") errors.push(duplicate(at.child("type"), type));
    types.add(type);
    if (name === "") errors.push(required(at.child("name")));
    else if (names.has(name)) errors.push(duplicate(at.child("name"), name));
    else errors.push(...isDns1123Subdomain(name).map((fault) => invalid(at.child("name"), name, `authorizer name is invalid: ${fault}`)));
    names.add(name);
    if (type !== "Webhook" && webhook !== undefined) errors.push(invalid(at.child("webhook"), "non-null", "may only be specified when type=Webhook"));
    if (type === "Webhook" && webhook === undefined) errors.push(required(at.child("webhook"), "required when type=Webhook"));
    return type === "Webhook" && webhook !== undefined ? [...errors, ...validateWebhook(webhook, at, fileFault)] : errors;
  });
}

function validateWebhook(webhook: ConfiguredWebhook, at: FieldPath, fileFault: (path: string) => string | undefined): FieldError[] {
  const { timeout, authorizedTTL, unauthorizedTTL } = webhook;
  return [
    ...validateTimeout(timeout, at.child("timeout")),
    ...validateTtl(authorizedTTL, at.child("authorizedTTL")),
    ...validateTtl(unauthorizedTTL, at.child("unauthorizedTTL")),
    ...oneOf(webhook.subjectAccessReviewVersion, ["v1", "v1beta1"], at.child("subjectAccessReviewVersion")),
    ...validateMatchVersion(webhook, at.child("matchConditionSubjectAccessReviewVersion")),
    ...oneOf(webhook.failurePolicy, ["NoOpinion", "Deny"], at.child("failurePolicy")),
    ...validateConnection(webhook.connectionInfo ?? {}, at.child("connectionInfo"), fileFault),
    ...validateConditions(webhook.matchConditions ?? [], at.child("matchConditions")),
  ];
}

/** Undefined when it is none. */
function durationOf(text: string): number | undefined {
  try {
    return parseDurationMs(text);
  } catch {
    // Its text is told with the field.
    return undefined;
  }
}

function validateTimeout(text: string | undefined, path: FieldPath): FieldError[] {
  const timeoutMs = text === undefined ? 0 : durationOf(text);
  if (timeoutMs === 0) return [required(path)];
  return timeoutMs === undefined || timeoutMs < 0 || timeoutMs > longestTimeoutMs ? [invalid(path, text, "must be > 0s and <= 30s")] : [];
}

/** Absent and 0 stand for the default. */
function validateTtl(text: string | undefined, path: FieldPath): FieldError[] {
  const ttlMs = text === undefined ? 0 : durationOf(text);
  return ttlMs === undefined || ttlMs < 0 ? [invalid(path, text, "must be > 0s")] : [];
}

function oneOf(value: string | undefined, supported: readonly string[], path: FieldPath): FieldError[] {
  if (value === undefined || value === "") return [required(path)];
  return supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

function validateMatchVersion(
  { matchConditionSubjectAccessReviewVersion: version = "", matchConditions = [] }: ConfiguredWebhook,
  path: FieldPath,
): FieldError[] {
  if (version === "") return matchConditions.length === 0 ? [] : [required(path, "required if match conditions are specified")];
  return version === "v1" ? [] : [notSupported(path, version, ["v1"])];
}

function validateConnection(
  info: NonNullable<ConfiguredWebhook["connectionInfo"]>,
  path: FieldPath,
  fileFault: (path: string) => string | undefined,
): FieldError[] {
  const { type = "", kubeConfigFile: file } = info;
  const at = path.child("kubeConfigFile");
  switch (type) {
    case "":
      return [required(path.child("type"))];
    case "InClusterConfig":
      return file === undefined ? [] : [invalid(at, file, "can only be set when type=KubeConfigFile")];
    case "KubeConfigFile": {
      if (file === undefined || file === "") return [required(at)];
      if (!file.startsWith("/")) return [invalid(at, file, "must be an absolute path")];
      const fault = fileFault(file);
      return fault === undefined ? [] : [invalid(at, file, `error loading file: ${fault}`)];
    }
    default:
      return [notSupported(path.child("type"), { Type: type, KubeConfigFile: file ?? null }, ["InClusterConfig", "KubeConfigFile"])];
  }
}

function validateConditions(conditions: readonly { readonly expression?: string }[], path: FieldPath): FieldError[] {
  if (conditions.length > maxConditions) return [tooMany(path, conditions.length, maxConditions)];
  const seen = new Set<string>();
  return conditions.flatMap(({ expression = "" }, index) => {
    const at = path.index(index).child("expression");
    if (expression.trim() === "") return [required(at)];
    if (seen.has(expression)) return [duplicate(at, expression)];
    seen.add(expression);
    try {
      compileCondition(expression);
      return [];
    } catch (error) {
      return [invalid(at, expression, error instanceof Error ? error.message : String(error))];
    }
  });
}

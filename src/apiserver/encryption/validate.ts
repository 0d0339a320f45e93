/** Rules of an EncryptionConfiguration (documentation page "Encrypting Confidential Data at Rest"). */
import { parseDuration } from "../../api/batch-v1/duration.ts";
import { invalid, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import type { EncryptionConfiguration, KeySet, KmsChoice, ProviderChoice, ResourceRule } from "./configuration.ts";

const root = FieldPath.root("resources");

export function validateConfiguration({ resources }: EncryptionConfiguration): FieldError[] {
  if (resources.length === 0) return [required(root, "at least one resources is required")];
  const kmsNames = new Set<string>();
  return resources.flatMap((rule, index) => validateRule(rule, kmsNames, root.index(index)));
}

function validateRule({ resources, providers }: ResourceRule, kmsNames: Set<string>, path: FieldPath): FieldError[] {
  const atLeastOne = (at: FieldPath) => required(at, `at least one ${at} is required`);
  return [
    ...(resources.length === 0 ? [atLeastOne(path.child("resources"))] : validateNames(resources, path.child("resources"))),
    ...(providers.length === 0 ? [atLeastOne(path.child("providers"))] : []),
    ...providers.flatMap((provider, index) => validateProvider(provider, kmsNames, path.child("providers").index(index))),
  ];
}

function validateNames(names: readonly string[], path: FieldPath): FieldError[] {
  const errors = names.flatMap((name, index) => validateName(name, path.index(index)));
  if (new Set(names).size < names.length) errors.push(invalid(path, names, "the same resource cannot be specified multiple times"));
  if (hasOverlap(names))
    errors.push(invalid(path, names, "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"));
  return errors;
}

function validateName(name: string, path: FieldPath): FieldError[] {
  if (name === "*") return [invalid(path, name, "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources")];
  if (/[A-Z]/.test(name)) return [invalid(path, name, "resource name should not contain capital letters")];
  if (name === "serviceipallocations" || name === "servicenodeportallocations")
    return [invalid(path, name, "resources which do not have REST API/s cannot be encrypted")];
  if (groupOf(name) === "events.k8s.io")
    return [invalid(path, name, "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file")];
  if (name.endsWith(".extensions")) return [invalid(path, name, "'extensions' group has been removed and cannot be used for encryption")];
  return [];
}

/** Whether a wildcard stands beside something that it covers. */
function hasOverlap(names: readonly string[]): boolean {
  const others = (wildcard: string) => names.filter((name) => name !== wildcard);
  return names.some((wildcard) => wildcard.startsWith("*.") && others(wildcard).some((name) => wildcard === "*.*" || groupOf(name) === wildcard.slice(2)));
}

function groupOf(name: string): string {
  const dot = name.indexOf(".");
  return dot < 0 ? "" : name.slice(dot + 1);
}

const providerNames = ["aesgcm", "aescbc", "secretbox", "identity", "kms"] as const;

function validateProvider(provider: ProviderChoice, kmsNames: Set<string>, path: FieldPath): FieldError[] {
  const given = providerNames.filter((name) => provider[name] !== undefined && provider[name] !== null);
  if (given.length === 0)
    return [invalid(path, internalForm(provider), "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity")];
  if (given.length > 1)
    return [invalid(path, internalForm(provider), "more than one provider specified in a single element, should split into different list elements")];
  const [name] = given;
  const at = path.child(name!);
  switch (name!) {
    case "kms":
      return validateKms(provider.kms!, kmsNames, at);
    case "identity":
      return [];
    case "secretbox":
      return validateKeys(provider.secretbox!, secretboxLengths, at.child("keys"));
    default:
      return validateKeys(provider[name as "aesgcm" | "aescbc"]!, aesLengths, at.child("keys"));
  }
}

/** A provider as Go prints it. */
function internalForm({ aesgcm, aescbc, secretbox, identity, kms }: ProviderChoice): unknown {
  const keys = (set: KeySet | undefined) => (set === undefined ? null : { Keys: (set.keys ?? []).map(({ name, secret }) => ({ Name: name, Secret: secret })) });
  return { AESGCM: keys(aesgcm), AESCBC: keys(aescbc), Secretbox: keys(secretbox), Identity: identity ?? null, KMS: kms ?? null };
}

const aesLengths = [16, 24, 32];
const secretboxLengths = [32];

function validateKeys({ keys }: KeySet, lengths: readonly number[], path: FieldPath): FieldError[] {
  if ((keys ?? []).length === 0) return [required(path, "at least one keys is required")];
  return keys.flatMap(({ name, secret }, index) => {
    const at = path.index(index);
    return [...(name ? [] : [required(at.child("name"), "name is a mandatory field for a key")]), ...validateSecret(secret ?? "", lengths, at.child("secret"))];
  });
}

function validateSecret(secret: string, lengths: readonly number[], path: FieldPath): FieldError[] {
  const redacted = "REDACTED";
  if (secret === "") return [required(path, "secret is a mandatory field for a key")];
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(secret)) return [invalid(path, redacted, "secrets must be base64 encoded")];
  const { length } = Buffer.from(secret, "base64");
  return lengths.includes(length)
    ? []
    : [invalid(path, redacted, `secret is not of the expected length, got ${length}, expected one of [${lengths.join(" ")}]`)];
}

function validateKms({ apiVersion, name, endpoint, timeout, cachesize }: KmsChoice, known: Set<string>, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (name === "") errors.push(required(path.child("name"), "name is a mandatory field for a kms"));
  if (name.includes(":")) errors.push(invalid(path.child("name"), name, `invalid KMS provider name ${name}, must not contain ':'`));
  if (known.has(name) && apiVersion !== "v1") errors.push(invalid(path.child("name"), name, `duplicate KMS provider name ${name}, names must be unique`));
  known.add(name);
  const parsed = parseDuration(timeout);
  if ("fault" in parsed || parsed.seconds <= 0) errors.push(invalid(path.child("timeout"), timeout, "timeout should be a positive value"));
  errors.push(...validateEndpoint(endpoint, path.child("endpoint")));
  if (apiVersion === "v2" && cachesize !== undefined) errors.push(invalid(path.child("cachesize"), cachesize, "cachesize is not supported in v2"));
  if (apiVersion === "v1" && cachesize === 0) errors.push(invalid(path.child("cachesize"), cachesize, "cachesize should be a positive value"));
  if (apiVersion !== "v1" && apiVersion !== "v2")
    errors.push(invalid(path.child("apiVersion"), apiVersion, "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported"));
  return errors;
}

function validateEndpoint(endpoint: string, path: FieldPath): FieldError[] {
  if (endpoint === "") return [invalid(path, endpoint, "endpoint is a mandatory field for a kms")];
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(endpoint)?.[1] ?? "";
  return scheme === "unix" ? [] : [invalid(path, endpoint, `unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`)];
}

/** Secrets (API reference "Secret v1 core"). */
import { X509Certificate, createPrivateKey } from "node:crypto";
import { DecodeError, decodeUntyped } from "../../apimachinery/decode/decode-object.ts";
import { invalid, invalidEach, required, tooLong } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isConfigMapKey } from "../../apimachinery/formats.ts";
import { isObject } from "../../apimachinery/json.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { immutable } from "../update-rules.ts";
import { maxDataBytes, sizeOfBase64, validateSealed } from "./config-maps.ts";
import type { Secret } from "./types.ts";

export const secrets = defineKind<Secret>({
  gvk: { group: "", version: "v1", kind: "Secret" },
  nameRule: subdomainName,
  generation: "none",
  defaults: (secret) => {
    secret.type ||= "Opaque";
    for (const [key, value] of Object.entries(secret.stringData ?? {})) (secret.data ??= {})[key] = Buffer.from(value).toString("base64");
    delete secret.stringData;
  },
  create: { validate: validateSecret, warnings: tlsWarnings },
  update: {
    validate: (secret, old) => [
      ...immutable(FieldPath.root("type"), secret.type, old.type),
      ...validateSealed(secret, old, ["data"]),
      ...validateSecret(secret),
    ],
    warnings: tlsWarnings,
  },
  selectableFields: ({ type = "" }) => ({ type }),
});

const path = FieldPath.root("data");
const accountNameKey = "kubernetes.io/service-account.name";

function validateSecret(secret: Secret): FieldError[] {
  const data = secret.data ?? {};
  const errors = Object.keys(data)
    .sort()
    .flatMap((key) => invalidEach(path.key(key), key, isConfigMapKey(key)));
  if (sizeOfBase64(data) > maxDataBytes) errors.push(tooLong(path, maxDataBytes));
  const missing = (...keys: string[]) => keys.filter((key) => data[key] === undefined).map((key) => required(path.key(key)));
  switch (secret.type) {
    case "kubernetes.io/service-account-token":
      return secret.metadata.annotations?.[accountNameKey] ? errors : [...errors, required(FieldPath.root("metadata", "annotations").key(accountNameKey))];
    case "kubernetes.io/dockercfg":
      return [...errors, ...validateDocker(data, ".dockercfg")];
    case "kubernetes.io/dockerconfigjson":
      return [...errors, ...validateDocker(data, ".dockerconfigjson")];
    case "kubernetes.io/basic-auth": {
      const faults = missing("username", "password");
      return faults.length === 2 ? [...errors, ...faults] : errors;
    }
    case "kubernetes.io/ssh-auth":
      return data["ssh-privatekey"] ? errors : [...errors, required(path.key("ssh-privatekey"))];
    case "kubernetes.io/tls":
      return [...errors, ...missing("tls.crt", "tls.key")];
    default:
      return errors;
  }
}

function validateDocker(data: Readonly<Record<string, string>>, key: string): FieldError[] {
  const text = data[key];
  if (text === undefined) return [required(path.key(key))];
  const fault = jsonObjectFault(Buffer.from(text, "base64"));
  return fault === undefined ? [] : [invalid(path.key(key), "<secret contents redacted>", fault)];
}

/** Why bytes are no JSON object, in Go's words; undefined when they are one. */
function jsonObjectFault(bytes: Buffer): string | undefined {
  try {
    const { value } = decodeUntyped(bytes, { mediaType: "json" });
    if (value === null || isObject(value)) return undefined;
    const kind = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value === "string" ? "string" : "number";
    return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

/** What Go's TLS stack says when a certificate and its key do not make a pair. */
function tlsWarnings({ type, data = {} }: Secret): string[] {
  if (type !== "kubernetes.io/tls") return [];
  const certificate = Buffer.from(data["tls.crt"] ?? "", "base64").toString("latin1");
  const key = Buffer.from(data["tls.key"] ?? "", "base64").toString("latin1");
  const fault = keyPairFault(certificate, key);
  return fault === undefined ? [] : [fault];
}

function keyPairFault(certificate: string, key: string): string | undefined {
  const certificateBlocks = pemBlocks(certificate);
  const chain = certificateBlocks.find(({ label }) => label === "CERTIFICATE");
  if (chain === undefined) return missingBlock("certificate", "CERTIFICATE", certificateBlocks, key);
  const keyBlocks = pemBlocks(key);
  const privateKey = keyBlocks.find(({ label }) => label === "PRIVATE KEY" || label.endsWith(" PRIVATE KEY"));
  if (privateKey === undefined) return missingKey(keyBlocks);
  try {
    const leaf = new X509Certificate(chain.text);
    const owner = createPrivateKey(privateKey.text);
    return leaf.checkPrivateKey(owner) ? undefined : privateKeyMismatch(leaf, owner.asymmetricKeyType);
  } catch {
    return "tls: failed to parse private key";
  }
}

function missingBlock(input: string, wanted: string, blocks: readonly PemBlock[], key: string): string {
  if (blocks.length === 0) return `tls: failed to find any PEM data in ${input} input`;
  const labels = blocks.map(({ label }) => label);
  if (labels.length === 1 && labels[0]!.endsWith("PRIVATE KEY") && key !== "") {
    return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched";
  }
  return `tls: failed to find ${JSON.stringify(wanted)} PEM block in ${input} input after skipping PEM blocks of the following types: [${labels.join(" ")}]`;
}

function missingKey(blocks: readonly PemBlock[]): string {
  if (blocks.length === 0) return "tls: failed to find any PEM data in key input";
  const labels = blocks.map(({ label }) => label);
  if (labels.length === 1 && labels[0] === "CERTIFICATE") return "tls: found a certificate rather than a key in the PEM for the private key";
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${labels.join(" ")}]`;
}

function privateKeyMismatch(leaf: X509Certificate, keyType: string | undefined): string {
  return leaf.publicKey.asymmetricKeyType === keyType ? "tls: private key does not match public key" : "tls: private key type does not match public key type";
}

interface PemBlock {
  readonly label: string;
  readonly text: string;
}

function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(/-----BEGIN ([^\n]*?)-----\r?\n[\s\S]*?-----END \1-----/g)].map(([block, label = ""]) => ({ label, text: block }));
}

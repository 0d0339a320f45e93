/** Which transformer is for which key of the store: the first rule that names a key's resource counts. */
import type { Random } from "../../base/random.ts";
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { qualifiedResource } from "../../apimachinery/object.ts";
import { resourceOfKey } from "../registry/storage/storage-keys.ts";
import { aesCbc, aesGcm, secretbox } from "./ciphers.ts";
import { EncryptionConfigError } from "./configuration.ts";
import type { EncryptionConfiguration, KeySet, KmsChoice, ProviderChoice } from "./configuration.ts";
import type { KmsEnvelope } from "./kms.ts";
import { firstOf, identity } from "./transformer.ts";
import type { Prefixed, Transformer } from "./transformer.ts";

export interface EncryptionRules {
  /** Undefined: values under this key are not the rules' business. */
  transformerFor(key: string): Transformer | undefined;
  readonly envelopes: readonly KmsEnvelope[];
}

export interface RuleParts {
  readonly storageRoot: string;
  readonly random: Random;
  /** Whether KMS v1 may be used. */
  readonly allowsKmsV1: boolean;
  makeEnvelope(choice: KmsChoice): KmsEnvelope;
}

/** Throws EncryptionConfigError. */
export function buildRules(configuration: EncryptionConfiguration, parts: RuleParts): EncryptionRules {
  const envelopes: KmsEnvelope[] = [];
  const byName = new Map<string, Transformer>();
  for (const { resources, providers } of configuration.resources) {
    const transformer = firstOf(
      providers.flatMap((provider) => prefixed(provider, parts, envelopes)),
      "no matching prefix found",
    );
    for (const resource of resources.map(canonicalName)) {
      const mask = [...byName.keys()].find((earlier) => isMasked(resource, earlier));
      if (mask !== undefined)
        throw new EncryptionConfigError(`error while building transformers: resource ${goQuote(resource)} is masked by earlier rule ${goQuote(mask)}`);
      if (!byName.has(resource)) byName.set(resource, transformer);
    }
  }
  return {
    envelopes,
    transformerFor(key) {
      const resource = resourceOfKey(key, parts.storageRoot);
      if (resource === undefined) return undefined;
      const { group, name } = resource;
      return byName.get(qualifiedResource(name, group)) ?? byName.get(`*.${group}`) ?? byName.get("*.*") ?? identity;
    },
  };
}

/** `secrets.` is `secrets`. */
const canonicalName = (name: string) => (name.endsWith(".") && name !== "*." ? name.slice(0, -1) : name);

function isMasked(resource: string, earlier: string): boolean {
  if (earlier === resource || !earlier.startsWith("*.")) return false;
  return earlier === "*.*" || (resource.includes(".") ? resource.slice(resource.indexOf(".") + 1) : "") === earlier.slice(2);
}

const aesUnknown = "no matching key was found for the provided AES transformer";
const boxUnknown = "no matching key was found for the provided Secretbox transformer";

function prefixed({ aesgcm, aescbc, secretbox: box, kms }: ProviderChoice, parts: RuleParts, envelopes: KmsEnvelope[]): Prefixed[] {
  const { random } = parts;
  const keyed = ({ keys }: KeySet, make: (secret: Uint8Array, source: Random) => Transformer, unknown: string) =>
    firstOf(
      keys.map(({ name, secret }) => ({ prefix: `${name}:`, transformer: make(Buffer.from(secret, "base64"), random) })),
      unknown,
    );
  if (aesgcm !== undefined) return [{ prefix: "k8s:enc:aesgcm:v1:", transformer: keyed(aesgcm, aesGcm, aesUnknown) }];
  if (aescbc !== undefined) return [{ prefix: "k8s:enc:aescbc:v1:", transformer: keyed(aescbc, aesCbc, aesUnknown) }];
  if (box !== undefined) return [{ prefix: "k8s:enc:secretbox:v1:", transformer: keyed(box, secretbox, boxUnknown) }];
  if (kms === undefined) return [{ prefix: "", transformer: identity }];
  if (kms.apiVersion === "v1") {
    const text = parts.allowsKmsV1
      ? "KMSv1 is not supported. Use KMSv2 instead."
      : "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.";
    throw new EncryptionConfigError(`error while building transformers: ${text}`);
  }
  const envelope = parts.makeEnvelope(kms);
  envelopes.push(envelope);
  return [{ prefix: `k8s:enc:kms:v2:${kms.name}:`, transformer: envelope }];
}

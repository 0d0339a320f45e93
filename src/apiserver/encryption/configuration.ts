/** API type apiserver.config.k8s.io/v1 EncryptionConfiguration: read from its file's bytes as strictly as upstream does, with its texts. */
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { TypeRegistry } from "../../apimachinery/schema.ts";
import { decodeConfiguration } from "../configuration-document.ts";
import { validateConfiguration } from "./validate.ts";

export interface EncryptionConfiguration {
  readonly resources: readonly ResourceRule[];
}

export interface ResourceRule {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` (the core group), `*.*`. */
  readonly resources: readonly string[];
  /** The first one writes; all of them read. */
  readonly providers: readonly ProviderChoice[];
}

/** Exactly one member is there. */
export interface ProviderChoice {
  readonly aesgcm?: KeySet;
  readonly aescbc?: KeySet;
  readonly secretbox?: KeySet;
  readonly identity?: object;
  readonly kms?: KmsChoice;
}

export interface KeySet {
  readonly keys: readonly { readonly name: string; readonly secret: string }[];
}

export interface KmsChoice {
  readonly apiVersion: string;
  readonly name: string;
  /** `unix:///path/of/socket`. */
  readonly endpoint: string;
  /** A Go duration. */
  readonly timeout: string;
  readonly cachesize?: number;
}

export class EncryptionConfigError extends Error {
  override name = "EncryptionConfigError";
  readonly reason = "EncryptionConfig";
}

/** Reads `bytes` of `file`. Throws EncryptionConfigError. */
export function readConfiguration(bytes: Uint8Array, file: string): EncryptionConfiguration {
  const fail = (text: string) => new EncryptionConfigError(`error while parsing file: ${text}`);
  if (bytes.length === 0) throw fail(`error while loading file: encryption provider configuration file ${goQuote(file)} is empty`);
  const decoded = decodeConfiguration(bytes, { types, kind: "EncryptionConfiguration", known });
  if ("fault" in decoded) throw fail(`error decoding encryption provider configuration file ${goQuote(file)}: ${decoded.fault}`);
  const configuration = withDefaults(decoded.object as Partial<EncryptionConfiguration>);
  const errors = validateConfiguration(configuration).map(fieldErrorText);
  if (errors.length > 0) throw fail(errors.length === 1 ? errors[0]! : `[${errors.join(", ")}]`);
  return configuration;
}

const list = (type: string) => `[]${type}`;

/** The types of the configuration, in the form of the API's types. */
const types = new TypeRegistry({
  EncryptionConfiguration: {
    fields: [
      ["kind", "string", "e", 0],
      ["apiVersion", "string", "e", 0],
      ["resources", list("ResourceConfiguration"), "", 0],
    ],
  },
  ResourceConfiguration: {
    fields: [
      ["resources", list("string"), "", 0],
      ["providers", list("ProviderConfiguration"), "", 0],
    ],
  },
  ProviderConfiguration: {
    fields: [
      ["aesgcm", "*AESConfiguration", "e", 0],
      ["aescbc", "*AESConfiguration", "e", 0],
      ["secretbox", "*AESConfiguration", "e", 0],
      ["identity", "*IdentityConfiguration", "e", 0],
      ["kms", "*KMSConfiguration", "e", 0],
    ],
  },
  AESConfiguration: { fields: [["keys", list("Key"), "", 0]] },
  Key: {
    fields: [
      ["name", "string", "", 0],
      ["secret", "string", "", 0],
    ],
  },
  IdentityConfiguration: { fields: [] },
  KMSConfiguration: {
    fields: [
      ["apiVersion", "string", "", 0],
      ["name", "string", "", 0],
      ["cachesize", "*int32", "e", 0],
      ["endpoint", "string", "", 0],
      ["timeout", "*string", "e", 0],
    ],
  },
});

/** The old form of the kind included. */
const known: ReadonlySet<string> = new Set(["apiserver.config.k8s.io/v1 EncryptionConfiguration", "v1 EncryptionConfig"]);

const defaultTimeout = "3s";

function withDefaults({ resources = [] }: Partial<EncryptionConfiguration>): EncryptionConfiguration {
  return {
    resources: (resources ?? []).map(({ resources: names, providers }) => ({
      resources: names ?? [],
      providers: (providers ?? []).map(({ kms, ...provider }) => ({
        ...provider,
        ...(kms && {
          kms: { ...kms, apiVersion: kms.apiVersion || "v1", name: kms.name ?? "", endpoint: kms.endpoint ?? "", timeout: kms.timeout ?? defaultTimeout },
        }),
      })),
    })),
  };
}

/**
 * Envelope encryption with keys of a key management service (KEP-3299, KMS v2): the plugin encrypts one seed, from which a key of its own
 * is derived for each value.
 *
 * Driven by `start` and `run`: the plugin is asked for its state once a minute; when the name of its key changes, a new seed is made.
 * Invariants: `#seed` is there once `start` has resolved; what was opened with one seed needs the plugin no more.
 */
import { createHash, createHmac } from "node:crypto";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { newUid } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import { internalServerError } from "../../apimachinery/status.ts";
import { decode, encode } from "../../storage/etcd/wire.ts";
import { openGcm, sealGcm } from "./ciphers.ts";
import { TransformError } from "./transformer.ts";
import type { Opened, Transformer } from "./transformer.ts";

/** The plugin's service `v2.KeyManagementService`; calls reject with KmsError. */
export interface KmsService {
  status(): Promise<{ readonly version: string; readonly healthz: string; readonly keyId: string }>;
  encrypt(request: {
    readonly plaintext: Uint8Array;
    readonly uid: string;
  }): Promise<{ readonly ciphertext: Uint8Array; readonly keyId: string; readonly annotations: Annotations }>;
  decrypt(request: {
    readonly ciphertext: Uint8Array;
    readonly uid: string;
    readonly keyId: string;
    readonly annotations: Annotations;
  }): Promise<{ readonly plaintext: Uint8Array }>;
  close(): void;
}

export type Annotations = Readonly<Record<string, Uint8Array>>;

/** The plugin could not be reached (`Unavailable`), or did not want to (`Refused`). */
export class KmsError extends Error {
  override name = "KmsError";
  readonly reason: "Unavailable" | "Refused";
  constructor(reason: KmsError["reason"], message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

export interface KmsOptions {
  readonly name: string;
  readonly service: KmsService;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

interface Seed {
  readonly bytes: Uint8Array;
  readonly keyId: string;
  readonly ciphertext: Uint8Array;
  readonly annotations: Annotations;
}

const seedBytes = 32;
const infoBytes = 32;
const pollMs = 60_000;
/** How long one may write with a seed whose key the plugin no longer vouches for. */
const seedLifetimeMs = 3 * 60_000;
/** Opened seeds that are remembered. */
const rememberedSeeds = 1000;

export class KmsEnvelope implements Transformer {
  readonly #options: KmsOptions;
  #seed: Seed | undefined;
  #vouchedForMs = 0;
  #fault: string | undefined;
  readonly #opened = new Map<string, Promise<Uint8Array>>();

  constructor(options: KmsOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Why the plugin is not well, or undefined. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Asks the plugin for its state and has a first seed encrypted. Rejects with KmsError. */
  async start(): Promise<void> {
    await this.#refresh();
  }

  /** Looks after the plugin until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, name } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, pollMs, signal).catch(() => {});
      if (signal.aborted) break;
      const before = this.#fault;
      await this.#refresh().catch(() => {});
      if (this.#fault !== undefined && before === undefined) log.warn("A key management plugin is not well", { name, fault: this.#fault });
    }
    this.#options.service.close();
  }

  async open(value: Uint8Array, key: string): Promise<Opened> {
    const sealed = decode(sealedMessage, Buffer.from(value)) as unknown as Sealed;
    const { encryptedData, keyId, encryptedSource, annotations, sourceType } = sealed;
    if (keyId === "" || encryptedSource.length === 0) throw new TransformError("failed to decode encrypted object: keyID and encryptedDEKSource must be set");
    const source = await this.#openedSource({ keyId, ciphertext: encryptedSource, annotations: toRecord(annotations) });
    const bound = Buffer.from(key);
    const plain =
      sourceType === sourceTypes.seed
        ? openGcm(derive(source, encryptedData.subarray(0, infoBytes)), encryptedData.subarray(infoBytes), bound)
        : openGcm(source, encryptedData, bound);
    return { plain, isStale: sourceType !== sourceTypes.seed || keyId !== this.#seed?.keyId };
  }

  seal(plain: Uint8Array, key: string): Uint8Array {
    const { clock, random, name } = this.#options;
    const seed = this.#seed;
    if (seed === undefined || clock.monotonicMs() - this.#vouchedForMs > seedLifetimeMs)
      throw internalServerError(`EDEK with keyID hash ${keyHash(seed?.keyId ?? "")} expired: the plugin ${name} has not answered for too long`);
    const info = random.bytes(infoBytes);
    const encryptedData = Buffer.concat([info, sealGcm(derive(seed.bytes, info), plain, Buffer.from(key), random)]);
    const annotations = Object.entries(seed.annotations).map(([name, value]) => ({ key: name, value }));
    return encode(sealedMessage, { encryptedData, keyId: seed.keyId, encryptedSource: seed.ciphertext, annotations, sourceType: sourceTypes.seed });
  }

  async #refresh(): Promise<void> {
    const { service, clock, random } = this.#options;
    try {
      const { version, healthz, keyId } = await service.status();
      if (healthz !== "ok") throw new KmsError("Refused", `got unexpected healthz status: ${healthz}`);
      if (!/^v2(beta1)?$/.test(version)) throw new KmsError("Refused", `unsupported KMS API version ${version}, expected v2`);
      if (keyId === "") throw new KmsError("Refused", "keyID is empty");
      if (this.#seed?.keyId !== keyId) {
        const bytes = random.bytes(seedBytes);
        const { ciphertext, keyId: usedId, annotations } = await service.encrypt({ plaintext: bytes, uid: newUid(random) });
        if (usedId === "") throw new KmsError("Refused", "keyID is empty");
        this.#seed = { bytes, keyId: usedId, ciphertext, annotations };
        this.#remember(this.#seed, Promise.resolve(bytes));
      }
      this.#vouchedForMs = clock.monotonicMs();
      this.#fault = undefined;
    } catch (error) {
      if (!(error instanceof KmsError)) throw error;
      this.#fault = error.message;
      throw error;
    }
  }

  #openedSource(source: Omit<Seed, "bytes">): Promise<Uint8Array> {
    const known = this.#opened.get(sourceKey(source));
    return known ?? this.#remember(source, this.#decryptSource(source));
  }

  async #decryptSource({ keyId, ciphertext, annotations }: Omit<Seed, "bytes">): Promise<Uint8Array> {
    const { service, random } = this.#options;
    try {
      return (await service.decrypt({ ciphertext, uid: newUid(random), keyId, annotations })).plaintext;
    } catch (error) {
      if (error instanceof KmsError && error.reason === "Refused") throw new TransformError(`failed to decrypt DEK, error: ${error.message}`, { cause: error });
      throw error;
    }
  }

  /** A failure is not remembered. */
  #remember(source: Omit<Seed, "bytes">, opened: Promise<Uint8Array>): Promise<Uint8Array> {
    const key = sourceKey(source);
    this.#opened.set(key, opened);
    opened.catch(() => this.#opened.delete(key));
    if (this.#opened.size > rememberedSeeds) this.#opened.delete(this.#opened.keys().next().value!);
    return opened;
  }
}

/** What is stored: protobuf message `v2.EncryptedObject`. */
const sealedMessage = {
  encryptedData: [1, "bytes"],
  keyId: [2, "string"],
  encryptedSource: [3, "bytes"],
  annotations: [4, [{ key: [1, "string"], value: [2, "bytes"] }]],
  sourceType: [5, "int"],
} as const;

interface Sealed {
  readonly encryptedData: Uint8Array;
  readonly keyId: string;
  readonly encryptedSource: Uint8Array;
  readonly annotations: readonly { readonly key: string; readonly value: Uint8Array }[];
  readonly sourceType: number;
}

/** What the plugin encrypted: a key, as older releases wrote it, or a seed. */
const sourceTypes = { key: 0, seed: 1 };

const toRecord = (annotations: Sealed["annotations"]): Annotations => Object.fromEntries(annotations.map(({ key, value }) => [key, value]));

/** HKDF-Expand of RFC 5869 with SHA-256, for one key of 32 bytes. */
function derive(seed: Uint8Array, info: Uint8Array): Buffer {
  return createHmac("sha256", seed).update(info).update(Uint8Array.of(1)).digest();
}

function sourceKey({ keyId, ciphertext, annotations }: Omit<Seed, "bytes">): string {
  const hash = createHash("sha256").update(JSON.stringify(keyId)).update(ciphertext);
  for (const name of Object.keys(annotations).sort()) hash.update(JSON.stringify(name)).update(annotations[name]!);
  return hash.digest("base64");
}

/** Names of keys are not shown. */
const keyHash = (keyId: string) => `sha256:${createHash("sha256").update(keyId).digest("hex")}`;

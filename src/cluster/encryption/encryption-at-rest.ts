/**
 * `--encryption-provider-config`: the store with its values encrypted, and the file read again when it changes
 * (`--encryption-provider-config-automatic-reload`).
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parseDuration } from "../../api/batch-v1/duration.ts";
import { EncryptedStore } from "../../apiserver/encryption/encrypted-store.ts";
import { EncryptionConfigError, readConfiguration } from "../../apiserver/encryption/configuration.ts";
import type { KmsChoice } from "../../apiserver/encryption/configuration.ts";
import { KmsEnvelope, KmsError } from "../../apiserver/encryption/kms.ts";
import type { KmsService } from "../../apiserver/encryption/kms.ts";
import { buildRules } from "../../apiserver/encryption/rules.ts";
import type { EncryptionRules } from "../../apiserver/encryption/rules.ts";
import { sleep } from "../../base/clock.ts";
import { TaskGroup } from "../../base/task-group.ts";
import type { Store } from "../../storage/index.ts";
import { UsageError } from "../commands/arguments.ts";
import type { Environment } from "../environment.ts";
import { connectKms } from "./kms-connection.ts";

export interface EncryptionOptions {
  readonly file: string;
  readonly reloads: boolean;
  readonly storageRoot: string;
  readonly allowsKmsV1: boolean;
}

const reloadMs = 10_000;
/** How long a plugin may take to answer for the first time. */
const firstAnswerMs = 30_000;
const retryMs = 500;

export class EncryptionAtRest implements AsyncDisposable {
  readonly store: EncryptedStore;
  readonly #environment: Environment;
  readonly #options: EncryptionOptions;
  readonly #tasks: TaskGroup;
  #loaded: Loaded;

  /** Reads the file and waits until its plugins answer. Throws UsageError for a configuration that cannot be. */
  static async open(inner: Store, options: EncryptionOptions, environment: Environment): Promise<EncryptionAtRest> {
    try {
      return new EncryptionAtRest(inner, options, environment, await load(options, environment));
    } catch (error) {
      throw error instanceof EncryptionConfigError ? new UsageError(error.message) : error;
    }
  }

  private constructor(inner: Store, options: EncryptionOptions, environment: Environment, loaded: Loaded) {
    this.#options = options;
    this.#environment = environment;
    this.#loaded = loaded;
    this.store = new EncryptedStore(inner, loaded.rules, options.storageRoot);
    this.#tasks = new TaskGroup({ onFailure: (name, error) => environment.log.error("Encryption task failed", { name, error }) });
    this.#follow(loaded);
    if (options.reloads) this.#tasks.start("reload the encryption configuration", (signal) => this.#reloadAgain(signal));
  }

  /** Whether keys come from plugins. (A configuration that is read later may bring the first.) */
  get hasPlugins(): boolean {
    return this.#options.reloads || this.#loaded.rules.envelopes.length > 0;
  }

  /** Why a plugin is not well, or undefined. */
  get fault(): string | undefined {
    return this.#loaded.rules.envelopes.find(({ fault }) => fault !== undefined)?.fault;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#loaded.abort.abort();
    return this.#tasks.close();
  }

  #follow({ rules, abort }: Loaded): void {
    for (const envelope of rules.envelopes)
      this.#tasks.start(`look after the key management plugin ${envelope.name}`, (signal) => envelope.run(AbortSignal.any([signal, abort.signal])));
  }

  async #reloadAgain(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#environment;
    let failed: string | undefined;
    while (!signal.aborted) {
      await sleep(clock, reloadMs, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.reload();
        failed = undefined;
      } catch (error) {
        if (!(error instanceof EncryptionConfigError || error instanceof KmsError)) throw error;
        if (error.message !== failed) log.error("Kept the encryption configuration: the new one cannot be used", { file: this.#options.file, error });
        failed = error.message;
      }
    }
  }

  /** Takes what the file says now, if it says something else; true when it did. Throws EncryptionConfigError or KmsError, and keeps what it had. */
  async reload(): Promise<boolean> {
    const loaded = await load(this.#options, this.#environment, this.#loaded.hash);
    if (loaded === undefined) return false;
    this.#loaded.abort.abort();
    this.#loaded = loaded;
    this.store.rules = loaded.rules;
    this.#follow(loaded);
    this.#environment.log.info("Read the encryption configuration again", { file: this.#options.file });
    return true;
  }
}

interface Loaded {
  readonly rules: EncryptionRules;
  readonly hash: string;
  /** Ends what looks after these rules' plugins. */
  readonly abort: AbortController;
}

function load(options: EncryptionOptions, environment: Environment): Promise<Loaded>;
function load(options: EncryptionOptions, environment: Environment, known: string): Promise<Loaded | undefined>;
async function load(options: EncryptionOptions, environment: Environment, known?: string): Promise<Loaded | undefined> {
  const bytes = await bytesOf(options.file);
  const hash = createHash("sha256").update(bytes).digest("hex");
  if (hash === known) return undefined;
  const configuration = readConfiguration(bytes, options.file);
  const choices = configuration.resources.flatMap(({ providers }) => providers.flatMap(({ kms }) => (kms?.apiVersion === "v2" ? [kms] : [])));
  const services = new Map<KmsChoice, KmsService>();
  for (const choice of choices) services.set(choice, await connectKms(choice.endpoint, timeoutMs(choice)));
  const { clock, random, log } = environment;
  const makeEnvelope = (choice: KmsChoice) => new KmsEnvelope({ name: choice.name, service: services.get(choice)!, clock, random, log });
  try {
    const rules = buildRules(configuration, { storageRoot: options.storageRoot, random, allowsKmsV1: options.allowsKmsV1, makeEnvelope });
    for (const envelope of rules.envelopes) await startEnvelope(envelope, environment);
    return { rules, hash, abort: new AbortController() };
  } catch (error) {
    for (const service of services.values()) service.close();
    throw error;
  }
}

function timeoutMs({ timeout }: KmsChoice): number {
  const parsed = parseDuration(timeout);
  return "fault" in parsed ? 0 : parsed.seconds * 1000;
}

async function startEnvelope(envelope: KmsEnvelope, { clock, log }: Environment): Promise<void> {
  const endMs = clock.monotonicMs() + firstAnswerMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await envelope.start();
    } catch (error) {
      if (!(error instanceof KmsError) || clock.monotonicMs() > endMs) throw error;
      if (attempt === 1) log.info("Waiting for a key management plugin", { name: envelope.name, error });
      await sleep(clock, retryMs);
    }
  }
}

async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const text = code === "ENOENT" ? "no such file or directory" : code === "EACCES" ? "permission denied" : message;
    throw new EncryptionConfigError(
      `error while parsing file: error while loading file: error reading encryption provider configuration file ${JSON.stringify(file)}: open ${file}: ${text}`,
      { cause: error },
    );
  }
}

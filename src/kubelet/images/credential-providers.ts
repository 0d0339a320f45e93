/**
 * Credentials of registries from programs of the machine (documentation page "Configure a kubelet image credential provider"): a program is
 * asked when its patterns match an image; its answer holds as long as it says. State: answers kept, at most `maxKept`.
 */
import { join } from "node:path";
import { isObject } from "../../apimachinery/json.ts";
import type { JsonValue } from "../../apimachinery/json.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Programs } from "../../host/index.ts";
import { ConfigurationError } from "../configuration/configuration-error.ts";
import { parseDurationMs } from "../../apimachinery/go/go-duration.ts";
import type { AuthConfig } from "../runtime/cri-messages.ts";
import { matchesRepository } from "./pull-secrets.ts";

export class CredentialProviders {
  readonly #options: CredentialProvidersOptions;
  readonly #kept = new Map<string, { readonly answer: ProviderAnswer; readonly untilMs: number }>();

  constructor(options: CredentialProvidersOptions) {
    this.#options = options;
  }

  /** Of the image's registry, in the order to try; a program that fails gives none. `repository`: with its registry. */
  async credentials(image: string, repository: string, signal: AbortSignal): Promise<AuthConfig[]> {
    const found: AuthConfig[] = [];
    for (const provider of this.#options.providers.filter(({ matchImages }) => matchImages.some((pattern) => matchesRepository(pattern, repository)))) {
      try {
        const { auth } = await this.#ask(provider, image, repository, signal);
        for (const [pattern, { username = "", password = "" }] of Object.entries(auth))
          if (matchesRepository(pattern, repository)) found.push({ username, password });
      } catch (error) {
        signal.throwIfAborted();
        this.#options.log.warn("A credential provider failed", { provider: provider.name, image, error });
      }
    }
    return found;
  }

  async #ask(provider: CredentialProvider, image: string, repository: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const { clock } = this.#options;
    for (const key of [image, repository.split("/")[0]!, ""]) {
      const kept = this.#kept.get(`${provider.name} ${key}`);
      if (kept !== undefined && clock.monotonicMs() < kept.untilMs) return kept.answer;
    }
    const answer = await this.#run(provider, image, signal);
    const keyOf: Readonly<Record<string, string>> = { Image: image, Registry: repository.split("/")[0]!, Global: "" };
    const key = keyOf[answer.cacheKeyType];
    if (key === undefined) throw new Error(`credential provider plugin did not return a valid cacheKeyType: ${JSON.stringify(answer.cacheKeyType)}`);
    const heldMs = answer.cacheDuration === undefined ? provider.defaultCacheMs : parseDurationMs(answer.cacheDuration);
    this.#keep(`${provider.name} ${key}`, answer, heldMs);
    return answer;
  }

  async #run({ name, apiVersion, args, env }: CredentialProvider, image: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const { programs, directory } = this.#options;
    const input = JSON.stringify({ kind: "CredentialProviderRequest", apiVersion, image });
    const { exitCode, stdout, stderr, timedOut } = await programs.run(
      { command: join(directory, name), args, env: { ...this.#options.environment, ...env }, input, timeoutMs },
      signal,
    );
    if (timedOut) throw new Error("it did not answer within a minute");
    if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${stderr.toString("utf8", 0, 500).trim()}`);
    const answer: unknown = JSON.parse(stdout.toString("utf8"));
    if (!isObject(answer) || answer["apiVersion"] !== apiVersion || answer["kind"] !== "CredentialProviderResponse")
      throw new Error(`apiVersion from credential plugin response did not match expected apiVersion:${apiVersion}`);
    return {
      cacheKeyType: String(answer["cacheKeyType"] ?? ""),
      ...(typeof answer["cacheDuration"] === "string" && { cacheDuration: answer["cacheDuration"] }),
      auth: (answer["auth"] ?? {}) as ProviderAnswer["auth"],
    };
  }

  #keep(key: string, answer: ProviderAnswer, heldMs: number): void {
    if (heldMs <= 0) return;
    this.#kept.delete(key);
    this.#kept.set(key, { answer, untilMs: this.#options.clock.monotonicMs() + heldMs });
    if (this.#kept.size > maxKept) this.#kept.delete(this.#kept.keys().next().value!);
  }
}

/** From a CredentialProviderConfig (kubelet.config.k8s.io/v1). Throws `ConfigurationError`. */
export function readCredentialProviders(document: JsonValue): CredentialProvider[] {
  const fail = (what: string) => new ConfigurationError(`the configuration of credential providers ${what}`);
  if (!isObject(document) || document["kind"] !== "CredentialProviderConfig" || document["apiVersion"] !== "kubelet.config.k8s.io/v1")
    throw fail("is to be a CredentialProviderConfig of kubelet.config.k8s.io/v1");
  const providers = document["providers"];
  if (!Array.isArray(providers) || providers.length === 0) throw fail("names no providers");
  return (providers as unknown as RawProvider[]).map(({ name = "", matchImages = [], defaultCacheDuration, apiVersion = "", args = [], env = [] }) => {
    if (name === "" || name === "." || name === ".." || /[/\\ ]/.test(name)) throw fail(`names a provider ${JSON.stringify(name)}`);
    if (matchImages.length === 0 || defaultCacheDuration === undefined) throw fail(`wants matchImages and defaultCacheDuration of ${name}`);
    if (apiVersion !== "credentialprovider.kubelet.k8s.io/v1")
      throw fail(`asks for API version ${JSON.stringify(apiVersion)} of ${name}: credentialprovider.kubelet.k8s.io/v1 is known`);
    return {
      name,
      matchImages,
      defaultCacheMs: parseDurationMs(defaultCacheDuration),
      apiVersion,
      args,
      env: Object.fromEntries(env.map((entry) => [entry.name, entry.value])),
    };
  });
}

export interface CredentialProvider {
  /** Of the program in the directory. */
  readonly name: string;
  readonly matchImages: readonly string[];
  readonly defaultCacheMs: number;
  readonly apiVersion: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface CredentialProvidersOptions {
  readonly providers: readonly CredentialProvider[];
  readonly directory: string;
  readonly programs: Programs;
  /** What programs are started with, beside their own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly log: Log;
}

interface ProviderAnswer {
  readonly cacheKeyType: string;
  readonly cacheDuration?: string;
  readonly auth: Readonly<Record<string, { readonly username?: string; readonly password?: string }>>;
}

type RawProvider = Partial<Omit<CredentialProvider, "defaultCacheMs" | "env">> & {
  readonly defaultCacheDuration?: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
};

const timeoutMs = 60_000;
const maxKept = 1000;

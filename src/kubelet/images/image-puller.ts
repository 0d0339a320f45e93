/**
 * Sees to it that a container's image is there (documentation page "Images", "Image pull policy"): pulls, holds back after failures (10 s,
 * doubled up to 300 s), tells events. Of several pods that want one image at once, one pulls. State: failures by image, pulls in progress.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Clock } from "../../base/clock.ts";
import { imageHasCommandAnnotation, RuntimeError } from "../runtime/cri.ts";
import type { ImageService } from "../runtime/cri.ts";
import type { Image, PodSandboxConfig } from "../runtime/cri-messages.ts";
import type { AnyContainer } from "../pod-sync/runtime-names.ts";
import { parseImageName } from "./image-name.ts";
import type { CredentialProviders } from "./credential-providers.ts";
import type { PullCredential } from "./pull-secrets.ts";
import type { PullRecords } from "./pull-records.ts";
import { PullGate } from "./pull-gate.ts";
import type { PullLimits } from "./pull-gate.ts";

export class ImagePuller {
  readonly #images: ImageService;
  readonly #clock: Clock;
  readonly #gate: PullGate;
  readonly #providers: CredentialProviders | undefined;
  readonly #records: PullRecords | undefined;
  readonly #failures = new Map<string, PullFailure>();
  readonly #pulls = new Map<string, SharedPull>();

  /** `limits`: absent where pulls cost nothing; `records`: absent where every pod may use every image. */
  constructor(options: { images: ImageService; clock: Clock; limits?: PullLimits; providers?: CredentialProviders; records?: PullRecords }) {
    this.#providers = options.providers;
    this.#records = options.records;
    this.#images = options.images;
    this.#clock = options.clock;
    this.#gate = new PullGate(options.clock, options.limits ?? noLimits);
  }

  async ensure(request: EnsureRequest, signal: AbortSignal): Promise<EnsureResult> {
    const { container, tell, credentials } = request;
    const asked = container.image ?? "";
    const parsed = parseImageName(asked);
    if (!parsed.isValid) {
      const message = `Failed to apply default image tag ${JSON.stringify(asked)}: couldn't parse image name ${JSON.stringify(asked)}: ${parsed.error}`;
      tell("Warning", "InspectFailed", message);
      return { outcome: "failed", reason: "InvalidImageName", message };
    }
    const spec = { image: parsed.fullName, ...(request.hasCommand && { annotations: { [imageHasCommandAnnotation]: "true" } }) };
    const present = await this.#images.imageStatus(spec, signal);
    const policy = container.imagePullPolicy ?? "IfNotPresent";
    const named = { repository: parsed.repository, image: parsed.fullName };
    const mayUse = present !== undefined && policy !== "Always" && ((await this.#records?.mayUse({ ...named, id: present.id }, credentials)) ?? true);
    if (present !== undefined && mayUse) {
      tell("Normal", "Pulled", `Container image ${JSON.stringify(asked)} already present on machine and can be accessed by the pod`);
      return { outcome: "present", image: present };
    }
    if (policy === "Never") {
      const because = present === undefined ? "is not present with" : "is present with";
      const message = `Container image ${JSON.stringify(asked)} ${because} pull policy of Never${present === undefined ? "" : " but does not have the proper credentials to access the image"}`;
      tell("Warning", "ErrImageNeverPull", message);
      return { outcome: "failed", reason: "ErrImageNeverPull", message };
    }
    return this.#pull(request, spec, asked, signal);
  }

  /** Forgets what failed, so that the next try is made at once (an image was imported). */
  forget(): void {
    this.#failures.clear();
  }

  async #pull(request: EnsureRequest, spec: { image: string }, asked: string, signal: AbortSignal): Promise<EnsureResult> {
    const { tell, pod } = request;
    const key = `${pod.metadata.uid}_${asked}`;
    const failure = this.#failures.get(key);
    const nowMs = this.#clock.nowMs();
    if (failure !== undefined && nowMs < failure.atMs + failure.delayMs) {
      const message = `Back-off pulling image ${JSON.stringify(asked)}`;
      tell("Normal", "BackOff", message);
      return { outcome: "failed", reason: "ImagePullBackOff", message: `${message}: ${failure.error}`, retryAtMs: failure.atMs + failure.delayMs };
    }
    tell("Normal", "Pulling", `Pulling image ${JSON.stringify(asked)}`);
    const startedMs = this.#clock.monotonicMs();
    try {
      const { reference, pullMs } = await this.#pullOnce(request, spec, signal);
      const image = await this.#images.imageStatus(spec, signal);
      const wholeMs = this.#clock.monotonicMs() - startedMs;
      tell(
        "Normal",
        "Pulled",
        `Successfully pulled image ${JSON.stringify(asked)} in ${secondsText(Math.min(pullMs, wholeMs))} (${secondsText(wholeMs)} including waiting). Image size: ${image?.size ?? 0} bytes.`,
      );
      this.#failures.delete(key);
      return { outcome: "present", image: image ?? { id: reference, repo_tags: [], repo_digests: [], size: 0, username: "", pinned: false } };
    } catch (error) {
      signal.throwIfAborted();
      const text = errorText(error);
      const delayMs = failure === undefined ? 10_000 : Math.min(300_000, failure.delayMs * 2);
      this.#failures.set(key, { atMs: this.#clock.nowMs(), delayMs, error: `ErrImagePull: ${text}` });
      tell("Warning", "Failed", `Failed to pull image ${JSON.stringify(asked)}: ${text}`);
      // Shown for a moment before the holding back is.
      return { outcome: "failed", reason: "ErrImagePull", message: text, retryAtMs: this.#clock.nowMs() + 1000 };
    }
  }

  /** One pull for all that want the image without credentials of their own; it ends early when nobody waits any more. */
  async #pullOnce(request: EnsureRequest, spec: { image: string }, signal: AbortSignal): Promise<Pulled> {
    if (request.credentials.length > 0) return this.#tryCredentials(request, spec, signal);
    const pull = this.#pulls.get(spec.image) ?? this.#startPull(request, spec);
    pull.waiters += 1;
    const leave = () => {
      pull.waiters -= 1;
      if (pull.waiters === 0) pull.abort.abort(signal.reason);
    };
    const aborted = Promise.withResolvers<never>();
    const onAbort = () => {
      leave();
      aborted.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([pull.done, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #startPull(request: EnsureRequest, spec: { image: string }): SharedPull {
    const abort = new AbortController();
    const done = this.#tryCredentials(request, spec, abort.signal).finally(() => this.#pulls.delete(spec.image));
    done.catch(() => undefined); // whoever waits hears of it
    const pull = { done, abort, waiters: 0 };
    this.#pulls.set(spec.image, pull);
    return pull;
  }

  #tryCredentials(request: EnsureRequest, image: { image: string }, signal: AbortSignal): Promise<Pulled> {
    return this.#gate.run(async () => {
      const startedMs = this.#clock.monotonicMs();
      await this.#records?.beginPull(image.image);
      try {
        const reference = await this.#pullWith(request, image, signal);
        return { reference, pullMs: this.#clock.monotonicMs() - startedMs };
      } finally {
        await this.#records?.endPull(image.image);
      }
    }, signal);
  }

  /** Rejects with the registry's answers to all credentials, each told once. */
  async #pullWith({ credentials, sandboxConfig }: EnsureRequest, image: { image: string }, signal: AbortSignal): Promise<string> {
    const failures: Error[] = [];
    const parsed = parseImageName(image.image);
    const repository = parsed.isValid ? parsed.repository : image.image;
    const provided = (await this.#providers?.credentials(image.image, repository, signal)) ?? [];
    const all: PullCredential[] = [...credentials, ...provided.map((auth) => ({ auth }))];
    for (const credential of all.length === 0 ? [undefined] : all) {
      let id: string;
      try {
        id = await this.#images.pullImage({ image, sandbox_config: sandboxConfig, ...(credential !== undefined && { auth: credential.auth }) }, signal);
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error as Error);
        continue;
      }
      await this.#records?.pulled({ repository, image: image.image, id }, credential);
      return id;
    }
    const texts = [...new Set(failures.map(errorText))];
    throw texts.length === 1 ? failures[0]! : new Error(`[${texts.join(", ")}]`);
  }
}

function errorText(error: unknown): string {
  return error instanceof RuntimeError ? error.rpcMessage : (error as Error).message;
}

export interface EnsureRequest {
  readonly pod: DeepReadonly<Pod>;
  readonly container: AnyContainer;
  readonly hasCommand: boolean;
  readonly sandboxConfig: PodSandboxConfig;
  /** Of the image's registry, in the order to try. */
  readonly credentials: readonly PullCredential[];
  tell(type: "Normal" | "Warning", reason: string, message: string): void;
}

export type EnsureResult =
  | { readonly outcome: "present"; readonly image: Image }
  | { readonly outcome: "failed"; readonly reason: string; readonly message: string; readonly retryAtMs?: number };

interface Pulled {
  readonly reference: string;
  /** Without the time it had to wait for others. */
  readonly pullMs: number;
}

const noLimits: PullLimits = { serializeImagePulls: false, maxParallelImagePulls: undefined, registryPullQPS: 0, registryBurst: 0 };

interface SharedPull {
  readonly done: Promise<Pulled>;
  readonly abort: AbortController;
  waiters: number;
}

interface PullFailure {
  readonly atMs: number;
  readonly delayMs: number;
  readonly error: string;
}

/** `850ms`, `2.051s`: as Go prints a duration rounded to milliseconds. */
function secondsText(ms: number): string {
  const rounded = Math.round(ms);
  if (rounded < 1000) return `${rounded}ms`;
  const minutes = Math.floor(rounded / 60_000);
  const seconds = `${(rounded - minutes * 60_000) / 1000}s`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

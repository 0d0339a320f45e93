/**
 * Who may use an image that is on the node (KEP 2535): one that the kubelet has pulled with a secret is for pods with that secret, so that
 * nobody gets by being second what the registry would refuse. One JSON file per image under `image_manager/pulled`, by its id; under
 * `pulling` what is being pulled, so that an image whose pull a crash cut off is not taken for one that was brought along.
 * Driven by the puller; the image collector has records removed with their images, which bounds them.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatTime } from "../../apimachinery/time.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import type { PullCredential, SecretPlace } from "./pull-secrets.ts";

export type VerificationSettings = Pick<KubeletSettings, "imagePullCredentialsVerificationPolicy" | "preloadedImagesVerificationAllowlist">;

export class PullRecords {
  readonly #options: PullRecordsOptions;
  /** Pulls under way by name: the last to end removes the file. */
  readonly #pulling = new Map<string, number>();

  constructor(options: PullRecordsOptions) {
    this.#options = options;
  }

  /** Whether a pod with these secrets may use the image without asking the registry. `repository`: with its registry, without tag. */
  async mayUse({ repository, image, id }: PulledImage, credentials: readonly PullCredential[]): Promise<boolean> {
    const record = await this.#read(id);
    const wasPulled = record !== undefined || (await this.#isBeingPulled(image));
    if (!mustVerify(repository, wasPulled, this.#options.settings)) return true;
    const known = record?.credentialMapping[repository];
    if (known === undefined) return false;
    if (known.nodePodsAccessible === true) return true;
    const secrets = known.kubernetesSecrets ?? [];
    return credentials.some(({ auth, secret }) => secret !== undefined && secrets.some((one) => isSamePlace(one, secret) || one.credentialHash === hash(auth)));
  }

  async beginPull(image: string): Promise<void> {
    this.#pulling.set(image, (this.#pulling.get(image) ?? 0) + 1);
    await this.#write("pulling", image, { kind: "ImagePullIntent", apiVersion, image });
  }

  /** `by`: what the registry let us in with; undefined when it wanted nothing, or a program of the node's knew it: then all pods may. */
  async pulled({ repository, id }: PulledImage, by: PullCredential | undefined): Promise<void> {
    const record = await this.#read(id);
    const known = record?.credentialMapping[repository];
    const secret = by?.secret;
    const own: ImageCredentials =
      secret === undefined || known?.nodePodsAccessible === true
        ? { nodePodsAccessible: true }
        : {
            kubernetesSecrets: [
              ...(known?.kubernetesSecrets ?? []).filter((one) => !isSamePlace(one, secret)).slice(1 - maxSecrets),
              { ...secret, credentialHash: hash(by!.auth) },
            ],
          };
    await this.#write("pulled", id, {
      kind: "ImagePulledRecord",
      apiVersion,
      lastUpdatedTime: formatTime(this.#options.clock.nowMs()),
      imageRef: id,
      credentialMapping: { ...record?.credentialMapping, [repository]: own },
    } satisfies PulledRecord);
  }

  async endPull(image: string): Promise<void> {
    const left = (this.#pulling.get(image) ?? 1) - 1;
    if (left > 0) return void this.#pulling.set(image, left);
    this.#pulling.delete(image);
    await rm(this.#path("pulling", image), { force: true });
  }

  /** Forgets images that are gone. */
  async prune(ids: ReadonlySet<string>): Promise<void> {
    const kept = new Set([...ids].map(fileName));
    const names = await readdir(join(this.#options.directory, "pulled")).catch(() => []);
    for (const name of names) if (!kept.has(name)) await rm(join(this.#options.directory, "pulled", name), { force: true });
  }

  async #isBeingPulled(image: string): Promise<boolean> {
    return (await readFile(this.#path("pulling", image)).catch(() => undefined)) !== undefined;
  }

  /** What cannot be read counts as pulled by nobody known. */
  async #read(id: string): Promise<PulledRecord | undefined> {
    const text = await readFile(this.#path("pulled", id), "utf8").catch(() => undefined);
    if (text === undefined) return undefined;
    try {
      const record = JSON.parse(text) as PulledRecord;
      return { ...record, credentialMapping: record.credentialMapping ?? {} };
    } catch (error) {
      this.#options.log.warn("The record of a pulled image cannot be read", { image: id, error });
      return { kind: "ImagePulledRecord", apiVersion, lastUpdatedTime: "", imageRef: id, credentialMapping: {} };
    }
  }

  async #write(folder: "pulling" | "pulled", name: string, value: object): Promise<void> {
    await mkdir(join(this.#options.directory, folder), { recursive: true, mode: 0o700 });
    const path = this.#path(folder, name);
    const temporary = `${path}.${(this.#writes += 1)}.tmp`;
    await writeFile(temporary, JSON.stringify(value), { mode: 0o600 });
    await rename(temporary, path);
  }
  #writes = 0;

  #path(folder: "pulling" | "pulled", name: string): string {
    return join(this.#options.directory, folder, fileName(name));
  }
}

export interface PullRecordsOptions {
  /** `image_manager` of the kubelet's root. */
  readonly directory: string;
  readonly settings: VerificationSettings;
  readonly clock: Clock;
  readonly log: Log;
}

export interface PulledImage {
  /** With its registry, without tag. */
  readonly repository: string;
  /** The full name. */
  readonly image: string;
  readonly id: string;
}

/** KubeletConfiguration `imagePullCredentialsVerificationPolicy`. */
export function mustVerify(repository: string, wasPulled: boolean, settings: VerificationSettings): boolean {
  switch (settings.imagePullCredentialsVerificationPolicy) {
    case "NeverVerify":
      return false;
    case "AlwaysVerify":
      return true;
    case "NeverVerifyAllowlistedImages":
      return !settings.preloadedImagesVerificationAllowlist.some((pattern) =>
        pattern.endsWith("/*") ? repository.startsWith(pattern.slice(0, -1)) : repository === pattern,
      );
    default:
      return wasPulled;
  }
}

interface ImageCredentials {
  readonly kubernetesSecrets?: readonly (SecretPlace & { readonly credentialHash: string })[];
  readonly nodePodsAccessible?: boolean;
}

interface PulledRecord {
  readonly kind: "ImagePulledRecord";
  readonly apiVersion: string;
  readonly lastUpdatedTime: string;
  readonly imageRef: string;
  readonly credentialMapping: Readonly<Record<string, ImageCredentials>>;
}

const apiVersion = "kubelet.config.k8s.io/v1beta1";
const maxSecrets = 100;

const isSamePlace = (a: SecretPlace, b: SecretPlace) => a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;
const hash = (value: object) => createHash("sha256").update(JSON.stringify(value)).digest("hex");
const fileName = (name: string) => `sha256-${createHash("sha256").update(name).digest("hex")}`;

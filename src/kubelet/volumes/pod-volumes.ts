/**
 * The volumes of pods on this machine's disk. Everything of a pod lies under `ROOT/pods/UID`; what comes from Secrets and tokens lies in
 * memory, under one tmpfs (`ROOT/memory`). Driven by pod workers: `setUp` before the sandbox and on every change, `tearDown` at the end.
 */
import { chmod, chown, mkdir, open, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { quantityValue } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { EmptyDirVolumeSource, Pod, Volume } from "../../api/core-v1/types.ts";
import type { Clock } from "../../base/clock.ts";
import type { Mounts } from "../../host/index.ts";
import { checkHostPath } from "./host-path.ts";
import { isPayloadVolume, VolumeError, volumePayload } from "./payload.ts";
import type { PayloadSources } from "./payload.ts";
import { writeAtomically } from "./atomic-writer.ts";

export interface VolumeSetUp {
  readonly faults: readonly { readonly volume: string; readonly message: string }[];
  readonly refreshAtMs?: number;
}

/** Where pods' files are. Implemented on disk here, and by nothing at all for simulated nodes. */
export interface PodStorage {
  setUp(pod: DeepReadonly<Pod>, sources: PayloadSources): Promise<VolumeSetUp>;
  /** The volume's path on this machine; with a sub path, which is made when it is missing. Throws `VolumeError`. */
  path(pod: DeepReadonly<Pod>, volumeName: string, subPath?: string): Promise<string>;
  /** Writes a file of the pod's own (hosts, last words); its path, or undefined where there are no files. */
  writeFile(podUid: string, name: string, data: string, mode: number): Promise<string | undefined>;
  /** The text of a file on this machine, at most `limitBytes` from its end; empty when it cannot be read. */
  readEnd(path: string, limitBytes: number): Promise<string>;
  tearDown(podUid: string): Promise<void>;
  removeLogs(directory: string): Promise<void>;
}

export class DiskStorage implements PodStorage {
  readonly #root: string;
  readonly #clock: Clock;
  readonly #mounts: Mounts | undefined;

  /** `mounts`: absent where we may not mount; memory is then disk. */
  constructor(options: { root: string; clock: Clock; mounts?: Mounts }) {
    this.#root = options.root;
    this.#clock = options.clock;
    this.#mounts = options.mounts;
  }

  /** Mounts the memory that secrets live in, unless an earlier kubelet did. */
  async start(): Promise<void> {
    const memory = join(this.#root, "memory");
    await mkdir(memory, { recursive: true, mode: 0o711 });
    await mkdir(join(this.#root, "pods"), { recursive: true, mode: 0o711 });
    if (this.#mounts === undefined) return;
    const real = await realpath(memory);
    const isMounted = (await this.#mounts.list()).some(({ mountPoint }) => mountPoint === real);
    if (!isMounted) await this.#mounts.mountTmpfs(real, { mode: "0711" });
  }

  async setUp(pod: DeepReadonly<Pod>, sources: PayloadSources): Promise<VolumeSetUp> {
    const faults: { volume: string; message: string }[] = [];
    let refreshAtMs: number | undefined;
    for (const volume of pod.spec?.volumes ?? []) {
      try {
        const due = await this.#setUpVolume(pod, volume, sources);
        if (due !== undefined) refreshAtMs = Math.min(refreshAtMs ?? Number.POSITIVE_INFINITY, due);
      } catch (error) {
        faults.push({ volume: volume.name, message: error instanceof Error ? error.message : String(error) });
      }
    }
    return { faults, ...(refreshAtMs !== undefined && { refreshAtMs }) };
  }

  async path(pod: DeepReadonly<Pod>, volumeName: string, subPath = ""): Promise<string> {
    const volume = pod.spec?.volumes?.find(({ name }) => name === volumeName);
    if (volume === undefined) throw new VolumeError(`cannot find volume ${JSON.stringify(volumeName)}`);
    const base = volume.hostPath?.path ?? this.#directory(pod.metadata.uid ?? "", volume);
    if (subPath === "") return base;
    const whole = join(base, subPath);
    if (!isPayloadVolume(volume)) await mkdir(whole, { recursive: true, mode: 0o750 }).then(() => chmod(whole, 0o777 & ~0o022)).catch(ignoreExisting);
    const [realBase, real] = await Promise.all([realpath(base), realpath(whole)]);
    // A link must not lead out of the volume.
    if (real !== realBase && !real.startsWith(`${realBase}/`)) throw new VolumeError(`subPath ${JSON.stringify(subPath)} leads out of the volume`);
    return real;
  }

  async writeFile(podUid: string, name: string, data: string, mode: number): Promise<string> {
    const path = join(this.#root, "pods", podUid, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o711 });
    await writeFile(path, data);
    await chmod(path, mode);
    return path;
  }

  async readEnd(path: string, limitBytes: number): Promise<string> {
    const file = await open(path, "r").catch(() => undefined);
    if (file === undefined) return "";
    try {
      const { size } = await file.stat();
      const start = Math.max(0, size - limitBytes);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  }

  async tearDown(podUid: string): Promise<void> {
    const roots = [join(this.#root, "pods", podUid), join(this.#root, "memory", podUid)];
    for (const root of roots) {
      await this.#mounts?.unmountBelow(root);
      await rm(root, { recursive: true, force: true });
    }
  }

  removeLogs(directory: string): Promise<void> {
    return rm(directory, { recursive: true, force: true });
  }

  async #setUpVolume(pod: DeepReadonly<Pod>, volume: DeepReadonly<Volume>, sources: PayloadSources): Promise<number | undefined> {
    if (volume.hostPath !== undefined) return void (await checkHostPath(volume.hostPath.path, volume.hostPath.type ?? ""));
    const directory = this.#directory(pod.metadata.uid ?? "", volume);
    const group = pod.spec?.securityContext?.fsGroup;
    if (volume.emptyDir !== undefined) return void (await this.#makeEmptyDir(directory, volume.emptyDir, group));
    if (!isPayloadVolume(volume)) throw new VolumeError("this kind of volume is not supported by the node");
    const payload = await volumePayload(pod, volume, sources);
    await mkdir(directory, { recursive: true, mode: 0o755 });
    await chmod(directory, 0o777);
    await writeAtomically(directory, payload.files, { nowMs: this.#clock.nowMs(), ...(group !== undefined && { group }) });
    return payload.refreshAtMs;
  }

  async #makeEmptyDir(directory: string, source: DeepReadonly<EmptyDirVolumeSource>, group: number | undefined): Promise<void> {
    const isNew = (await mkdir(directory, { recursive: true, mode: 0o777 })) !== undefined;
    if (!isNew) return;
    const isMemory = source.medium === "Memory" && this.#mounts !== undefined;
    if (isMemory) await this.#mounts!.mountTmpfs(directory, { ...(source.sizeLimit !== undefined && { sizeBytes: quantityValue(source.sizeLimit) }), mode: "1777" });
    else await chmod(directory, source.mode ?? 0o777);
    if (group === undefined || process.getuid?.() !== 0) return;
    await chown(directory, 0, group);
    await chmod(directory, 0o2777);
  }

  #directory(podUid: string, volume: DeepReadonly<Volume>): string {
    const isSecret = volume.secret !== undefined || volume.projected !== undefined;
    return isSecret ? join(this.#root, "memory", podUid, volume.name) : join(this.#root, "pods", podUid, "volumes", volume.name);
  }
}

/** Volumes of simulated pods: no files, but what is missing is missed. */
export class NoStorage implements PodStorage {
  async setUp(pod: DeepReadonly<Pod>, sources: PayloadSources): Promise<VolumeSetUp> {
    const tokenless: PayloadSources = { ...sources, token: async () => ({ token: "", refreshAtMs: Number.POSITIVE_INFINITY }) };
    const faults: { volume: string; message: string }[] = [];
    for (const volume of pod.spec?.volumes ?? []) {
      if (!isPayloadVolume(volume)) continue;
      await volumePayload(pod, volume, tokenless).catch((error: Error) => faults.push({ volume: volume.name, message: error.message }));
    }
    return { faults };
  }

  async path(_pod: DeepReadonly<Pod>, volumeName: string): Promise<string> {
    return `/nowhere/${volumeName}`;
  }

  async writeFile(): Promise<undefined> {}

  async readEnd(): Promise<string> {
    return "";
  }

  async tearDown(): Promise<void> {}

  async removeLogs(): Promise<void> {}
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  // The sub path is a file, or already there under another owner.
  if (error.code !== "EEXIST" && error.code !== "ENOTDIR" && error.code !== "EPERM") throw error;
}

/**
 * The volumes of pods on this machine's disk. Everything of a pod lies under `ROOT/pods/UID`; what comes from Secrets and tokens lies in
 * memory, under one tmpfs (`ROOT/memory`). Driven by pod workers: `setUp` before the sandbox and on every change, `tearDown` at the end,
 * also for pods of an earlier kubelet: what is to be undone is read from the disk and the machine's mounts.
 */
import { chmod, mkdir, open, readdir, realpath, rm, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Clock } from "../../base/clock.ts";
import type { Client } from "../../client/index.ts";
import type { Mounts, Programs } from "../../host/index.ts";
import type { ImageMounts } from "../images/image-mounts.ts";
import { CsiDrivers } from "./csi/csi-drivers.ts";
import { CsiPlugin } from "./csi/csi-plugin.ts";
import type { FilesystemLevel } from "../stats/usage.ts";
import { volumeFault } from "./faults.ts";
import { removeMountPointsBelow } from "./mount-points.ts";
import { checkNodeAffinity } from "./node-affinity.ts";
import { emptyDirPlugin } from "./plugins/empty-dir.ts";
import { hostPathPlugin } from "./plugins/host-path.ts";
import { imagePlugin } from "./plugins/image.ts";
import { localPlugin } from "./plugins/local.ts";
import { nfsPlugin } from "./plugins/nfs.ts";
import { payloadKind, payloadPlugin } from "./plugins/payload-plugins.ts";
import type { PayloadKind } from "./plugins/payload-plugins.ts";
import type { VolumePlugin } from "./plugins/volume-plugin.ts";
import type { NodePlugins, PodStorage, SubPathRequest, VolumeFault, VolumeSetUp, VolumeSources } from "./pod-storage.ts";
import { bindSubPath, makeSubPath, plainSubPath, readInside } from "./sub-path.ts";
import { VolumeError } from "./volume.ts";
import type { ReadyVolume, ResolvedVolume } from "./volume.ts";
import { VolumesInUse } from "./volumes-in-use.ts";

export interface DiskStorageOptions {
  readonly root: string;
  readonly clock: Clock;
  /** Absent where we may not mount; memory is then disk, and directories are used where they are. */
  readonly host?: { readonly mounts: Mounts; readonly programs: Programs };
  readonly images?: ImageMounts;
}

type PluginName = PayloadKind | "csi" | "emptyDir" | "hostPath" | "image" | "local" | "nfs";

export class DiskStorage implements PodStorage {
  readonly inUse = new VolumesInUse();
  readonly #drivers: CsiDrivers;
  readonly #options: DiskStorageOptions;
  readonly #mounts: Mounts | undefined;
  readonly #plugins = new Map<PluginName, VolumePlugin>();
  /** By pod and volume. */
  readonly #ready = new Map<string, Map<string, ReadyVolume>>();
  #root: string;

  constructor(options: DiskStorageOptions) {
    this.#options = options;
    this.#drivers = new CsiDrivers(options.clock);
    this.#root = options.root;
    this.#mounts = options.host?.mounts;
  }

  /** Mounts the memory that secrets live in, unless an earlier kubelet did. */
  async start(): Promise<void> {
    await mkdir(join(this.#root, "memory"), { recursive: true, mode: 0o711 });
    await mkdir(join(this.#root, "pods"), { recursive: true, mode: 0o711 });
    // The machine tells its mounts by their real paths.
    this.#root = await realpath(this.#root);
    await this.#addPlugins();
    if (this.#mounts === undefined) return;
    await this.#shareMounts(this.#mounts);
    const memory = join(this.#root, "memory");
    const isMounted = (await this.#mounts.list()).some(({ mountPoint }) => mountPoint === memory);
    if (!isMounted) await this.#mounts.mountTmpfs(memory, { mode: "0711" });
  }

  async setUp(pod: DeepReadonly<Pod>, volumes: readonly ResolvedVolume[], sources: VolumeSources, signal: AbortSignal): Promise<VolumeSetUp> {
    const uid = pod.metadata.uid ?? "";
    const known = this.#ready.get(uid) ?? new Map<string, ReadyVolume>();
    this.#ready.set(uid, known);
    const faults: VolumeFault[] = [];
    await Promise.all(
      volumes.map(async (resolved) => {
        try {
          checkNodeAffinity(resolved, sources.node());
          const plugin = this.#pluginOf(resolved);
          const ready = await plugin.setUp({ pod, resolved, directory: this.#directory(uid, resolved, plugin), sources }, signal);
          known.set(resolved.name, { ...ready, ...groupOf(resolved) });
        } catch (error) {
          faults.push(volumeFault(resolved, error));
        }
      }),
    );
    signal.throwIfAborted();
    const refreshAtMs = Math.min(...known.values().map((ready) => ready.refreshAtMs ?? Number.POSITIVE_INFINITY));
    return { faults, ...(Number.isFinite(refreshAtMs) && { refreshAtMs }) };
  }

  ready(podUid: string, volumeName: string): ReadyVolume | undefined {
    return this.#ready.get(podUid)?.get(volumeName);
  }

  async readVolumeFile({
    podUid,
    volumeName,
    path,
    limitBytes,
  }: {
    podUid: string;
    volumeName: string;
    path: string;
    limitBytes: number;
  }): Promise<string | undefined> {
    const volumePath = this.ready(podUid, volumeName)?.path;
    return volumePath === undefined ? undefined : readInside({ volumePath, subPath: path }, limitBytes);
  }

  async filesystem(podUid: string, volumeName: string): Promise<FilesystemLevel | undefined> {
    const ready = this.ready(podUid, volumeName);
    if (ready === undefined || ready.isBlock) return undefined;
    const plugin = [...this.#plugins.values()].find(
      ({ folder, filesystem }) => filesystem !== undefined && dirname(dirname(ready.path)).endsWith(`/${folder}`),
    );
    if (plugin !== undefined) return plugin.filesystem!(dirname(ready.path));
    const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(ready.path);
    return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize, usedBytes: (blocks - bfree) * bsize, inodes: files, inodesFree: ffree };
  }

  async mountImage(podUid: string, volumeName: string, imageName: string): Promise<void> {
    const { path = "" } = this.ready(podUid, volumeName) ?? {};
    await this.#options.images?.mount(imageName, path);
  }

  async subPath({ podUid, volumeName, containerName, index, subPath }: SubPathRequest): Promise<string> {
    const volumePath = this.ready(podUid, volumeName)?.path ?? "";
    // Containers' users see the text: it tells nothing of the machine's files.
    const fail = (what: string) => (error: unknown) => {
      throw new VolumeError(`failed to ${what} for volumeMount ${JSON.stringify(volumeName)} of container ${JSON.stringify(containerName)}`, { cause: error });
    };
    if (this.#mounts === undefined) return plainSubPath({ volumePath, subPath }).catch(fail("prepare subPath"));
    await makeSubPath({ volumePath, subPath }).catch(fail("create subPath directory"));
    const target = join(this.#root, "pods", podUid, "volume-subpaths", volumeName, containerName, String(index));
    await bindSubPath({ volumePath, subPath }, target, this.#mounts).catch(fail("prepare subPath"));
    return target;
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
    this.#ready.delete(podUid);
    const pod = join(this.#root, "pods", podUid);
    await this.#mounts?.unmountBelow(join(pod, "volume-subpaths"));
    await removeMountPointsBelow(join(pod, "volume-subpaths"), 3);
    for (const plugin of this.#plugins.values()) {
      if (plugin.tearDown === undefined) continue;
      const folder = join(pod, "volumes", plugin.folder);
      for (const name of await readdir(folder).catch(() => [])) await plugin.tearDown({ podUid, directory: join(folder, name) });
    }
    for (const root of [pod, join(this.#root, "memory", podUid)]) await this.#remove(root);
    this.inUse.release(podUid);
  }

  plugins(node: { client: Client; nodeName: string }): NodePlugins {
    return {
      directory: join(this.#root, "plugins_registry"),
      handlers: new Map([["CSIPlugin", this.#drivers.handler(node)]]),
      announce: (signal) => this.#drivers.announce(node, signal),
    };
  }

  async podUids(): Promise<string[]> {
    const found = await Promise.all(["pods", "memory"].map((folder) => readdir(join(this.#root, folder))));
    return [...new Set(found.flat())];
  }

  removeLogs(directory: string): Promise<void> {
    return rm(directory, { recursive: true, force: true });
  }

  async logNames(directory: string): Promise<string[]> {
    return readdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
  }

  /** What containers mount here by `Bidirectional` (drivers do) reaches us and other containers only where mounts are shared. */
  async #shareMounts(mounts: Mounts): Promise<void> {
    const around = (await mounts.list()).filter(({ mountPoint }) => mountPoint === "/" || this.#root === mountPoint || this.#root.startsWith(`${mountPoint}/`));
    const nearest = around.reduce((best, mount) => (mount.mountPoint.length >= best.mountPoint.length ? mount : best));
    if (!nearest.isShared) await mounts.share(this.#root);
  }

  async #addPlugins(): Promise<void> {
    const { clock, host } = this.#options;
    this.#plugins.set("hostPath", hostPathPlugin);
    this.#plugins.set("emptyDir", emptyDirPlugin(host?.mounts));
    this.#plugins.set("local", localPlugin({ root: this.#root, ...(host !== undefined && { host }) }));
    if (host !== undefined) this.#plugins.set("nfs", nfsPlugin(host.mounts));
    const csi = new CsiPlugin({ root: this.#root, clock, drivers: this.#drivers, inUse: this.inUse });
    await csi.start();
    this.#plugins.set("csi", csi);
    this.#plugins.set("image", imagePlugin(this.#options.images));
    for (const kind of ["configMap", "secret", "downwardAPI", "projected"] as const) this.#plugins.set(kind, payloadPlugin(kind, clock));
  }

  #pluginOf({ volume, persistent }: ResolvedVolume): VolumePlugin {
    const source: object = persistent?.spec ?? volume;
    const name = payloadKind(volume) ?? (["csi", "emptyDir", "hostPath", "image", "local", "nfs"] as const).find((member) => member in source);
    const plugin = name === undefined ? undefined : this.#plugins.get(name);
    if (plugin === undefined) throw new VolumeError("no volume plugin matched", { operation: "MountVolume.FindPluginBySpec" });
    return plugin;
  }

  #directory(podUid: string, { volume, specName }: ResolvedVolume, { folder }: VolumePlugin): string {
    const isSecret = volume.secret !== undefined || volume.projected !== undefined;
    return isSecret ? join(this.#root, "memory", podUid, folder, specName) : join(this.#root, "pods", podUid, "volumes", folder, specName);
  }

  /** Data of volumes that are still mounted must not be removed with the folder they are mounted in. */
  async #remove(root: string): Promise<void> {
    await this.#mounts?.unmountBelow(root);
    const left = (await this.#mounts?.list())?.find(({ mountPoint }) => mountPoint === root || mountPoint.startsWith(`${root}/`));
    if (left !== undefined) throw new Error(`${left.mountPoint} is still mounted`);
    await rm(root, { recursive: true, force: true });
  }
}

/** Documentation page "Configure a Pod to Use a PersistentVolume for Storage", access control. */
function groupOf({ persistent }: ResolvedVolume): { groupId?: number } {
  const text = persistent?.metadata.annotations?.["pv.beta.kubernetes.io/gid"];
  return text === undefined || !/^\d{1,10}$/.test(text) ? {} : { groupId: Number(text) };
}

/**
 * Volumes of CSI drivers: waits for the attachment where one is needed, has the volume staged once for the node and published for each
 * pod, and undoes both. Per volume one step at a time. What is published lies on disk (`volume-data.ts`), so that any kubelet can undo it.
 */
import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import { isNotFound } from "../../../apimachinery/status.ts";
import type { CSIDriver } from "../../../api/storage-v1/types.ts";
import type { Clock } from "../../../base/clock.ts";
import { resources } from "../../../client/index.ts";
import type { SetUpRequest, VolumePlugin } from "../plugins/volume-plugin.ts";
import { KeyedLock } from "../keyed-lock.ts";
import { removeMountPoint } from "../mount-points.ts";
import { giveToGroup } from "../ownership.ts";
import { NotAttachedError, VolumeError } from "../volume.ts";
import type { ReadyVolume } from "../volume.ts";
import type { FilesystemLevel } from "../../stats/usage.ts";
import type { VolumesInUse } from "../volumes-in-use.ts";
import type { CsiDriver, StageRequest } from "./csi-driver.ts";
import type { CsiDrivers } from "./csi-drivers.ts";
import { expandVolume } from "./expand.ts";
import { inlineHandle, isGivenToGroup, lifecycleFault, podContext, volumeCapability } from "./requests.ts";
import { readSecret, serviceAccountTokens } from "./secrets.ts";
import { podVolumeData, readVolumeData, saveVolumeData, uniqueName, volumeFolder } from "./volume-data.ts";
import type { VolumeData } from "./volume-data.ts";

export interface CsiPluginOptions {
  readonly root: string;
  readonly clock: Clock;
  readonly drivers: CsiDrivers;
  readonly inUse: VolumesInUse;
}

export class CsiPlugin implements VolumePlugin {
  readonly folder = volumeFolder;
  readonly #options: CsiPluginOptions;
  readonly #locks = new KeyedLock();
  /** Directories of volumes published by this process. */
  readonly #published = new Set<string>();
  readonly #staged = new Set<string>();

  constructor(options: CsiPluginOptions) {
    this.#options = options;
  }

  /** Remembers which attached volumes an earlier kubelet's pods use. */
  async start(): Promise<void> {
    for (const { podUid, data } of await podVolumeData(this.#options.root)) {
      if (data.attachmentID !== undefined) this.#options.inUse.add(uniqueName(data), podUid);
    }
  }

  async setUp(request: SetUpRequest, signal: AbortSignal): Promise<ReadyVolume> {
    const { pod, resolved, sources } = request;
    const source = resolved.persistent?.spec?.csi;
    const driverName = source?.driver ?? resolved.volume.csi?.driver ?? "";
    const data: VolumeData = {
      driverName,
      volumeHandle: source?.volumeHandle ?? inlineHandle(pod.metadata.uid ?? "", resolved.specName),
      specVolID: resolved.specName,
      nodeName: pod.spec?.nodeName ?? "",
      volumeLifecycleMode: source === undefined ? "Ephemeral" : "Persistent",
    };
    const object = await sources.client.get(resources.csiDrivers, "", driverName, { signal }).catch(unlessNotFound);
    const fault = lifecycleFault(driverName, object, source === undefined);
    if (fault !== undefined) throw new VolumeError(`kubernetes.io/csi: mounter.SetUpAt failed to check volume lifecycle mode: ${fault}`);
    return this.#locks.run(uniqueName(data), () => this.#setUp({ request, data, object }, signal));
  }

  async tearDown({ podUid, directory }: { podUid: string; directory: string }): Promise<void> {
    const data = await readVolumeData(directory);
    if (data === undefined) return;
    await this.#locks.run(uniqueName(data), async () => {
      const driver = this.#driver(data.driverName, "MountVolume.TearDown", "Unmounter.TearDownAt failed to get CSI client");
      await driver.unpublish(data.volumeHandle, targetPath(directory));
      this.#published.delete(directory);
      await removeMountPoint(targetPath(directory));
      const others = (await podVolumeData(this.#options.root)).filter((other) => other.podUid !== podUid && uniqueName(other.data) === uniqueName(data));
      if (others.length === 0 && data.volumeLifecycleMode !== "Ephemeral") await this.#unstage(driver, data);
      await rm(directory, { recursive: true, force: true });
    });
  }

  /** Undefined when the driver does not tell. */
  async filesystem(directory: string): Promise<FilesystemLevel | undefined> {
    const data = await readVolumeData(directory);
    const driver = data === undefined ? undefined : this.#options.drivers.find(data.driverName);
    if (data === undefined || driver === undefined || !(await driver.can("GET_VOLUME_STATS"))) return undefined;
    const usage = await driver.stats({
      volume_id: data.volumeHandle,
      volume_path: targetPath(directory),
      staging_target_path: join(stagingDirectory(this.#options.root, data), "globalmount"),
    });
    const of = (unit: "BYTES" | "INODES") => usage.find((entry) => entry.unit === unit) ?? { available: 0, total: 0, used: 0 };
    const bytes = of("BYTES");
    return {
      capacityBytes: bytes.total,
      availableBytes: bytes.available,
      usedBytes: bytes.used,
      inodes: of("INODES").total,
      inodesFree: of("INODES").available,
    };
  }

  async #setUp(volume: Volume, signal: AbortSignal): Promise<ReadyVolume> {
    const { request, data, object } = volume;
    const { resolved, directory } = request;
    const publishContext = await this.#attachment(volume, signal);
    const isPersistent = resolved.persistent !== undefined;
    const driver = isPersistent
      ? this.#driver(
          data.driverName,
          resolved.isBlock ? "MapVolume.SetUpDevice" : "MountVolume.MountDevice",
          "attacher.MountDevice failed to create newCsiDriverClient",
        )
      : this.#driver(data.driverName, "MountVolume.SetUp", "mounter.SetUpAt failed to get CSI client");
    const base = await this.#stageRequest(volume, driver, publishContext, signal);
    const staging = isPersistent && (await driver.can("STAGE_UNSTAGE_VOLUME", signal)) ? stagingDirectory(this.#options.root, data) : undefined;
    if (staging !== undefined) await this.#stage(driver, data, { ...base, staging_target_path: join(staging, "globalmount") }, signal);
    const renewAtMs = await this.#publish({ ...volume, driver, base, staging }, signal);
    const canExpand = isPersistent && (await driver.can("EXPAND_VOLUME", signal));
    if (canExpand)
      await expandVolume(
        {
          ...request,
          driver,
          path: targetPath(directory),
          stagingPath: staging === undefined ? "" : join(staging, "globalmount"),
          capability: base.volume_capability,
        },
        signal,
      );
    const isLookedAt = canExpand || object?.spec.requiresRepublish === true;
    const refreshAtMs = Math.min(renewAtMs, isLookedAt ? this.#options.clock.nowMs() + lookAgainMs : Number.POSITIVE_INFINITY);
    const ready = { path: targetPath(directory), isReadOnly: resolved.isReadOnly, isBlock: resolved.isBlock };
    return Number.isFinite(refreshAtMs) ? { ...ready, refreshAtMs } : ready;
  }

  /** What the attacher tells the node; throws `NotAttachedError` until the node's status shows it. */
  async #attachment({ request, data, object }: Volume, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const { pod, resolved, sources } = request;
    if (resolved.persistent === undefined || object?.spec.attachRequired === false) return {};
    const name = uniqueName(data);
    this.#options.inUse.add(name, pod.metadata.uid ?? "");
    sources.followNode();
    const { volumesInUse = [], volumesAttached = [] } = sources.node()?.status ?? {};
    if (!volumesInUse.includes(name) || !volumesAttached.some((attached) => attached.name === name)) throw new NotAttachedError(`${name} is not attached yet`);
    const attachment = await sources.client.get(resources.volumeAttachments, "", attachmentName(data), { signal }).catch((error: unknown) => {
      throw new VolumeError(
        `kubernetes.io/csi: attacher.MountDevice failed while getting volume attachment [id=${attachmentName(data)}]: ${messageOf(error)}`,
        { operation: "MountVolume.MountDevice", cause: error },
      );
    });
    if (attachment.status?.attached !== true) throw new NotAttachedError(`${name} is not attached yet`);
    return attachment.status.attachmentMetadata ?? {};
  }

  async #stageRequest(
    { request, data }: Volume,
    driver: CsiDriver,
    publishContext: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<StageRequest> {
    const { pod, resolved, sources } = request;
    const source = resolved.persistent?.spec?.csi ?? resolved.volume.csi;
    const takesGroup = await driver.can("VOLUME_MOUNT_GROUP", signal);
    const capability = volumeCapability(resolved, {
      hasSingleNodeModes: await driver.can("SINGLE_NODE_MULTI_WRITER", signal),
      mountGroup: takesGroup ? pod.spec?.securityContext?.fsGroup : undefined,
    });
    return {
      volume_id: data.volumeHandle,
      publish_context: publishContext,
      staging_target_path: "",
      volume_capability: capability,
      secrets: await readSecret(resolved.persistent?.spec?.csi?.nodeStageSecretRef, sources.client, signal),
      volume_context: source?.volumeAttributes ?? {},
    };
  }

  /** Once for all pods of the node. A driver must bear to be asked again. */
  async #stage(driver: CsiDriver, data: VolumeData, request: StageRequest, signal: AbortSignal): Promise<void> {
    const name = uniqueName(data);
    if (this.#staged.has(name)) return;
    await mkdir(request.staging_target_path, { recursive: true, mode: 0o750 });
    await saveVolumeData(stagingDirectory(this.#options.root, data), { driverName: data.driverName, volumeHandle: data.volumeHandle });
    const operation = request.volume_capability.block === undefined ? "MountVolume.MountDevice" : "MapVolume.SetUpDevice";
    await driver.stage(request, signal).catch(asOperation(operation));
    this.#staged.add(name);
  }

  async #unstage(driver: CsiDriver, data: VolumeData): Promise<void> {
    const staging = stagingDirectory(this.#options.root, data);
    if ((await readVolumeData(staging)) === undefined) return;
    if (await driver.can("STAGE_UNSTAGE_VOLUME")) await driver.unstage(data.volumeHandle, join(staging, "globalmount"));
    this.#staged.delete(uniqueName(data));
    await removeMountPoint(join(staging, "globalmount"));
    await rm(staging, { recursive: true, force: true });
  }

  /** Returns when it has to be done again. */
  async #publish({ request, data, object, driver, base, staging }: PublishVolume, signal: AbortSignal): Promise<number> {
    const { pod, resolved, directory, sources } = request;
    const tokens = await serviceAccountTokens(object, sources);
    const isKnown = this.#published.has(directory);
    if (isKnown && object?.spec.requiresRepublish !== true) return tokens.refreshAtMs;
    await mkdir(directory, { recursive: true, mode: 0o750 });
    const isAttached = resolved.persistent !== undefined && object?.spec.attachRequired !== false;
    await saveVolumeData(directory, { ...data, ...(isAttached && { attachmentID: attachmentName(data) }) });
    const inlineSecret = resolved.volume.csi?.nodePublishSecretRef;
    const reference =
      resolved.persistent?.spec?.csi?.nodePublishSecretRef ??
      (inlineSecret === undefined ? undefined : { ...inlineSecret, namespace: pod.metadata.namespace ?? "" });
    const context = { ...base.volume_context, ...podContext(pod, object, resolved.persistent === undefined), ...tokens.context };
    const publish = {
      ...base,
      staging_target_path: staging === undefined ? "" : join(staging, "globalmount"),
      target_path: targetPath(directory),
      readonly: resolved.isReadOnly,
      secrets: { ...(await readSecret(reference, sources.client, signal)), ...tokens.secrets },
      volume_context: context,
    };
    await driver.publish(publish, signal).catch(asOperation(resolved.isBlock ? "MapVolume.MapPodDevice" : "MountVolume.SetUp"));
    if (isKnown) return tokens.refreshAtMs;
    await this.#giveToGroup(request, object, driver, signal);
    this.#published.add(directory);
    return tokens.refreshAtMs;
  }

  async #giveToGroup(
    { pod, resolved, directory }: SetUpRequest,
    object: DeepReadonly<CSIDriver> | undefined,
    driver: CsiDriver,
    signal: AbortSignal,
  ): Promise<void> {
    const { fsGroup: group, fsGroupChangePolicy } = pod.spec?.securityContext ?? {};
    if (group === undefined || resolved.isBlock || !isGivenToGroup(resolved, object) || (await driver.can("VOLUME_MOUNT_GROUP", signal))) return;
    await giveToGroup(targetPath(directory), { group, isReadOnly: false, isOnRootMismatch: fsGroupChangePolicy === "OnRootMismatch" }).catch(
      (error: unknown) => {
        throw new VolumeError(`applyFSGroup failed for vol ${resolved.specName}: ${messageOf(error)}`, { cause: error });
      },
    );
  }

  #driver(name: string, operation: string, what: string): CsiDriver {
    const driver = this.#options.drivers.find(name);
    if (driver !== undefined) return driver;
    throw new VolumeError(`kubernetes.io/csi: ${what}: driver name ${name} not found in the list of registered CSI drivers`, {
      operation,
      eventReason: eventReasonOf(operation),
    });
  }
}

interface Volume {
  readonly request: SetUpRequest;
  readonly data: VolumeData;
  readonly object: DeepReadonly<CSIDriver> | undefined;
}
interface PublishVolume extends Volume {
  readonly driver: CsiDriver;
  readonly base: StageRequest;
  readonly staging: string | undefined;
}

/** Drivers that want to be asked again are, and claims looked at, as often as the kubelet looks at its pods. */
const lookAgainMs = 60_000;

const targetPath = (directory: string) => join(directory, "mount");

function stagingDirectory(root: string, { driverName, volumeHandle }: VolumeData): string {
  return join(root, "plugins/kubernetes.io/csi", driverName, createHash("sha256").update(volumeHandle).digest("hex"));
}

/** As the attach-detach controller names it. */
function attachmentName({ volumeHandle, driverName, nodeName = "" }: VolumeData): string {
  return `csi-${createHash("sha256").update(`${volumeHandle}${driverName}${nodeName}`).digest("hex")}`;
}

const eventReasonOf = (operation: string) => (operation.startsWith("MapVolume") ? "FailedMapVolume" : "FailedMount");

function asOperation(operation: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof VolumeError)) throw error;
    throw new VolumeError(error.message, { operation, eventReason: eventReasonOf(operation), cause: error });
  };
}

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

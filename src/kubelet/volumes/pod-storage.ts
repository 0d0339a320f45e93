/** Where pods' files are: on disk (`disk-storage.ts`), or nowhere (`no-storage.ts`, simulated nodes). */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";
import type { Client, EventText, ObjectReference } from "../../client/index.ts";
import type { PluginHandler } from "../plugins/plugin-watcher.ts";
import type { FilesystemLevel } from "../stats/usage.ts";
import type { PayloadSources } from "./payload.ts";
import type { ReadyVolume, ResolvedVolume } from "./volume.ts";
import type { VolumesInUse } from "./volumes-in-use.ts";

export interface PodStorage {
  /** Makes the volumes ready; what is ready already stays as it is, or is brought up to date. */
  setUp(pod: DeepReadonly<Pod>, volumes: readonly ResolvedVolume[], sources: VolumeSources, signal: AbortSignal): Promise<VolumeSetUp>;
  /** A volume that `setUp` has made ready. */
  ready(podUid: string, volumeName: string): ReadyVolume | undefined;
  /** The text of a file in a ready volume, at most `limitBytes`; undefined when there is none. Throws when it is larger, no file, or outside. */
  readVolumeFile(request: {
    readonly podUid: string;
    readonly volumeName: string;
    readonly path: string;
    readonly limitBytes: number;
  }): Promise<string | undefined>;
  /** What a ready volume of a claim has and how full it is; undefined when nobody can tell. */
  filesystem(podUid: string, volumeName: string): Promise<FilesystemLevel | undefined>;
  /** Mounts the image, which is there, that a ready volume is made of. */
  mountImage(podUid: string, volumeName: string, imageName: string): Promise<void>;
  /** The path of a part of a ready volume, which is made when it is missing. Throws a `VolumeError` that is the container's fault. */
  subPath(request: SubPathRequest): Promise<string>;
  /** Writes a file of the pod's own (hosts, last words); its path, or undefined where there are no files. */
  writeFile(podUid: string, name: string, data: string, mode: number): Promise<string | undefined>;
  /** The text of a file on this machine, at most `limitBytes` from its end; empty when it cannot be read. */
  readEnd(path: string, limitBytes: number): Promise<string>;
  /** Takes down and removes everything of the pod; throws, with all data still there, when something cannot be unmounted. */
  tearDown(podUid: string): Promise<void>;
  /** Attached volumes that pods here use, for the node's status. */
  readonly inUse: VolumesInUse;
  /** Where drivers announce themselves; undefined where there can be none. */
  plugins(node: { readonly client: Client; readonly nodeName: string }): NodePlugins | undefined;
  /** Pods that have something here. */
  podUids(): Promise<string[]>;
  removeLogs(directory: string): Promise<void>;
  /** The names in a directory of logs; none when it is missing. */
  logNames(directory: string): Promise<string[]>;
}

/** What volumes are made from. */
export interface VolumeSources extends PayloadSources {
  /** The node as the server has it. */
  node(): DeepReadonly<Node> | undefined;
  /** From now on `node` shows what the server has this moment. */
  followNode(): void;
  tell(regarding: ObjectReference, event: EventText): void;
  readonly client: Client;
}

export interface NodePlugins {
  readonly directory: string;
  readonly handlers: ReadonlyMap<string, PluginHandler>;
  /** Tells the API that this node takes drivers. */
  announce(signal: AbortSignal): Promise<void>;
}

export interface VolumeSetUp {
  readonly faults: readonly VolumeFault[];
  readonly refreshAtMs?: number;
}

export interface VolumeFault {
  /** In the pod. */
  readonly volume: string;
  /** Absent while it is only waited for. */
  readonly event?: { readonly reason: string; readonly message: string };
  readonly isUnattached?: boolean;
}

export interface SubPathRequest {
  readonly podUid: string;
  readonly volumeName: string;
  readonly containerName: string;
  /** Among the container's mounts. */
  readonly index: number;
  readonly subPath: string;
}

/** A CSI driver's node service (Container Storage Interface 1.x). Every failure is a `VolumeError` with the text `rpc error: …`. */
import type { MessageFacts } from "../../../apimachinery/protobuf/messages.ts";
import type { Clock } from "../../../base/clock.ts";
import { RuntimeError } from "../../runtime/cri.ts";
import { GrpcConnection } from "../../runtime/containerd/grpc.ts";
import type { GrpcService } from "../../runtime/containerd/grpc.ts";
import { VolumeError } from "../volume.ts";
import tables from "./data/csi-v1.json" with { type: "json" };

export type NodeCapability = "STAGE_UNSTAGE_VOLUME" | "GET_VOLUME_STATS" | "EXPAND_VOLUME" | "SINGLE_NODE_MULTI_WRITER" | "VOLUME_MOUNT_GROUP";
export type AccessMode =
  | "SINGLE_NODE_WRITER"
  | "SINGLE_NODE_READER_ONLY"
  | "MULTI_NODE_READER_ONLY"
  | "MULTI_NODE_SINGLE_WRITER"
  | "MULTI_NODE_MULTI_WRITER"
  | "SINGLE_NODE_SINGLE_WRITER"
  | "SINGLE_NODE_MULTI_WRITER";
export interface VolumeCapability {
  readonly block?: object;
  readonly mount?: { readonly fs_type: string; readonly mount_flags: readonly string[]; readonly volume_mount_group?: string };
  readonly access_mode: { readonly mode: AccessMode };
}
type Attributes = Readonly<Record<string, string>>;

export interface StageRequest {
  readonly volume_id: string;
  readonly publish_context: Attributes;
  readonly staging_target_path: string;
  readonly volume_capability: VolumeCapability;
  readonly secrets: Attributes;
  readonly volume_context: Attributes;
}
export interface PublishRequest extends StageRequest {
  readonly target_path: string;
  readonly readonly: boolean;
}
export interface ExpandRequest {
  readonly volume_id: string;
  readonly volume_path: string;
  readonly capacity_range: { readonly required_bytes: number };
  readonly staging_target_path: string;
  readonly volume_capability: VolumeCapability;
  readonly secrets: Attributes;
}
export interface NodeInfo {
  readonly node_id: string;
  /** 0: no limit. */
  readonly max_volumes_per_node: number;
  readonly accessible_topology?: { readonly segments: Attributes };
}
export interface VolumeUsage {
  readonly available: number;
  readonly total: number;
  readonly used: number;
  readonly unit: "BYTES" | "INODES" | "UNKNOWN";
}

export class CsiDriver {
  readonly name: string;
  readonly #connection: GrpcConnection;
  readonly #node: GrpcService;
  #capabilities: Promise<ReadonlySet<NodeCapability>> | undefined;

  constructor(options: { name: string; endpoint: string; clock: Clock }) {
    this.name = options.name;
    this.#connection = new GrpcConnection({ socketPath: options.endpoint, clock: options.clock });
    this.#node = this.#connection.service("csi.v1.Node", tables as unknown as MessageFacts);
  }

  async can(capability: NodeCapability, signal?: AbortSignal): Promise<boolean> {
    this.#capabilities ??= this.#call("NodeGetCapabilities", {}, signal).then(
      ({ capabilities }) => new Set((capabilities as { rpc?: { type: NodeCapability } }[]).flatMap(({ rpc }) => rpc?.type ?? [])),
    );
    try {
      return (await this.#capabilities).has(capability);
    } catch (error) {
      this.#capabilities = undefined;
      throw error;
    }
  }

  async info(signal?: AbortSignal): Promise<NodeInfo> {
    return (await this.#call("NodeGetInfo", {}, signal)) as unknown as NodeInfo;
  }

  async stage(request: StageRequest, signal?: AbortSignal): Promise<void> {
    await this.#call("NodeStageVolume", request, signal);
  }

  async unstage(volumeId: string, stagingPath: string): Promise<void> {
    await this.#call("NodeUnstageVolume", { volume_id: volumeId, staging_target_path: stagingPath });
  }

  async publish(request: PublishRequest, signal?: AbortSignal): Promise<void> {
    await this.#call("NodePublishVolume", request, signal);
  }

  async unpublish(volumeId: string, targetPath: string): Promise<void> {
    await this.#call("NodeUnpublishVolume", { volume_id: volumeId, target_path: targetPath });
  }

  async expand(request: ExpandRequest, signal?: AbortSignal): Promise<void> {
    await this.#call("NodeExpandVolume", request, signal);
  }

  async stats(request: { volume_id: string; volume_path: string; staging_target_path: string }, signal?: AbortSignal): Promise<readonly VolumeUsage[]> {
    return (await this.#call("NodeGetVolumeStats", request, signal))["usage"] as VolumeUsage[];
  }

  close(): void {
    this.#connection.close();
  }

  async #call(method: string, request: object, signal?: AbortSignal): Promise<Record<string, unknown>> {
    try {
      return await this.#node.call(method, request, { signal });
    } catch (error) {
      throw error instanceof RuntimeError ? new VolumeError(error.rpcMessage, { cause: error }) : error;
    }
  }
}

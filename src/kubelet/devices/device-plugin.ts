/** One device plugin as the kubelet calls it: its devices as they change, and what it takes to use them (kubelet API `deviceplugin/v1beta1`). */
import type { MessageFacts } from "../../apimachinery/protobuf/messages.ts";
import type { Clock } from "../../base/clock.ts";
import { noAdditions } from "../managers/container-additions.ts";
import type { ContainerAdditions } from "../managers/container-additions.ts";
import { GrpcConnection } from "../runtime/containerd/grpc.ts";
import type { GrpcService } from "../runtime/containerd/grpc.ts";
import tables from "./data/device-plugin-v1beta1.json" with { type: "json" };
import type { Device } from "./device-choice.ts";

export const devicePluginTables = tables as unknown as MessageFacts;

export interface DevicePluginOptions {
  readonly needsPreStart: boolean;
  readonly prefers: boolean;
}

export class DevicePlugin {
  readonly options: DevicePluginOptions;
  readonly #connection: GrpcConnection;
  readonly #service: GrpcService;

  constructor(parts: { socketPath: string; clock: Clock; options: DevicePluginOptions }) {
    this.options = parts.options;
    this.#connection = new GrpcConnection({ socketPath: parts.socketPath, clock: parts.clock });
    this.#service = this.#connection.service("v1beta1.DevicePlugin", devicePluginTables);
  }

  /** Each list whole; ends when the plugin does, throws when the connection breaks. */
  async *devices(signal: AbortSignal): AsyncGenerator<readonly Device[]> {
    for await (const message of this.#service.subscribe("ListAndWatch", { message: "Empty", value: {} }, "ListAndWatchResponse", signal)) {
      yield (message["devices"] as RawDevice[]).map(({ ID, health, topology }) => ({
        id: ID,
        isHealthy: health === "Healthy",
        numaNodes: (topology?.nodes ?? []).map(({ ID: node }) => node),
      }));
    }
  }

  /** What the plugin would choose; undefined when it has no wish. */
  async preferred(available: readonly string[], count: number, signal: AbortSignal): Promise<readonly string[] | undefined> {
    if (!this.options.prefers) return undefined;
    const request = { container_requests: [{ available_deviceIDs: available, must_include_deviceIDs: [], allocation_size: count }] };
    const { container_responses } = (await this.#service.call("GetPreferredAllocation", request, {
      signal,
      messages: ["PreferredAllocationRequest", "PreferredAllocationResponse"],
    })) as { container_responses: { deviceIDs: string[] }[] };
    const ids = container_responses[0]?.deviceIDs ?? [];
    return ids.length === count && ids.every((id) => available.includes(id)) ? ids : undefined;
  }

  async allocate(ids: readonly string[], signal: AbortSignal): Promise<ContainerAdditions> {
    const { container_responses } = (await this.#service.call("Allocate", { container_requests: [{ devices_ids: ids }] }, { signal })) as {
      container_responses: RawAllocation[];
    };
    const [response] = container_responses;
    if (response === undefined) throw new Error("the plugin answered for no container");
    return {
      ...noAdditions,
      envs: response.envs,
      annotations: response.annotations,
      devices: response.devices,
      mounts: response.mounts.map(({ container_path, host_path, read_only }) => ({ container_path, host_path, readonly: read_only })),
      cdiDevices: response.cdi_devices.map(({ name }) => name),
    };
  }

  async preStart(ids: readonly string[], signal: AbortSignal): Promise<void> {
    if (this.options.needsPreStart) await this.#service.call("PreStartContainer", { devices_ids: ids }, { signal });
  }

  close(): void {
    this.#connection.close();
  }
}

type RawDevice = { readonly ID: string; readonly health: string; readonly topology?: { readonly nodes: readonly { readonly ID: number }[] } };
type RawAllocation = {
  readonly envs: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly devices: ContainerAdditions["devices"];
  readonly mounts: readonly { readonly container_path: string; readonly host_path: string; readonly read_only: boolean }[];
  readonly cdi_devices: readonly { readonly name: string }[];
};

/**
 * The devices of the node: plugins register on a socket and tell their devices; pods get some of them when they are admitted, and what it
 * takes to use them before their containers are made. Driven by `run` and the pods' workers; owns the devices and who has which.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { TaskGroup } from "../../base/task-group.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, ResourceStatus } from "../../api/core-v1/types.ts";
import { joinAdditions } from "../managers/container-additions.ts";
import type { ContainerAdditions } from "../managers/container-additions.ts";
import { StateFile } from "../managers/state-file.ts";
import { serveGrpc } from "../plugins/grpc-server.ts";
import type { Rejection } from "../pod-sync/node-context.ts";
import { RuntimeError } from "../runtime/cri.ts";
import { chooseDevices } from "./device-choice.ts";
import type { Device, DeviceAllocation } from "./device-choice.ts";
import { DevicePlugin, devicePluginTables } from "./device-plugin.ts";

export class DeviceManager {
  readonly #options: DeviceManagerOptions;
  readonly #file: StateFile<DeviceState>;
  readonly #devices = new Map<string, readonly Device[]>();
  readonly #plugins = new Map<string, DevicePlugin>();
  readonly #pods = new Map<string, PodDevices>();
  readonly #serving = Promise.withResolvers<void>();
  /** Devices without a plugin are forgotten after a while. */
  readonly #forgetting = new Map<string, () => void>();

  constructor(options: DeviceManagerOptions) {
    const { directory, log } = options;
    this.#options = options;
    this.#file = new StateFile({ path: directory === undefined ? undefined : join(directory, "kubelet_internal_checkpoint"), log });
  }

  /** Reads who had which device. */
  async load(): Promise<void> {
    for (const [uid, devices] of Object.entries((await this.#file.read())?.pods ?? {})) this.#pods.set(uid, devices);
  }

  /** Resolves when registrations are taken. */
  get serving(): Promise<void> {
    return this.#serving.promise;
  }

  /** Takes registrations until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { directory, log } = this.#options;
    if (directory === undefined) return;
    // Plugins see by this that they are to register again.
    for (const name of await readdir(directory).catch(() => [])) if (name.endsWith(".sock")) await rm(join(directory, name), { force: true });
    const group = new TaskGroup({ parent: signal, onFailure: (name, error) => log.error("A device plugin's task failed", { name, error }) });
    const answer = async (request: Record<string, unknown>) => {
      this.#register(request as unknown as Registration, group);
      return {};
    };
    try {
      await using _server = await serveGrpc(join(directory, "kubelet.sock"), "v1beta1.Registration", devicePluginTables, {
        Register: { messages: ["RegisterRequest", "Empty"], answer },
      });
      this.#serving.resolve();
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    } finally {
      await group.close();
      for (const cancel of this.#forgetting.values()) cancel();
      await this.#file.settled();
    }
  }

  /** Devices by resource: all of them, and those in health. */
  resources(): { readonly capacity: Record<string, string>; readonly allocatable: Record<string, string> } {
    const count = (select: (devices: readonly Device[]) => number) =>
      Object.fromEntries([...this.#devices].map(([resource, devices]) => [resource, String(select(devices))]));
    return { capacity: count(({ length }) => length), allocatable: count((devices) => devices.filter(({ isHealthy }) => isHealthy).length) };
  }

  /** Sets devices aside for a pod. */
  admit(pod: DeepReadonly<Pod>): Rejection | undefined {
    const uid = pod.metadata.uid ?? "";
    if (this.#pods.has(uid)) return undefined;
    const answer = chooseDevices({ pod, devices: this.#devices, taken: this.#taken() });
    if (answer.outcome === "refused") return unexpected(answer.message);
    if (Object.keys(answer.allocation).length === 0) return undefined;
    this.#pods.set(uid, { allocation: answer.allocation, additions: {} });
    this.#save();
    return undefined;
  }

  /** Whether the pod has devices. */
  has(podUid: string): boolean {
    return this.#pods.has(podUid);
  }

  /** Asks the plugins what it takes to use the pod's devices. */
  async prepare(pod: DeepReadonly<Pod>, signal: AbortSignal): Promise<Rejection | undefined> {
    const uid = pod.metadata.uid ?? "";
    const own = this.#pods.get(uid);
    if (own === undefined) return undefined;
    let { allocation } = own;
    try {
      const additions: Record<string, ContainerAdditions> = { ...own.additions };
      for (const [container, byResource] of Object.entries(own.allocation)) {
        if (additions[container] !== undefined) continue;
        const chosen = Object.fromEntries(
          await Promise.all(Object.entries(byResource).map(async ([resource, ids]) => [resource, await this.#preferred(resource, ids, signal)] as const)),
        );
        allocation = { ...allocation, [container]: chosen };
        this.#pods.set(uid, { allocation, additions });
        additions[container] = joinAdditions(
          await Promise.all(Object.entries(chosen).map(([resource, ids]) => this.#pluginOf(resource).allocate(ids, signal))),
        );
      }
      this.#pods.set(uid, { allocation, additions });
      this.#save();
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      return unexpected(error instanceof RuntimeError ? error.rpcMessage : (error as Error).message);
    }
  }

  /** Before each start of a container: plugins may have to make its devices ready. */
  async preStart(podUid: string, container: string, signal: AbortSignal): Promise<void> {
    for (const [resource, ids] of Object.entries(this.#pods.get(podUid)?.allocation[container] ?? {})) await this.#plugins.get(resource)?.preStart(ids, signal);
  }

  additions(podUid: string, container: string): ContainerAdditions | undefined {
    return this.#pods.get(podUid)?.additions[container];
  }

  /** How a container's devices are. */
  health(podUid: string, container: string): ResourceStatus[] {
    return Object.entries(this.#pods.get(podUid)?.allocation[container] ?? {}).map(([name, ids]) => ({
      name,
      resources: ids.map((resourceID) => {
        const device = this.#devices.get(name)?.find(({ id }) => id === resourceID);
        return { resourceID, health: device === undefined ? "Unknown" : device.isHealthy ? "Healthy" : "Unhealthy" };
      }),
    }));
  }

  release(podUid: string): void {
    if (this.#pods.delete(podUid)) this.#save();
  }

  #register({ version, endpoint, resource_name: resource, options }: Registration, group: TaskGroup): void {
    const { directory, clock, log } = this.#options;
    if (version !== "v1beta1") throw new Error(`requested API version ${JSON.stringify(version)} is not supported by kubelet. Supported version is "v1beta1"`);
    if (!/^[a-z0-9.-]+\/[A-Za-z0-9_.-]+$/.test(resource) || /(?:^|\.)kubernetes\.io\//.test(resource))
      throw new Error(`the ResourceName ${JSON.stringify(resource)} is invalid`);
    if (endpoint.includes("/")) throw new Error(`the endpoint ${JSON.stringify(endpoint)} is no name of a socket`);
    const plugin = new DevicePlugin({
      socketPath: join(directory!, endpoint),
      clock,
      options: { needsPreStart: options?.pre_start_required === true, prefers: options?.get_preferred_allocation_available === true },
    });
    log.info("A device plugin registered", { resource, endpoint });
    group.start(`devices ${resource}`, (signal) => this.#follow(resource, plugin, signal));
  }

  async #follow(resource: string, plugin: DevicePlugin, signal: AbortSignal): Promise<void> {
    const { log, onChange } = this.#options;
    this.#plugins.get(resource)?.close();
    this.#plugins.set(resource, plugin);
    this.#forgetting.get(resource)?.();
    this.#forgetting.delete(resource);
    try {
      for await (const devices of plugin.devices(signal)) {
        if (this.#plugins.get(resource) !== plugin) return;
        this.#devices.set(resource, devices);
        onChange();
      }
    } catch (error) {
      if (!signal.aborted) log.warn("A device plugin went away", { resource, error });
    } finally {
      plugin.close();
      if (this.#plugins.get(resource) === plugin) this.#lose(resource, signal.aborted);
    }
  }

  /** Its devices count as ill, and are forgotten when no plugin comes for them. */
  #lose(resource: string, isStopping: boolean): void {
    const { clock, onChange } = this.#options;
    this.#plugins.delete(resource);
    if (isStopping) return;
    this.#devices.set(
      resource,
      (this.#devices.get(resource) ?? []).map((device) => ({ ...device, isHealthy: false })),
    );
    onChange();
    this.#forgetting.set(
      resource,
      clock.after(forgetMs, () => {
        this.#forgetting.delete(resource);
        // The node goes on to tell that there is none.
        this.#devices.set(resource, []);
        onChange();
      }),
    );
  }

  #taken(): Map<string, Set<string>> {
    const taken = new Map<string, Set<string>>();
    for (const { allocation } of this.#pods.values()) {
      for (const byResource of Object.values(allocation)) {
        for (const [resource, ids] of Object.entries(byResource)) taken.set(resource, new Set([...(taken.get(resource) ?? []), ...ids]));
      }
    }
    return taken;
  }

  /** The plugin's own choice among what is free and what was chosen, if it has one. */
  async #preferred(resource: string, chosen: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const free = () =>
      (this.#devices.get(resource) ?? [])
        .filter(({ id, isHealthy }) => chosen.includes(id) || (isHealthy && !(this.#taken().get(resource)?.has(id) ?? false)))
        .map(({ id }) => id);
    const wish = await this.#pluginOf(resource).preferred(free(), chosen.length, signal);
    // Others may have been served meanwhile.
    return wish !== undefined && wish.every((id) => free().includes(id)) ? wish : chosen;
  }

  #pluginOf(resource: string): DevicePlugin {
    const plugin = this.#plugins.get(resource);
    if (plugin === undefined) throw new Error(`no device plugin for ${resource} is there`);
    return plugin;
  }

  #save(): void {
    this.#file.write({ pods: Object.fromEntries(this.#pods) });
  }
}

export interface DeviceManagerOptions {
  /** Where plugins register, and their sockets are; absent on nodes that have no devices. */
  readonly directory?: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Capacity or health is another. */
  onChange(): void;
}

interface PodDevices {
  readonly allocation: DeviceAllocation;
  /** By container; only once the plugins were asked. */
  readonly additions: Readonly<Record<string, ContainerAdditions>>;
}
interface DeviceState {
  readonly pods: Readonly<Record<string, PodDevices>>;
}

type Registration = {
  readonly version: string;
  readonly endpoint: string;
  readonly resource_name: string;
  readonly options?: { readonly pre_start_required: boolean; readonly get_preferred_allocation_available: boolean };
};

const forgetMs = 300_000;

function unexpected(message: string): Rejection {
  return { reason: "UnexpectedAdmissionError", message: `Allocate failed due to ${message}, which is unexpected` };
}

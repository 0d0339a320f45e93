/**
 * What a runtime of our own knows about its sandboxes and containers, and how it shows them in CRI's terms. No I/O.
 * Records are changed by the runtime that owns them; ids and (name, attempt) pairs are unique; a container's sandbox always exists.
 */
import { join } from "node:path";
import type { Random } from "../../../base/random.ts";
import { runtimeLabels } from "../../pod-sync/runtime-names.ts";
import { RuntimeError } from "../cri.ts";
import type {
  Container,
  ContainerConfig,
  ContainerFilter,
  ContainerState,
  ContainerStats,
  ContainerStatus,
  PodSandbox,
  PodSandboxConfig,
  PodSandboxFilter,
  PodSandboxState,
  PodSandboxStats,
  PodSandboxStatus,
} from "../cri-messages.ts";

export interface SandboxRecord {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAtMs: number;
  state: PodSandboxState;
  /** Empty on the node's network. */
  address: string;
}

export interface ContainerRecord {
  readonly id: string;
  readonly podSandboxId: string;
  readonly config: ContainerConfig;
  readonly imageRef: string;
  readonly createdAtMs: number;
  state: ContainerState;
  startedAtMs: number;
  finishedAtMs: number;
  exitCode: number;
  reason: string;
  message: string;
  resources: NonNullable<ContainerConfig["linux"]>["resources"];
}

/** How a container came to its end. */
export type ContainerEnd = { readonly exitCode: number; readonly reason: string; readonly message: string; readonly finishedAtMs: number };

export class RuntimeRecords {
  readonly #sandboxes = new Map<string, SandboxRecord>();
  readonly #containers = new Map<string, ContainerRecord>();
  readonly #sandboxesByPod = new RecordsByPod<SandboxRecord>();
  readonly #containersByPod = new RecordsByPod<ContainerRecord>();
  readonly #containersBySandbox = new Map<string, Set<ContainerRecord>>();
  readonly #names = new Map<string, string>();

  get sandboxes(): IterableIterator<SandboxRecord> {
    return this.#sandboxes.values();
  }

  addSandbox(record: SandboxRecord): void {
    this.#reserve("sandbox", sandboxName(record.config), record.id);
    this.#sandboxes.set(record.id, record);
    this.#sandboxesByPod.add(record);
    this.#containersBySandbox.set(record.id, new Set());
  }

  addContainer(record: ContainerRecord): void {
    const sandbox = this.sandbox(record.podSandboxId);
    this.#reserve("container", containerName(record.config, sandbox.config), record.id);
    this.#containers.set(record.id, record);
    this.#containersByPod.add(record);
    this.#containersBySandbox.get(sandbox.id)!.add(record);
  }

  /** Throws `NotFound`. */
  sandbox(id: string): SandboxRecord {
    const record = this.#sandboxes.get(id);
    if (record === undefined) throw new RuntimeError("NotFound", `an error occurred when try to find sandbox "${id}": not found`);
    return record;
  }

  /** Throws `NotFound`. */
  container(id: string): ContainerRecord {
    const record = this.#containers.get(id);
    if (record === undefined) throw new RuntimeError("NotFound", `an error occurred when try to find container "${id}": not found`);
    return record;
  }

  findSandbox(id: string): SandboxRecord | undefined {
    return this.#sandboxes.get(id);
  }

  findContainer(id: string): ContainerRecord | undefined {
    return this.#containers.get(id);
  }

  containersOf(sandboxId: string): ContainerRecord[] {
    return [...(this.#containersBySandbox.get(sandboxId) ?? [])];
  }

  removeContainer(record: ContainerRecord): void {
    this.#containers.delete(record.id);
    this.#containersByPod.remove(record);
    this.#containersBySandbox.get(record.podSandboxId)?.delete(record);
    const sandbox = this.#sandboxes.get(record.podSandboxId);
    if (sandbox !== undefined) this.#names.delete(`container ${containerName(record.config, sandbox.config)}`);
  }

  removeSandbox(record: SandboxRecord): void {
    this.#sandboxes.delete(record.id);
    this.#sandboxesByPod.remove(record);
    this.#containersBySandbox.delete(record.id);
    this.#names.delete(`sandbox ${sandboxName(record.config)}`);
  }

  listSandboxes(filter: PodSandboxFilter = {}): PodSandbox[] {
    const candidates =
      filter.id === undefined || filter.id === ""
        ? (this.#sandboxesByPod.selected(filter.label_selector) ?? this.#sandboxes.values())
        : [this.#sandboxes.get(filter.id)].filter((found) => found !== undefined);
    const matches = (record: SandboxRecord) =>
      (filter.state === undefined || record.state === filter.state.state) && hasLabels(record.config.labels, filter.label_selector);
    return Array.from(candidates).filter(matches).map(showSandbox);
  }

  listContainers(filter: ContainerFilter = {}): Container[] {
    return this.#filterContainers(filter).map(showContainer);
  }

  matchingContainers(filter: ContainerFilter = {}): ContainerRecord[] {
    return this.#filterContainers(filter);
  }

  #filterContainers(filter: ContainerFilter): ContainerRecord[] {
    const isSet = (text: string | undefined) => text !== undefined && text !== "";
    const candidates = isSet(filter.id)
      ? [this.#containers.get(filter.id!)].filter((found) => found !== undefined)
      : isSet(filter.pod_sandbox_id)
        ? this.containersOf(filter.pod_sandbox_id!)
        : (this.#containersByPod.selected(filter.label_selector) ?? this.#containers.values());
    return Array.from(candidates).filter(
      (record) =>
        (!isSet(filter.pod_sandbox_id) || record.podSandboxId === filter.pod_sandbox_id) &&
        (filter.state === undefined || record.state === filter.state.state) &&
        hasLabels(record.config.labels, filter.label_selector),
    );
  }

  #reserve(what: "sandbox" | "container", name: string, id: string): void {
    const owner = this.#names.get(`${what} ${name}`);
    if (owner !== undefined) throw new RuntimeError("Unknown", `failed to reserve ${what} name "${name}": name "${name}" is reserved for "${owner}"`);
    this.#names.set(`${what} ${name}`, id);
  }
}

export function newSandboxRecord(options: { random: Random; config: PodSandboxConfig; runtimeHandler: string; nowMs: number }): SandboxRecord {
  const { config, runtimeHandler, nowMs } = options;
  return { id: newId(options.random), config, runtimeHandler, createdAtMs: nowMs, state: "SANDBOX_NOTREADY", address: "" };
}

export function newContainerRecord(options: {
  random: Random;
  podSandboxId: string;
  config: ContainerConfig;
  imageRef: string;
  nowMs: number;
}): ContainerRecord {
  const { podSandboxId, config, imageRef, nowMs } = options;
  return {
    id: newId(options.random),
    podSandboxId,
    config,
    imageRef,
    createdAtMs: nowMs,
    state: "CONTAINER_CREATED",
    startedAtMs: 0,
    finishedAtMs: 0,
    exitCode: 0,
    reason: "",
    message: "",
    resources: config.linux?.resources,
  };
}

export function endContainer(record: ContainerRecord, end: ContainerEnd): void {
  record.state = "CONTAINER_EXITED";
  Object.assign(record, end);
}

/** As containerd says it. */
export function endReason(exitCode: number): string {
  return exitCode === 0 ? "Completed" : "Error";
}

export function showSandbox(record: SandboxRecord): PodSandbox {
  const { labels = {}, annotations = {}, metadata } = record.config;
  return { id: record.id, metadata, state: record.state, created_at: record.createdAtMs * 1e6, labels, annotations, runtime_handler: record.runtimeHandler };
}

export function showSandboxStatus(record: SandboxRecord): PodSandboxStatus {
  const options = record.config.linux?.security_context?.namespace_options ?? {};
  return { ...showSandbox(record), network: { ip: record.address, additional_ips: [] }, linux: { namespaces: { options } } };
}

export function showContainer(record: ContainerRecord): Container {
  const { metadata, image, labels = {}, annotations = {} } = record.config;
  return {
    id: record.id,
    pod_sandbox_id: record.podSandboxId,
    metadata,
    image,
    image_ref: record.imageRef,
    image_id: record.imageRef,
    state: record.state,
    created_at: record.createdAtMs * 1e6,
    labels,
    annotations,
  };
}

export function showContainerStatus(record: ContainerRecord, sandbox: SandboxRecord): ContainerStatus {
  const { id, metadata, state, created_at, image, image_ref, image_id, labels, annotations } = showContainer(record);
  return {
    id,
    metadata,
    state,
    created_at,
    image,
    image_ref,
    image_id,
    labels,
    annotations,
    started_at: record.startedAtMs * 1e6,
    finished_at: record.finishedAtMs * 1e6,
    exit_code: record.exitCode,
    reason: record.reason,
    message: record.message,
    mounts: record.config.mounts ?? [],
    log_path: logPath(record.config, sandbox.config),
    ...(record.resources === undefined ? {} : { resources: { linux: record.resources } }),
  };
}

export function showSandboxStats(record: SandboxRecord, containers: readonly ContainerStats[], nowMs: number): PodSandboxStats {
  const { id, metadata, labels, annotations } = showSandbox(record);
  const sum = (read: (stats: ContainerStats) => number | undefined) => ({ value: containers.reduce((total, stats) => total + (read(stats) ?? 0), 0) });
  const timestamp = nowMs * 1e6;
  return {
    attributes: { id, metadata, labels, annotations },
    linux: {
      cpu: {
        timestamp,
        usage_core_nano_seconds: sum((stats) => stats.cpu?.usage_core_nano_seconds?.value),
        usage_nano_cores: sum((stats) => stats.cpu?.usage_nano_cores?.value),
      },
      memory: {
        timestamp,
        working_set_bytes: sum((stats) => stats.memory?.working_set_bytes?.value),
        rss_bytes: sum((stats) => stats.memory?.rss_bytes?.value),
      },
      containers,
    },
  };
}

/** "" when no log is kept. */
export function logPath(config: ContainerConfig, sandbox: PodSandboxConfig): string {
  const { log_path = "" } = config;
  const { log_directory = "" } = sandbox;
  return log_path === "" || log_directory === "" ? "" : join(log_directory, log_path);
}

export function newId(random: Random): string {
  return Buffer.from(random.bytes(32)).toString("hex");
}

/** Pods on the node's network have no address of their own. */
export function isHostNetwork(config: PodSandboxConfig): boolean {
  return config.linux?.security_context?.namespace_options?.network === "NODE";
}

function sandboxName({ metadata }: PodSandboxConfig): string {
  return `${metadata.name}_${metadata.namespace}_${metadata.uid}_${metadata.attempt}`;
}

function containerName({ metadata }: ContainerConfig, { metadata: pod }: PodSandboxConfig): string {
  return `${metadata.name}_${pod.name}_${pod.namespace}_${pod.uid}_${metadata.attempt}`;
}

/** Records by the pod that their labels name: what a kubelet asks for most. */
class RecordsByPod<T extends SandboxRecord | ContainerRecord> {
  readonly #byUid = new Map<string, Set<T>>();

  add(record: T): void {
    const uid = record.config.labels?.[runtimeLabels.podUid] ?? "";
    const records = this.#byUid.get(uid);
    if (records === undefined) this.#byUid.set(uid, new Set([record]));
    else records.add(record);
  }

  remove(record: T): void {
    const uid = record.config.labels?.[runtimeLabels.podUid] ?? "";
    const records = this.#byUid.get(uid);
    records?.delete(record);
    if (records?.size === 0) this.#byUid.delete(uid);
  }

  /** Those that a selector can match; undefined when it names no pod. */
  selected(selector: Readonly<Record<string, string>> = {}): Iterable<T> | undefined {
    const uid = selector[runtimeLabels.podUid];
    return uid === undefined ? undefined : (this.#byUid.get(uid) ?? []);
  }
}

function hasLabels(labels: Readonly<Record<string, string>> = {}, wanted: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

/**
 * The runtime `simulated`: containers that are only records and timers, for whole clusters on a virtual clock. They start after a short
 * delay and run until stopped, unless annotations of the pod say otherwise (`simulated-rules.ts`). No I/O: no logs, no traffic.
 * Invariant: a running container has a timer only if a rule ends it; a container that has ended has none.
 */
import { createHash } from "node:crypto";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { parseImageName } from "../images/image-name.ts";
import { AddressPool } from "./records/address-pool.ts";
import { RuntimeError } from "./cri.ts";
import type { ContainerRuntime, CreateContainerRequest, PullImageRequest, RunPodSandboxRequest, StreamingResult, StreamingSession } from "./cri.ts";
import type { ContainerStats, Image, ImageSpec, RuntimeStatus } from "./cri-messages.ts";
import { EventFeed } from "./records/event-feed.ts";
import {
  RuntimeRecords,
  endContainer,
  endReason,
  isHostNetwork,
  newContainerRecord,
  newSandboxRecord,
  showContainer,
  showContainerStatus,
  showSandboxStats,
  showSandboxStatus,
} from "./records/runtime-records.ts";
import type { ContainerEnd, ContainerRecord } from "./records/runtime-records.ts";
import { defaultMemoryBytes, ruleFor, ruleNumber, ruleTimeMs } from "./simulated-rules.ts";
import type { Rule, RuleName } from "./simulated-rules.ts";

export interface SimulatedOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Where pods' addresses come from; nodes that share a cluster need ranges of their own. Default 10.244.0.0/16. */
  readonly podCidr?: string;
  /** Time for a sandbox, and for a container's start. Default 20 ms each. */
  readonly startDelayMs?: number;
  /** Time for a pull. Default 100 ms. */
  readonly pullDelayMs?: number;
}

export function createSimulatedRuntime(options: SimulatedOptions): ContainerRuntime {
  const runtime = new SimulatedRuntime(options);
  const { records } = runtime;
  const statsOf = (record: ContainerRecord) => runtime.stats(record);
  return {
    hasNetwork: false,
    version: async () => ({ version: "0.1.0", runtime_name: "simulated", runtime_version: "1.0.0", runtime_api_version: "v1" }),
    status: async () => readyStatus,
    runPodSandbox: (request, signal) => runtime.runPodSandbox(request, signal),
    stopPodSandbox: async (id) => runtime.stopPodSandbox(id),
    removePodSandbox: async (id) => runtime.removePodSandbox(id),
    listPodSandbox: async (filter) => records.listSandboxes(filter),
    podSandboxStatus: async (id) => showSandboxStatus(records.sandbox(id)),
    createContainer: async (request) => runtime.createContainer(request),
    startContainer: (id, signal) => runtime.startContainer(id, signal),
    stopContainer: (id, timeoutSeconds, signal) => runtime.stopContainer(id, timeoutSeconds, signal),
    removeContainer: async (id) => runtime.removeContainer(id),
    listContainers: async (filter) => records.listContainers(filter),
    containerStatus: async (id) => {
      const record = records.container(id);
      return showContainerStatus(record, records.sandbox(record.podSandboxId));
    },
    updateContainerResources: async (id, resources) => {
      const record = records.container(id);
      record.resources = { ...record.resources, ...resources };
    },
    reopenContainerLog: async () => {},
    execSync: async ({ container_id }) => {
      const rule = runtime.ruleOf("exec", runtime.runningContainer(container_id));
      return { stdout: Buffer.from(rule?.["output"] ?? ""), stderr: Buffer.alloc(0), exit_code: ruleNumber(rule, "code", 0) };
    },
    openExec: async ({ container_id, cmd }) => {
      const rule = runtime.ruleOf("exec", runtime.runningContainer(container_id));
      return session(Promise.resolve(execResult(cmd, ruleNumber(rule, "code", 0))), rule?.["output"] ?? "");
    },
    openAttach: async ({ container_id }) =>
      session(
        runtime.ended(runtime.runningContainer(container_id)).then(() => ({ outcome: "success" })),
        "",
      ),
    openPortForward: async () => {
      throw new RuntimeError("Unimplemented", "simulated pods have no network");
    },
    containerStats: async (id) => statsOf(records.container(id)),
    listContainerStats: async (filter) => records.matchingContainers(filter).map(statsOf),
    podSandboxStats: async (id) => showSandboxStats(records.sandbox(id), records.containersOf(id).map(statsOf), options.clock.nowMs()),
    listPodSandboxStats: async (filter) =>
      records.listSandboxes(filter).map(({ id }) => showSandboxStats(records.sandbox(id), records.containersOf(id).map(statsOf), options.clock.nowMs())),
    events: (signal) => runtime.feed.listen(signal),
    listImages: async (filter) => runtime.listImages(filter?.image),
    imageStatus: async (image) => runtime.listImages(image)[0],
    pullImage: (request, signal) => runtime.pullImage(request, signal),
    removeImage: async ({ image }) => void runtime.images.delete(fullName(image)),
    imageFsInfo: async () => ({
      image_filesystems: [{ timestamp: options.clock.nowMs() * 1e6, fs_id: { mountpoint: "/" }, used_bytes: { value: 0 }, inodes_used: { value: 0 } }],
      container_filesystems: [],
    }),
    close: async () => runtime.close(),
  };
}

class SimulatedRuntime {
  readonly records = new RuntimeRecords();
  readonly feed = new EventFeed();
  readonly images = new Map<string, Image>();
  readonly #options: SimulatedOptions;
  readonly #addresses: AddressPool;
  readonly #timers = new Map<string, () => void>();
  readonly #waiters = new Map<string, (() => void)[]>();
  readonly #pulls = new Map<string, number>();

  constructor(options: SimulatedOptions) {
    this.#options = options;
    this.#addresses = new AddressPool(options.podCidr ?? "10.244.0.0/16");
  }

  async runPodSandbox({ config, runtime_handler = "" }: RunPodSandboxRequest, signal?: AbortSignal): Promise<string> {
    const { clock, random } = this.#options;
    const record = newSandboxRecord({ random, config, runtimeHandler: runtime_handler, nowMs: clock.nowMs() });
    this.records.addSandbox(record);
    try {
      await sleep(clock, this.#options.startDelayMs ?? 20, signal);
      if (!isHostNetwork(config)) record.address = this.#takeAddress(record.id);
    } catch (error) {
      this.records.removeSandbox(record);
      throw error;
    }
    record.state = "SANDBOX_READY";
    this.feed.emitSandbox("CONTAINER_STARTED", record);
    return record.id;
  }

  stopPodSandbox(id: string): void {
    const sandbox = this.records.findSandbox(id);
    if (sandbox === undefined) return;
    for (const record of this.records.containersOf(id)) this.#end(record, this.#killed());
    if (sandbox.state === "SANDBOX_NOTREADY") return;
    sandbox.state = "SANDBOX_NOTREADY";
    this.#addresses.release(sandbox.address);
    sandbox.address = "";
    this.feed.emitSandbox("CONTAINER_STOPPED", sandbox);
  }

  removePodSandbox(id: string): void {
    const sandbox = this.records.findSandbox(id);
    if (sandbox === undefined) return;
    this.stopPodSandbox(id);
    for (const record of this.records.containersOf(id)) this.removeContainer(record.id);
    this.records.removeSandbox(sandbox);
    this.feed.emitSandbox("CONTAINER_DELETED", sandbox);
  }

  createContainer({ pod_sandbox_id, config }: CreateContainerRequest): string {
    const sandbox = this.records.sandbox(pod_sandbox_id);
    const image = this.images.get(fullName(config.image.image)) ?? [...this.images.values()].find(({ id }) => id === config.image.image);
    if (image === undefined) throw new RuntimeError("NotFound", `failed to resolve image "${config.image.image}": not found`);
    const { clock, random } = this.#options;
    const record = newContainerRecord({ random, podSandboxId: pod_sandbox_id, config, imageRef: image.id, nowMs: clock.nowMs() });
    this.records.addContainer(record);
    this.feed.emitContainer("CONTAINER_CREATED", record, sandbox);
    return record.id;
  }

  async startContainer(id: string, signal?: AbortSignal): Promise<void> {
    const record = this.records.container(id);
    if (record.state !== "CONTAINER_CREATED") throw new RuntimeError("Unknown", `container is in ${record.state} state`);
    const { clock } = this.#options;
    const rule = this.ruleOf("start", record);
    await sleep(clock, ruleTimeMs(rule, "after", this.#options.startDelayMs ?? 20), signal);
    const sandbox = this.records.sandbox(record.podSandboxId);
    if (record.state !== "CONTAINER_CREATED") return; // killed meanwhile
    const error = rule?.["error"];
    if (error !== undefined) {
      endContainer(record, { exitCode: 128, reason: "StartError", message: error, finishedAtMs: clock.nowMs() });
      throw new RuntimeError("Unknown", error);
    }
    record.state = "CONTAINER_RUNNING";
    record.startedAtMs = clock.nowMs();
    this.feed.emitContainer("CONTAINER_STARTED", record, sandbox);
    this.#scheduleExit(record);
  }

  async stopContainer(id: string, timeoutSeconds: number, signal?: AbortSignal): Promise<void> {
    const record = this.records.findContainer(id);
    if (record?.state !== "CONTAINER_RUNNING") return;
    const rule = this.ruleOf("stop", record);
    const afterMs = ruleTimeMs(rule, "after", 0);
    const isInTime = timeoutSeconds > 0 && afterMs <= timeoutSeconds * 1000;
    const end = () => this.#end(record, isInTime ? this.#exit(ruleNumber(rule, "code", 0)) : this.#killed());
    const waitMs = isInTime ? afterMs : timeoutSeconds * 1000;
    if (waitMs === 0) return end();
    this.#after(record, waitMs, end);
    const aborted = new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
    await Promise.race([this.ended(record), ...(signal === undefined ? [] : [aborted])]);
  }

  removeContainer(id: string): void {
    const record = this.records.findContainer(id);
    if (record === undefined) return;
    if (record.state === "CONTAINER_RUNNING") this.#end(record, this.#killed());
    const sandbox = this.records.sandbox(record.podSandboxId);
    this.records.removeContainer(record);
    this.feed.emitContainer("CONTAINER_DELETED", record, sandbox);
  }

  async pullImage({ image, sandbox_config }: PullImageRequest, signal?: AbortSignal): Promise<string> {
    const name = fullName(image.image);
    const rule = ruleFor("pull", sandbox_config?.annotations);
    const pulls = (this.#pulls.get(name) ?? 0) + 1;
    this.#pulls.set(name, pulls);
    await sleep(this.#options.clock, ruleTimeMs(rule, "after", this.#options.pullDelayMs ?? 100), signal);
    const error = rule?.["error"];
    if (error !== undefined && pulls <= ruleNumber(rule, "times", Number.POSITIVE_INFINITY)) throw new RuntimeError("Unknown", error);
    const digest = createHash("sha256").update(name).digest("hex");
    const repository = name.includes("@") ? name.slice(0, name.indexOf("@")) : name.slice(0, name.lastIndexOf(":"));
    const tags = name.includes("@") ? [] : [name];
    this.images.set(name, {
      id: `sha256:${digest}`,
      repo_tags: tags,
      repo_digests: [`${repository}@sha256:${digest}`],
      size: 1_000_000,
      username: "",
      pinned: false,
    });
    return `sha256:${digest}`;
  }

  listImages(wanted?: ImageSpec): Image[] {
    const images = [...this.images.values()];
    if (wanted === undefined || wanted.image === "") return images;
    const found = this.images.get(fullName(wanted.image));
    return found === undefined ? images.filter(({ id }) => id === wanted.image) : [found];
  }

  stats(record: ContainerRecord): ContainerStats {
    const nowMs = this.#options.clock.nowMs();
    const timestamp = nowMs * 1e6;
    const { id, metadata, labels, annotations } = showContainer(record);
    const rule = this.ruleOf("usage", record);
    const isRunning = record.state === "CONTAINER_RUNNING";
    const nanoCores = isRunning ? ruleNumber(rule, "cpu-millis", 1) * 1e6 : 0;
    const memoryBytes = isRunning ? ruleNumber(rule, "memory-bytes", defaultMemoryBytes) : 0;
    const ranMs = record.startedAtMs === 0 ? 0 : (isRunning ? nowMs : record.finishedAtMs) - record.startedAtMs;
    return {
      attributes: { id, metadata, labels, annotations },
      cpu: { timestamp, usage_core_nano_seconds: { value: Math.round((nanoCores * ranMs) / 1000) }, usage_nano_cores: { value: nanoCores } },
      memory: { timestamp, working_set_bytes: { value: memoryBytes }, usage_bytes: { value: memoryBytes }, rss_bytes: { value: memoryBytes } },
    };
  }

  ruleOf(name: RuleName, record: ContainerRecord): Rule | undefined {
    return ruleFor(name, this.records.findSandbox(record.podSandboxId)?.config.annotations, record.config.metadata.name);
  }

  runningContainer(id: string): ContainerRecord {
    const record = this.records.container(id);
    if (record.state !== "CONTAINER_RUNNING") throw new RuntimeError("Unknown", `container is in ${record.state} state`);
    return record;
  }

  /** Resolves when the container has ended. */
  ended(record: ContainerRecord): Promise<void> {
    if (record.state !== "CONTAINER_RUNNING") return Promise.resolve();
    return new Promise((resolve) => this.#waiters.set(record.id, [...(this.#waiters.get(record.id) ?? []), resolve]));
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #scheduleExit(record: ContainerRecord): void {
    const rule = this.ruleOf("exit", record);
    if (rule === undefined || record.config.metadata.attempt >= ruleNumber(rule, "times", Number.POSITIVE_INFINITY)) return;
    const exitCode = ruleNumber(rule, "code", 0);
    this.#after(record, ruleTimeMs(rule, "after", 0), () =>
      this.#end(record, { ...this.#exit(exitCode), ...(rule["reason"] === undefined ? {} : { reason: rule["reason"] }), message: rule["message"] ?? "" }),
    );
  }

  /** One timer per container: the earlier of its own end and its stop. */
  #after(record: ContainerRecord, delayMs: number, callback: () => void): void {
    const earlier = this.#timers.get(record.id);
    const cancel = this.#options.clock.after(delayMs, callback);
    this.#timers.set(record.id, () => {
      earlier?.();
      cancel();
    });
  }

  #end(record: ContainerRecord, end: ContainerEnd): void {
    if (record.state !== "CONTAINER_RUNNING") return;
    this.#timers.get(record.id)?.();
    this.#timers.delete(record.id);
    endContainer(record, end);
    this.feed.emitContainer("CONTAINER_STOPPED", record, this.records.sandbox(record.podSandboxId));
    for (const wake of this.#waiters.get(record.id) ?? []) wake();
    this.#waiters.delete(record.id);
  }

  #exit(exitCode: number): ContainerEnd {
    return { exitCode, reason: endReason(exitCode), message: "", finishedAtMs: this.#options.clock.nowMs() };
  }

  #killed(): ContainerEnd {
    return this.#exit(137);
  }

  #takeAddress(sandboxId: string): string {
    const address = this.#addresses.take();
    if (address === undefined) throw new RuntimeError("Unknown", `failed to setup network for sandbox "${sandboxId}": no IP addresses available`);
    return address;
  }
}

const readyStatus: RuntimeStatus = {
  conditions: [
    { type: "RuntimeReady", status: true, reason: "", message: "" },
    { type: "NetworkReady", status: true, reason: "", message: "" },
  ],
  runtime_handlers: [],
};

function execResult(cmd: readonly string[], exitCode: number): StreamingResult {
  if (exitCode === 0) return { outcome: "success" };
  return {
    outcome: "exited",
    exitCode,
    message: `command terminated with non-zero exit code: error executing command [${cmd.join(" ")}], exit code ${exitCode}`,
  };
}

function session(done: Promise<StreamingResult>, output: string): StreamingSession {
  const stdout = async function* () {
    if (output !== "") yield Buffer.from(output);
  };
  const stderr = async function* () {};
  return { stdout: stdout(), stderr: stderr(), write: async () => {}, endInput: () => {}, resize: () => {}, done, close: () => {} };
}

function fullName(image: string): string {
  const parsed = parseImageName(image);
  return parsed.isValid ? parsed.fullName : image;
}

/**
 * Sandboxes and containers of the runtime `process`: records, files, supervisors. A sandbox is READY while its supervisor is connected.
 * Driven by CRI calls and by what supervisors tell. Invariant: a record is changed, and its event emitted, in one turn.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { deadline, sleep } from "../../../base/clock.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Random } from "../../../base/random.ts";
import { readProcess } from "../../../host/processes.ts";
import { programPath } from "../../../host/programs.ts";
import type { Programs } from "../../../host/programs.ts";
import { RuntimeError } from "../cri.ts";
import type { CreateContainerRequest, RunPodSandboxRequest } from "../cri.ts";
import { AddressPool } from "../records/address-pool.ts";
import { EventFeed } from "../records/event-feed.ts";
import { endContainer, endReason, isHostNetwork, logPath, newContainerRecord, newSandboxRecord, RuntimeRecords } from "../records/runtime-records.ts";
import type { ContainerRecord, SandboxRecord } from "../records/runtime-records.ts";
import type { PodFiles, SavedContainer, SavedSandbox } from "./pod-files.ts";
import { commandLine, findExecutable } from "./programs-of-images.ts";
import type { LocalProgram } from "./programs-of-images.ts";
import { SupervisorClient } from "./supervisor-client.ts";
import type { ProgramEnd } from "./supervisor-client.ts";
import { onTerminal } from "./terminal.ts";

export interface ProcessPodsOptions {
  readonly programs: Programs;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files: PodFiles;
  readonly socketDirectory: string;
  readonly addressRange: string;
  readonly nodePath: string;
  /** PATH of the containers' programs. */
  readonly path: string;
  readonly supervisorPath: string;
  programOf(imageRef: string): LocalProgram | undefined;
}

export class ProcessPods {
  readonly records = new RuntimeRecords();
  readonly feed = new EventFeed();
  readonly #options: ProcessPodsOptions;
  readonly #addresses: AddressPool;
  readonly #supervisors = new Map<string, SupervisorClient>();
  readonly #pids = new Map<string, number>();
  readonly #earlyEnds = new Map<string, ProgramEnd>();
  readonly #waiters = new Map<string, Set<() => void>>();

  constructor(options: ProcessPodsOptions) {
    this.#options = options;
    this.#addresses = new AddressPool(options.addressRange, options.random);
  }

  /** Finds what earlier runtimes left. */
  async adopt(): Promise<void> {
    for (const saved of await this.#options.files.readSandboxes()) await this.#adoptSandbox(saved);
  }

  async runPodSandbox({ config, runtime_handler = "" }: RunPodSandboxRequest, signal?: AbortSignal): Promise<string> {
    const { clock, random, files } = this.#options;
    const record = newSandboxRecord({ random, config, runtimeHandler: runtime_handler, nowMs: clock.nowMs() });
    this.records.addSandbox(record);
    try {
      if (!isHostNetwork(config)) record.address = this.#takeAddress();
      const { id, runtimeHandler, createdAtMs, address } = record;
      await files.saveSandbox({ id, config, runtimeHandler, createdAtMs, address });
      await this.#startSupervisor(record, signal);
    } catch (error) {
      this.records.removeSandbox(record);
      this.#addresses.release(record.address);
      await files.removeSandbox(record.id);
      throw error;
    }
    record.state = "SANDBOX_READY";
    this.feed.emitSandbox("CONTAINER_STARTED", record);
    return record.id;
  }

  async stopPodSandbox(id: string): Promise<void> {
    const sandbox = this.records.findSandbox(id);
    if (sandbox === undefined) return;
    await Promise.all(this.records.containersOf(id).map((record) => this.stopContainer(record.id, 0)));
    const supervisor = this.#supervisors.get(id);
    this.#loseSandbox(sandbox);
    await supervisor?.end();
    this.#addresses.release(sandbox.address);
  }

  async removePodSandbox(id: string): Promise<void> {
    const sandbox = this.records.findSandbox(id);
    if (sandbox === undefined) return;
    await this.stopPodSandbox(id);
    for (const record of this.records.containersOf(id)) await this.removeContainer(record.id);
    await this.#options.files.removeSandbox(id);
    await rm(this.#socketPath(id), { force: true });
    if (this.records.findSandbox(id) === undefined) return;
    this.records.removeSandbox(sandbox);
    this.feed.emitSandbox("CONTAINER_DELETED", sandbox);
  }

  async createContainer({ pod_sandbox_id, config }: CreateContainerRequest, imageRef: string): Promise<string> {
    const sandbox = this.records.sandbox(pod_sandbox_id);
    const { clock, random, files } = this.#options;
    const record = newContainerRecord({ random, podSandboxId: pod_sandbox_id, config, imageRef, nowMs: clock.nowMs() });
    if (commandLine(config, this.#options.programOf(imageRef)).length === 0)
      throw new RuntimeError("Unknown", `failed to generate container "${record.id}" spec: no command specified`);
    this.records.addContainer(record);
    await files.saveContainer(pod_sandbox_id, { id: record.id, config, imageRef, createdAtMs: record.createdAtMs });
    this.feed.emitContainer("CONTAINER_CREATED", record, sandbox);
    return record.id;
  }

  async startContainer(id: string): Promise<void> {
    const record = this.records.container(id);
    if (record.state !== "CONTAINER_CREATED") throw new RuntimeError("Unknown", `container is in ${record.state} state`);
    const supervisor = this.#supervisors.get(record.podSandboxId);
    if (supervisor === undefined) throw new RuntimeError("Unknown", `sandbox container "${record.podSandboxId}" is not running`);
    const { config } = record;
    const { env, workingDirectory, directory } = this.environmentOf(record);
    const [command = "", ...args] = commandLine(config, this.#options.programOf(record.imageRef));
    const found = await findExecutable(command, env["PATH"] ?? "", workingDirectory);
    if ("error" in found) return this.#failStart(record, found.error);
    const program = [found.file, ...args];
    const started = await supervisor
      .start({
        id,
        command: config.tty === true ? onTerminal(program, join(directory, "terminal")) : program,
        env,
        workingDirectory,
        logPath: logPath(config, this.records.sandbox(record.podSandboxId).config),
        statePath: this.#options.files.statePath(record.podSandboxId, id),
        stdin: config.stdin === true,
        stdinOnce: config.stdin_once === true,
      })
      .catch((error: RuntimeError) => this.#failStart(record, `exec: "${command}": ${error.message}`));
    this.#pids.set(id, started.pid);
    record.state = "CONTAINER_RUNNING";
    record.startedAtMs = started.startedAtMs;
    const sandbox = this.records.findSandbox(record.podSandboxId);
    if (sandbox !== undefined) this.feed.emitContainer("CONTAINER_STARTED", record, sandbox);
    // A short program's end may have come in the same packet as the news of its start.
    const early = this.#earlyEnds.get(id);
    if (early !== undefined) this.#end(record, early);
  }

  async stopContainer(id: string, timeoutSeconds: number, signal?: AbortSignal): Promise<void> {
    const record = this.records.findContainer(id);
    if (record?.state !== "CONTAINER_RUNNING") return;
    const supervisor = this.#supervisors.get(record.podSandboxId);
    if (timeoutSeconds > 0) {
      const named = record.config.stop_signal ?? "RUNTIME_DEFAULT";
      await supervisor?.signal(id, named === "RUNTIME_DEFAULT" ? "SIGTERM" : named, false);
      if (await this.#endsWithin(record, timeoutSeconds * 1000, signal)) return;
    }
    await supervisor?.signal(id, "SIGKILL", true);
    if (!(await this.#endsWithin(record, 10_000, signal))) throw new RuntimeError("DeadlineExceeded", `container "${id}" did not end when killed`);
  }

  async removeContainer(id: string): Promise<void> {
    const record = this.records.findContainer(id);
    if (record === undefined) return;
    await this.stopContainer(id, 0);
    await this.#options.files.removeContainer(record.podSandboxId, id);
    if (this.records.findContainer(id) === undefined) return;
    const sandbox = this.records.sandbox(record.podSandboxId);
    this.records.removeContainer(record);
    this.#pids.delete(id);
    this.#earlyEnds.delete(id);
    this.feed.emitContainer("CONTAINER_DELETED", record, sandbox);
  }

  supervisorOf(record: ContainerRecord): SupervisorClient | undefined {
    return this.#supervisors.get(record.podSandboxId);
  }

  pidOf(id: string): number | undefined {
    return this.#pids.get(id);
  }

  runningContainer(id: string): ContainerRecord {
    const record = this.records.container(id);
    if (record.state !== "CONTAINER_RUNNING") throw new RuntimeError("Unknown", `container is in ${record.state} state`);
    return record;
  }

  /** Calls `callback` once when the container has ended; the returned function forgets it. */
  onEnd(record: ContainerRecord, callback: () => void): () => void {
    if (record.state !== "CONTAINER_RUNNING") {
      callback();
      return () => {};
    }
    const waiters = this.#waiters.get(record.id) ?? new Set();
    this.#waiters.set(record.id, waiters.add(callback));
    return () => waiters.delete(callback);
  }

  /** What the container's programs, its own and those run in it, see. */
  environmentOf(record: ContainerRecord): { env: Record<string, string>; workingDirectory: string; directory: string } {
    const sandbox = this.records.sandbox(record.podSandboxId);
    const directory = this.#options.files.containerDirectory(sandbox.id, record.id);
    const { hostname = "", metadata } = sandbox.config;
    const env: Record<string, string> = {
      PATH: this.#options.path,
      HOME: directory,
      SHELL: "/bin/sh",
      HOSTNAME: hostname === "" ? metadata.name : hostname,
      CORACLE_POD_IP: sandbox.address === "" ? "0.0.0.0" : sandbox.address,
      CORACLE_ROOT: join(directory, "root"),
      ...this.#options.programOf(record.imageRef)?.env,
    };
    for (const { key, value } of record.config.envs ?? []) env[key] = typeof value === "string" ? value : Buffer.from(value).toString("utf8");
    const { working_dir = "" } = record.config;
    return { env, workingDirectory: working_dir === "" ? directory : working_dir, directory };
  }

  /** Lets go of the supervisors; they and their programs go on. */
  close(): void {
    const supervisors = [...this.#supervisors.values()];
    this.#supervisors.clear();
    for (const supervisor of supervisors) supervisor.close();
  }

  async #startSupervisor(sandbox: SandboxRecord, signal?: AbortSignal): Promise<void> {
    const { programs, clock, nodePath, supervisorPath } = this.#options;
    const args = ["--max-old-space-size=32", supervisorPath, this.#socketPath(sandbox.id)];
    const { pid } = await programs.startDetached({ command: nodePath, args, env: {}, workingDirectory: "/" });
    const limit = deadline(clock, 15_000, ...(signal === undefined ? [] : [signal]));
    try {
      for (let delayMs = 5; !(await this.#connect(sandbox)); delayMs = Math.min(delayMs * 1.5, 100)) await sleep(clock, delayMs, limit.signal);
    } catch (cause) {
      process.kill(pid, "SIGKILL");
      if (signal?.aborted === true) throw cause;
      throw new RuntimeError("DeadlineExceeded", "the pod's supervisor did not start", { cause });
    } finally {
      limit.cancel();
    }
  }

  async #connect(sandbox: SandboxRecord): Promise<boolean> {
    const listener = {
      onEnded: (end: ProgramEnd) => this.#hearEnd(end),
      onClose: () => void (this.#supervisors.get(sandbox.id) === supervisor && this.#supervisorDied(sandbox)),
    };
    const supervisor = await SupervisorClient.connect(this.#socketPath(sandbox.id), listener).catch(() => undefined); // not yet, or no longer
    if (supervisor !== undefined) this.#supervisors.set(sandbox.id, supervisor);
    return supervisor !== undefined;
  }

  async #adoptSandbox(saved: SavedSandbox): Promise<void> {
    const record: SandboxRecord = { ...saved, state: "SANDBOX_NOTREADY" };
    this.records.addSandbox(record);
    this.#addresses.claim(record.address);
    if (await this.#connect(record)) record.state = "SANDBOX_READY";
    // Read after connecting: an end before is in the file, an end after is told.
    for (const container of await this.#options.files.readContainers(saved.id)) await this.#adoptContainer(record, container);
    this.#options.log.info("Adopted a pod", { pod: `${saved.config.metadata.namespace}/${saved.config.metadata.name}`, state: record.state });
  }

  async #adoptContainer(sandbox: SandboxRecord, saved: SavedContainer): Promise<void> {
    const { random } = this.#options;
    const fresh = newContainerRecord({ random, podSandboxId: sandbox.id, config: saved.config, imageRef: saved.imageRef, nowMs: saved.createdAtMs });
    const record: ContainerRecord = { ...fresh, id: saved.id };
    this.records.addContainer(record);
    const state = await this.#options.files.readState(sandbox.id, saved.id);
    if (state === undefined) return;
    record.startedAtMs = state.startedAtMs;
    if (state.state === "ended") {
      const { exitCode, finishedAtMs, startError } = state;
      endContainer(record, { exitCode, finishedAtMs, message: startError ?? "", reason: startError === undefined ? endReason(exitCode) : "StartError" });
      return;
    }
    record.state = "CONTAINER_RUNNING";
    this.#pids.set(record.id, state.pid);
    const early = this.#earlyEnds.get(record.id);
    if (early !== undefined) this.#end(record, early);
    else if (sandbox.state === "SANDBOX_NOTREADY") await this.#killOrphan(record, sandbox);
  }

  async #failStart(record: ContainerRecord, error: string): Promise<never> {
    const message = `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ${error}: unknown`;
    const finishedAtMs = this.#options.clock.nowMs();
    await this.#options.files.saveState(record.podSandboxId, record.id, { state: "ended", startedAtMs: 0, exitCode: 128, finishedAtMs, startError: message });
    endContainer(record, { exitCode: 128, reason: "StartError", message, finishedAtMs });
    throw new RuntimeError("Unknown", message);
  }

  #hearEnd(end: ProgramEnd): void {
    const record = this.records.findContainer(end.id);
    if (record?.state === "CONTAINER_RUNNING") this.#end(record, end);
    else this.#earlyEnds.set(end.id, end);
  }

  #end(record: ContainerRecord, { exitCode, finishedAtMs }: { exitCode: number; finishedAtMs: number }): void {
    if (record.state !== "CONTAINER_RUNNING") return;
    this.#earlyEnds.delete(record.id);
    endContainer(record, { exitCode, finishedAtMs, reason: endReason(exitCode), message: "" });
    const sandbox = this.records.findSandbox(record.podSandboxId);
    if (sandbox !== undefined) this.feed.emitContainer("CONTAINER_STOPPED", record, sandbox);
    for (const callback of this.#waiters.get(record.id) ?? []) callback();
    this.#waiters.delete(record.id);
  }

  #endsWithin(record: ContainerRecord, limitMs: number, signal?: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        cancel();
        forget();
        signal?.removeEventListener("abort", abort);
        settle();
      };
      const abort = () => finish(() => reject(signal?.reason));
      let forget = () => {};
      const cancel = this.#options.clock.after(limitMs, () => finish(() => resolve(false)));
      forget = this.onEnd(record, () => finish(() => resolve(true)));
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  #loseSandbox(sandbox: SandboxRecord): void {
    this.#supervisors.delete(sandbox.id);
    if (sandbox.state === "SANDBOX_NOTREADY") return;
    sandbox.state = "SANDBOX_NOTREADY";
    this.feed.emitSandbox("CONTAINER_STOPPED", sandbox);
  }

  #supervisorDied(sandbox: SandboxRecord): void {
    this.#options.log.warn("A pod's supervisor ended", { pod: `${sandbox.config.metadata.namespace}/${sandbox.config.metadata.name}` });
    this.#loseSandbox(sandbox);
    for (const record of this.records.containersOf(sandbox.id)) {
      if (record.state !== "CONTAINER_RUNNING") continue;
      this.#killOrphan(record, sandbox).catch((error: unknown) => this.#options.log.error("Could not kill a program without supervisor", { error }));
    }
  }

  /** Without a supervisor nobody would hear of the program's end. */
  async #killOrphan(record: ContainerRecord, sandbox: SandboxRecord): Promise<void> {
    const state = await this.#options.files.readState(sandbox.id, record.id);
    if (state?.state === "ended") return this.#end(record, state);
    const info = state === undefined ? undefined : await readProcess(state.pid);
    if (info !== undefined && info.startTicks === state?.startTicks) process.kill(-info.pid, "SIGKILL");
    const finishedAtMs = this.#options.clock.nowMs();
    await this.#options.files.saveState(sandbox.id, record.id, { state: "ended", startedAtMs: record.startedAtMs, exitCode: 137, finishedAtMs });
    this.#end(record, { exitCode: 137, finishedAtMs });
  }

  #takeAddress(): string {
    const address = this.#addresses.take();
    if (address === undefined) throw new RuntimeError("Unknown", `failed to setup network for sandbox: no addresses left in ${this.#options.addressRange}`);
    return address;
  }

  /** Sockets' paths have at most 107 bytes; sixteen digits of the id are enough to tell pods apart. */
  #socketPath(sandboxId: string): string {
    return join(this.#options.socketDirectory, `${sandboxId.slice(0, 16)}.sock`);
  }
}

export const defaultSupervisorPath = programPath(import.meta.url, "pod-supervisor-main");

/**
 * The runtime `process`: pods as local processes of an ordinary user. Nothing is isolated: a container is a program in a process group
 * of its own, a pod an address of its own on the loopback, an image the name of a program of this machine.
 * Each pod has a supervisor that outlives us; a runtime started later on the same directories finds pods and exit codes again.
 */
import { mkdir } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import { readProcessTree } from "../../host/processes.ts";
import type { Programs } from "../../host/programs.ts";
import { parseImageName } from "../images/image-name.ts";
import { imageHasCommandAnnotation, RuntimeError } from "./cri.ts";
import type { ContainerRuntime, PullImageRequest } from "./cri.ts";
import type { ContainerStats, Image, ImageSpec } from "./cri-messages.ts";
import { PodFiles } from "./process/pod-files.ts";
import { defaultSupervisorPath, ProcessPods } from "./process/process-pods.ts";
import { ProcessSessions } from "./process/process-sessions.ts";
import { builtinPrograms, imageOf } from "./process/programs-of-images.ts";
import type { LocalProgram } from "./process/programs-of-images.ts";
import { showContainer, showContainerStatus, showSandboxStats, showSandboxStatus } from "./records/runtime-records.ts";
import type { ContainerRecord } from "./records/runtime-records.ts";

export interface ProcessRuntimeOptions {
  readonly programs: Programs;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Pods' files, kept across restarts. */
  readonly stateDirectory: string;
  /** Supervisors' sockets: a short path of a directory of the user's own. */
  readonly socketDirectory: string;
  /** Where pods' addresses come from. Default 127.64.0.0/10. */
  readonly addressRange?: string;
  /** The Node that runs supervisors and our hello server. Default: ours. */
  readonly nodePath?: string;
  /** PATH of the containers. Default: ours. */
  readonly path?: string;
}

/** Resolves when the pods of earlier runtimes are adopted. */
export async function startProcessRuntime(options: ProcessRuntimeOptions): Promise<ContainerRuntime> {
  const files = new PodFiles(options.stateDirectory);
  await mkdir(options.socketDirectory, { recursive: true, mode: 0o700 });
  const nodePath = options.nodePath ?? process.execPath;
  const images = new LocalImages(builtinPrograms(nodePath), files);
  await images.load();
  const pods = new ProcessPods({
    ...options,
    files,
    nodePath,
    addressRange: options.addressRange ?? "127.64.0.0/10",
    path: options.path ?? process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    supervisorPath: defaultSupervisorPath,
    programOf: (imageRef) => images.programOf(imageRef),
  });
  await pods.adopt();
  return assemble(options, pods, images);
}

function assemble(options: ProcessRuntimeOptions, pods: ProcessPods, images: LocalImages): ContainerRuntime {
  const { records } = pods;
  const { clock } = options;
  const sessions = new ProcessSessions({ ...options, pods });
  const stats = new ProcessStats(clock, pods);
  const sandboxStats = async (id: string) =>
    showSandboxStats(records.sandbox(id), await Promise.all(records.containersOf(id).map((record) => stats.of(record))), clock.nowMs());
  return {
    hasNetwork: true,
    version: async () => ({ version: "0.1.0", runtime_name: "process", runtime_version: "1.0.0", runtime_api_version: "v1" }),
    status: async () => ({
      conditions: [
        { type: "RuntimeReady", status: true, reason: "", message: "" },
        { type: "NetworkReady", status: true, reason: "", message: "" },
      ],
      runtime_handlers: [],
    }),
    runPodSandbox: (request, signal) => pods.runPodSandbox(request, signal),
    stopPodSandbox: (id) => pods.stopPodSandbox(id),
    removePodSandbox: (id) => pods.removePodSandbox(id),
    listPodSandbox: async (filter) => records.listSandboxes(filter),
    podSandboxStatus: async (id) => showSandboxStatus(records.sandbox(id)),
    createContainer: async (request) => pods.createContainer(request, images.present(request.config.image).id),
    startContainer: (id) => pods.startContainer(id),
    stopContainer: (id, timeoutSeconds, signal) => pods.stopContainer(id, timeoutSeconds, signal),
    removeContainer: (id) => pods.removeContainer(id),
    listContainers: async (filter) => records.listContainers(filter),
    containerStatus: async (id) => {
      const record = records.container(id);
      return showContainerStatus(record, records.sandbox(record.podSandboxId));
    },
    updateContainerResources: async (id, resources) => {
      const record = records.container(id);
      record.resources = { ...record.resources, ...resources };
    },
    reopenContainerLog: async (id) => pods.supervisorOf(pods.runningContainer(id))?.reopenLog(id),
    execSync: (request, signal) => sessions.execSync(request, signal),
    openExec: (request) => sessions.openExec(request),
    openAttach: (request) => sessions.openAttach(request),
    openPortForward: async (id, port) => sessions.openPortForward(id, port),
    containerStats: (id) => stats.of(records.container(id)),
    listContainerStats: (filter) => Promise.all(records.matchingContainers(filter).map((record) => stats.of(record))),
    podSandboxStats: sandboxStats,
    listPodSandboxStats: (filter) => Promise.all(records.listSandboxes(filter).map(({ id }) => sandboxStats(id))),
    events: (signal) => pods.feed.listen(signal),
    listImages: async (filter) => images.list(filter?.image),
    imageStatus: async (image) => images.list(image)[0],
    pullImage: (request) => images.pull(request),
    removeImage: (image) => images.remove(image),
    imageFsInfo: async () => {
      const usage = { timestamp: clock.nowMs() * 1e6, fs_id: { mountpoint: options.stateDirectory }, used_bytes: { value: 0 }, inodes_used: { value: 0 } };
      return { image_filesystems: [usage], container_filesystems: [usage] };
    },
    close: async () => pods.close(),
  };
}

/** Images are names: those of programs we know, and those pulled for containers that bring a command of their own. */
class LocalImages {
  readonly #programs: ReadonlyMap<string, LocalProgram>;
  readonly #files: PodFiles;
  readonly #images = new Map<string, Image>();

  constructor(programs: ReadonlyMap<string, LocalProgram>, files: PodFiles) {
    this.#programs = programs;
    this.#files = files;
    for (const name of programs.keys()) this.#images.set(name, imageOf(name));
  }

  async load(): Promise<void> {
    for (const name of await this.#files.readImageNames()) this.#images.set(name, imageOf(name));
  }

  list(wanted?: ImageSpec): Image[] {
    const images = [...this.#images.values()];
    if (wanted === undefined || wanted.image === "") return images;
    const name = fullName(wanted.image);
    return images.filter(({ id, repo_tags }) => id === wanted.image || repo_tags.includes(name) || this.#images.get(name)?.id === id);
  }

  present(image: ImageSpec): Image {
    const [found] = this.list(image);
    if (found === undefined) throw new RuntimeError("NotFound", `failed to resolve image "${image.image}": not found`);
    return found;
  }

  programOf(imageRef: string): LocalProgram | undefined {
    for (const [name, { id }] of this.#images) if (id === imageRef) return this.#programs.get(name);
    return undefined;
  }

  async pull({ image }: PullImageRequest): Promise<string> {
    const name = fullName(image.image);
    if (!this.#programs.has(name) && image.annotations?.[imageHasCommandAnnotation] !== "true") {
      throw new RuntimeError("NotFound", `failed to pull image "${name}": the runtime "process" has no program for it, and the container gives no command`);
    }
    const made = imageOf(name);
    this.#images.set(name, made);
    await this.#save();
    return made.id;
  }

  async remove(image: ImageSpec): Promise<void> {
    for (const [name, { id }] of this.#images) if (name === fullName(image.image) || id === image.image) this.#images.delete(name);
    await this.#save();
  }

  #save(): Promise<void> {
    return this.#files.saveImageNames([...this.#images.keys()].filter((name) => !this.#programs.has(name)));
  }
}

/** Usage of a container: of its program and that program's descendants. */
class ProcessStats {
  readonly #clock: Clock;
  readonly #pods: ProcessPods;
  readonly #earlier = new WeakMap<ContainerRecord, { atMs: number; cpuMs: number; nanoCores: number | undefined }>();

  constructor(clock: Clock, pods: ProcessPods) {
    this.#clock = clock;
    this.#pods = pods;
  }

  async of(record: ContainerRecord): Promise<ContainerStats> {
    const pid = record.state === "CONTAINER_RUNNING" ? this.#pods.pidOf(record.id) : undefined;
    const processes = pid === undefined ? [] : await readProcessTree(pid);
    const cpuMs = processes.reduce((sum, info) => sum + info.cpuMs, 0);
    const memory = { value: processes.reduce((sum, info) => sum + info.residentBytes, 0) };
    const timestamp = this.#clock.nowMs() * 1e6;
    const { id, metadata, labels, annotations } = showContainer(record);
    const nanoCores = this.#rate(record, cpuMs);
    return {
      attributes: { id, metadata, labels, annotations },
      cpu: { timestamp, usage_core_nano_seconds: { value: cpuMs * 1e6 }, ...(nanoCores !== undefined && { usage_nano_cores: { value: nanoCores } }) },
      memory: { timestamp, working_set_bytes: memory, usage_bytes: memory, rss_bytes: memory },
    };
  }

  /** Over the time since the last reading that is at least a second old; not known before the second one. */
  #rate(record: ContainerRecord, cpuMs: number): number | undefined {
    const atMs = this.#clock.monotonicMs();
    const earlier = this.#earlier.get(record);
    if (earlier !== undefined && atMs - earlier.atMs < 1000) return earlier.nanoCores;
    const nanoCores = earlier === undefined ? undefined : Math.max(0, Math.round(((cpuMs - earlier.cpuMs) / (atMs - earlier.atMs)) * 1e9));
    this.#earlier.set(record, { atMs, cpuMs, nanoCores });
    return nanoCores;
  }
}

function fullName(image: string): string {
  const parsed = parseImageName(image);
  return parsed.isValid ? parsed.fullName : image;
}

/** Where the pods of our nodes run: containerd as root, else local processes, or simulation. */
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TaskGroup } from "../../../base/task-group.ts";
import { createMounts } from "../../../host/index.ts";
import type { Programs } from "../../../host/index.ts";
import {
  connectContainerd,
  createImageLoader,
  createImageMounts,
  createSimulatedRuntime,
  startContainerd,
  startProcessRuntime,
} from "../../../kubelet/index.ts";
import type { ContainerRuntime, ImageMounts } from "../../../kubelet/index.ts";
import type { Environment } from "../../environment.ts";
import { instanceId } from "../../instance-id.ts";
import type { UpOptions } from "../../commands/up-options.ts";
import { chooseRuntime } from "./choose-runtime.ts";
import type { RuntimeKind } from "./choose-runtime.ts";
import { addressDirectory, cniConfDirectory } from "./network.ts";

export interface NodeRuntime extends AsyncDisposable {
  readonly kind: RuntimeKind;
  /** Absent where images have no files. */
  readonly images?: ImageMounts;
  /** Of the node with this index. */
  ofNode(index: number): Promise<ContainerRuntime>;
}

export interface NodeRuntimeContext {
  readonly environment: Environment;
  readonly options: UpOptions;
  readonly programs: Programs;
  /** Of a call to it. */
  readonly requestTimeoutMs: number;
  /** Owns what runs beside the runtime. */
  readonly group: TaskGroup;
}

export async function startNodeRuntime(context: NodeRuntimeContext): Promise<NodeRuntime> {
  const { kind, because } = await chooseRuntime(context.options, context.programs);
  context.environment.log.info("Runtime for pods", { runtime: kind, ...(because !== undefined && { because }) });
  if (kind === "containerd") return startContainerdRuntime(context);
  return kind === "process" ? processRuntimes(context) : simulatedRuntimes(context);
}

/** Sockets must have short paths. */
export function runtimeDirectory(dataDir: string): string {
  const id = instanceId(dataDir);
  if (process.getuid?.() === 0) return join("/run/coracle", id);
  return join(process.env["XDG_RUNTIME_DIR"] ?? join(tmpdir(), `coracle-${process.getuid?.() ?? 0}`), "coracle", id);
}

async function startContainerdRuntime(context: NodeRuntimeContext): Promise<NodeRuntime> {
  const { environment, programs } = context;
  const { clock, log } = environment;
  const place = await containerdPlace(context);
  const runtime = connectContainerd({ socketPath: place.socketPath, clock, timeoutMs: context.requestTimeoutMs });
  const loader = createImageLoader({
    programs,
    images: runtime,
    clock,
    socketPath: place.socketPath,
    ...(place.snapshotter !== undefined && { snapshotter: place.snapshotter }),
  });
  // The first start builds our images; pods that want them wait no longer than their pull's back-off.
  await loader.ensureBuiltinImages();
  log.info("Images are there", { socket: place.socketPath });
  const snapshotter = place.snapshotter === undefined ? {} : { snapshotter: place.snapshotter };
  const images = createImageMounts({ programs, mounts: createMounts({ programs }), socketPath: place.socketPath, ...snapshotter });
  return { kind: "containerd", images, ofNode: async () => runtime, [Symbol.asyncDispose]: () => runtime.close() };
}

async function containerdPlace({ environment, options, programs, group }: NodeRuntimeContext): Promise<{ socketPath: string; snapshotter?: string }> {
  if (options.containerdSocket !== undefined) {
    await requireAnswer(options.containerdSocket);
    return { socketPath: options.containerdSocket };
  }
  const { clock, log } = environment;
  const directory = runtimeDirectory(options.dataDir);
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const instance = await startContainerd({
    programs,
    clock,
    log,
    dataDirectory: options.dataDir,
    runtimeDirectory: directory,
    cniConfDirectory: cniConfDirectory(options.dataDir),
    addressDirectory: addressDirectory(options.dataDir),
  });
  group.start("containerd", (signal) => instance.run(signal));
  return instance;
}

async function requireAnswer(socketPath: string): Promise<void> {
  const socket = connect(socketPath);
  try {
    await once(socket, "connect");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new Error(`no containerd answers at ${socketPath} (${code}): start it, or leave out --containerd-socket to have one of our own`, { cause: error });
  } finally {
    socket.destroy();
  }
}

function processRuntimes({ environment, options, programs }: NodeRuntimeContext): NodeRuntime {
  return perNode("process", (index) =>
    startProcessRuntime({
      programs,
      clock: environment.clock,
      random: environment.random,
      log: environment.log,
      stateDirectory: join(options.dataDir, "processes", String(index)),
      socketDirectory: join(runtimeDirectory(options.dataDir), `p${index}`),
      // A sixteenth of the range each: far more than one machine's processes.
      addressRange: `127.${64 + (index % 64)}.0.0/16`,
    }),
  );
}

function simulatedRuntimes({ environment, options }: NodeRuntimeContext): NodeRuntime {
  const { clock, random } = environment;
  return perNode("simulated", async (index) => createSimulatedRuntime({ clock, random, podCidr: simulatedRange(options.podCidrs[0]!, index) }));
}

/** A /24 for each node, one after the other from the pods' range on. */
function simulatedRange(podCidr: string, index: number): string {
  const [a = 10, b = 244, c = 0] = podCidr.split("/")[0]!.split(".").map(Number);
  const third = c + index;
  return `${a}.${b + Math.floor(third / 256)}.${third % 256}.0/24`;
}

function perNode(kind: NodeRuntime["kind"], make: (index: number) => Promise<ContainerRuntime>): NodeRuntime {
  const made: ContainerRuntime[] = [];
  return {
    kind,
    ofNode: async (index) => {
      const runtime = await make(index);
      made.push(runtime);
      return runtime;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(made.map((runtime) => runtime.close()));
    },
  };
}

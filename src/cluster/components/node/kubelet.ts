/** The node agent as a component: chooses the runtime, makes it ready, and runs a kubelet for each node. */
import { mkdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { listenTls } from "../../../apimachinery/listener/tls-listener.ts";
import type { TlsListener, TlsListenerOptions } from "../../../apimachinery/listener/tls-listener.ts";
import { TaskGroup } from "../../../base/task-group.ts";
import { Client, KeyedLanes, userAgent } from "../../../client/index.ts";
import { createMounts } from "../../../host/index.ts";
import type { Programs } from "../../../host/index.ts";
import {
  createKubelet,
  DiskStorage,
  kubeletServer,
  nodeNetworkCalls,
  NoStorage,
  parseResolvConf,
  readMachine,
  serverAccess,
  shutdownMs,
  simulatedMachine,
} from "../../../kubelet/index.ts";
import type { Kubelet, KubeletOptions, KubeletSettings, Machine, PodStorage, ServicePlace } from "../../../kubelet/index.ts";
import { forwardedPlace, readFirstBindablePort } from "../../../proxy/index.ts";
import { followAuthority } from "../../certificates/authority-following.ts";
import { UsageError } from "../../commands/arguments.ts";
import type { UpOptions } from "../../commands/up-options.ts";
import { dnsClusterAddress } from "../dns.ts";
import { addressOfListener } from "../../connections/host-address.ts";
import { instanceId } from "../../instance-id.ts";
import { borrowPrograms } from "../../shared-programs.ts";
import { watchMachineShutdown } from "./machine-shutdown.ts";
import { readKubeletSettings, readProviders, tlsFlags } from "./kubelet-settings.ts";
import { servingByFlags } from "../serving-flags.ts";
import { startPodCgroups } from "./node-cgroups.ts";
import { startNodeRuntime } from "./node-runtime.ts";
import type { NodeRuntime } from "./node-runtime.ts";
import type { ComponentContext } from "../start-components.ts";

const version = "v1.37.2";
const defaultPort = 10_250;
const maxBodyBytes = 3 * 1024 * 1024;
/** Of more nodes than these in one process, the first one's server answers for all. */
const maxListeners = 50;
/** Of all simulated nodes together: what is told of pods leaves room for the pods. */
const simulatedEventsAtOnce = 4;
const simulatedStartingUntoldMs = 1000;

export async function startKubelet(context: ComponentContext): Promise<AsyncDisposable> {
  const { environment, options, certificates } = context;
  const { log } = environment;
  const running = new AsyncDisposableStack();
  try {
    const borrowed = running.use(borrowPrograms(environment));
    const newGroup = () => new TaskGroup({ onFailure: (name, error) => log.error("Component failed", { name, error }) });
    const beside = newGroup();
    running.defer(() => beside.close());
    const settings = await readKubeletSettings(options, log);
    const runtime = running.use(
      await startNodeRuntime({ environment, options, programs: borrowed.programs, requestTimeoutMs: settings.runtimeRequestTimeoutMs, group: beside }),
    );
    const address = addressOfListener(options.bindAddress);
    const nodeNames = namesOfNodes(options.nodeName ?? hostname().toLowerCase(), runtime.kind === "containerd" ? 1 : options.nodes);
    const serving = await servingByFlags("kubelet", tlsFlags(settings), () =>
      certificates.serving("kubelet", [nodeNames[0]!, address], ["localhost", "127.0.0.1"]),
    );
    const listeners: TlsListener[] = [];
    const kubelets: Kubelet[] = [];
    let authority = await certificates.authority();
    running.use(
      followAuthority({
        ...environment,
        name: "kubelet",
        current: authority,
        source: () => certificates.authority(),
        onNew: (bundle) => {
          authority = bundle;
        },
      }),
    );
    const handlerOf = (nodeName: string, served: () => readonly Kubelet[]) => {
      const client = new Client({ transport: context.transportFor(nodeUser(nodeName)), clock: environment.clock, userAgent: "kubelet/server" });
      const access = serverAccess({ client, nodeName, authority: () => authority, clock: environment.clock });
      return kubeletServer({ access, nodes: () => served().map((kubelet) => kubelet.served) });
    };
    const listening = { address: options.bindAddress, ...serving.listening, log, maxBodyBytes };
    const listener = await listenKubelet(context, { ...listening, handler: handlerOf(nodeNames[0]!, () => kubelets) });
    running.defer(() => listener.close());
    listeners.push(listener);
    running.use(await serving.follow(() => listeners, environment));
    const credentialProviders = await readProviders(options, { programs: borrowed.programs, clock: environment.clock, log });
    const shared = await nodeOptions(context, runtime, { settings, address, port: listener.port });
    // Somebody else's containerd may name control groups in another way (systemd's).
    const cgroups =
      runtime.kind === "containerd" && options.containerdSocket === undefined
        ? await startPodCgroups({ ...shared, dataDir: options.dataDir, settings })
        : undefined;
    for (const [index, nodeName] of nodeNames.entries()) {
      const folder = index === 0 ? "" : join("nodes", nodeName);
      const own =
        index === 0 || nodeNames.length > maxListeners
          ? listener
          : await listenTls({ ...listening, port: 0, handler: handlerOf(nodeName, () => kubelets.slice(index, index + 1)) });
      if (own !== listener) {
        running.defer(() => own.close());
        listeners.push(own);
      }
      kubelets.push(
        createKubelet({
          ...shared,
          ...(credentialProviders !== undefined && { credentialProviders }),
          ...(cgroups !== undefined && { cgroups }),
          nodeName,
          serverPort: own.port,
          owner: `${instanceId(options.dataDir)}/${nodeName}`,
          runtime: await runtime.ofNode(index),
          ...(runtime.kind !== "simulated" && { rootDirectory: join(options.dataDir, "kubelet", folder) }),
          storage: await nodeStorage(context, runtime, borrowed.programs, folder),
          transport: context.transportFor(nodeUser(nodeName)),
        }),
      );
    }
    const group = newGroup();
    for (const kubelet of kubelets) group.start(`kubelet ${kubelet.nodeName}`, (signal) => kubelet.run(signal));
    running.defer(() => group.close());
    const waitsMs = shutdownMs(settings);
    if (waitsMs > 0)
      running.use(
        await watchMachineShutdown({
          programs: borrowed.programs,
          log,
          onShutdown: async () => void (await Promise.all(kubelets.map((kubelet) => kubelet.shutDown()))),
        }),
      );
    return running;
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
}

/** The first node has the plain name. Further nodes with containers are processes of their own. */
function namesOfNodes(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? name : `${name}-${index + 1}`));
}

/** The port that a Node tells; where it is taken and nobody asked for it, any other does. */
async function listenKubelet({ environment, options }: ComponentContext, listening: Omit<TlsListenerOptions, "port">): Promise<TlsListener> {
  const asked = options.flags.get("kubelet")?.get("port")?.at(-1);
  if (asked !== undefined && !/^\d{1,5}$/.test(asked)) throw new UsageError(`--kubelet.port wants a port number; not ${JSON.stringify(asked)}`);
  try {
    return await listenTls({ ...listening, port: asked === undefined ? defaultPort : Number(asked) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    if (asked !== undefined) throw new Error(`the kubelet's port ${asked} is taken: choose another with --kubelet.port`, { cause: error });
    const listener = await listenTls({ ...listening, port: 0 });
    environment.log.info("The usual kubelet port is taken; using another", { taken: defaultPort, port: listener.port });
    return listener;
  }
}

const nodeUser = (nodeName: string) => ({ username: `system:node:${nodeName}`, groups: ["system:nodes", "system:authenticated"] });

type SharedOptions = Omit<KubeletOptions, "nodeName" | "owner" | "runtime" | "storage" | "transport">;

async function nodeOptions(
  { environment, options }: ComponentContext,
  runtime: NodeRuntime,
  place: { settings: KubeletSettings; address: string; port: number },
): Promise<SharedOptions> {
  const { clock, random, log } = environment;
  const root = join(options.dataDir, "kubelet");
  await mkdir(join(root, "logs"), { recursive: true, mode: 0o711 });
  const isSimulated = runtime.kind === "simulated";
  const machine: Machine = isSimulated ? simulatedMachine : await readMachine(root);
  return {
    userAgent: userAgent({ component: "kubelet", version, platform: `linux/${machine.architecture}`, commit: "coracle" }),
    kubeletVersion: version,
    nodeAddress: place.address,
    serverPort: place.port,
    machine,
    settings: place.settings,
    // The pod network is ours only where containers are.
    ...(runtime.kind === "containerd" && tellsPodCidrs(options) && { podCidrs: options.nodePodCidrs }),
    ...(runtime.kind === "containerd" && { systemLogs: "/var/log" }),
    ...(isSimulated && { eventLanes: new KeyedLanes(simulatedEventsAtOnce), startingUntoldMs: simulatedStartingUntoldMs }),
    network: nodeNetworkCalls,
    dns: {
      clusterServers: [dnsClusterAddress(options.serviceCidrs[0]!)],
      clusterDomain: "cluster.local",
      host: parseResolvConf(await readFile("/etc/resolv.conf", "utf8").catch(() => "")),
    },
    ...(runtime.kind === "process" && { servicePlace: await forwardedPlaces(options) }),
    logRoot: join(root, "logs"),
    clock,
    random,
    log: log.with({ component: "kubelet" }),
  };
}

/** Pods that are processes reach Services where the forwarder listens. */
async function forwardedPlaces({ dataDir }: UpOptions): Promise<ServicePlace> {
  const addressing = { instanceId: instanceId(dataDir), firstBindablePort: await readFirstBindablePort() };
  return (service, port) => forwardedPlace(service, port, addressing);
}

/** A node of a cluster that others may join, or that has joined one: whoever shares out ranges must know its own. */
function tellsPodCidrs({ components, isFurtherNode }: UpOptions): boolean {
  return components.has("network") && (components.has("nodes") || isFurtherNode);
}

/** Each node looks after a folder of its own. */
async function nodeStorage({ environment, options }: ComponentContext, { kind, images }: NodeRuntime, programs: Programs, folder: string): Promise<PodStorage> {
  if (kind === "simulated") return new NoStorage();
  const host = kind === "containerd" ? { host: { mounts: createMounts({ programs }), programs } } : {};
  const storage = new DiskStorage({
    root: join(options.dataDir, "kubelet", folder),
    clock: environment.clock,
    ...host,
    ...(images !== undefined && { images }),
  });
  await storage.start();
  return storage;
}

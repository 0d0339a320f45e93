/**
 * A small CSI driver for tests: volumes are directories of this machine, staged and published by bind mounts as root. It registers itself
 * with a kubelet and keeps a record of the calls it got.
 */
import { execFile } from "node:child_process";
import { mkdir, rm, rmdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import type { ServiceDefinition } from "@grpc/grpc-js";
import { MessageCodec } from "../apimachinery/protobuf/messages.ts";
import type { MessageFacts } from "../apimachinery/protobuf/messages.ts";
import registrationTables from "../kubelet/plugins/data/registration-v1.json" with { type: "json" };
import csiTables from "../kubelet/volumes/csi/data/csi-v1.json" with { type: "json" };

const run = promisify(execFile);
type Message = Record<string, unknown>;

export interface DriverCall {
  readonly method: string;
  readonly request: Message;
}

export interface HostPathDriver extends AsyncDisposable {
  readonly calls: DriverCall[];
  /** What the kubelet said about the registration. */
  readonly registration: Promise<{ plugin_registered: boolean; error: string }>;
  /** The next call of this method fails so. */
  failNext(method: string, message: string): void;
}

/** `directory`: of the volumes and of the driver's own socket; `registry`: the kubelet's `plugins_registry`. */
export async function startHostPathDriver(options: { name: string; directory: string; registry: string; nodeId: string }): Promise<HostPathDriver> {
  const { name, directory, registry, nodeId } = options;
  const calls: DriverCall[] = [];
  const failures = new Map<string, string>();
  const registered = Promise.withResolvers<{ plugin_registered: boolean; error: string }>();
  const endpoint = join(directory, "csi.sock");
  await mkdir(directory, { recursive: true });
  await mkdir(registry, { recursive: true });
  const handlers = nodeHandlers(directory, nodeId);
  const csi = await serve(
    endpoint,
    "csi.v1.Node",
    csiTables,
    Object.keys(handlers).map((method) => ({ method, messages: [`${method}Request`, `${method}Response`] as const })),
    async (method, request) => {
      calls.push({ method, request });
      const failure = failures.get(method);
      failures.delete(method);
      if (failure !== undefined) throw new Error(failure);
      return handlers[method]!(request);
    },
  );
  const registration = await serve(
    join(registry, `${name}-reg.sock`),
    "pluginregistration.Registration",
    registrationTables,
    [
      { method: "GetInfo", messages: ["InfoRequest", "PluginInfo"] },
      { method: "NotifyRegistrationStatus", messages: ["RegistrationStatus", "RegistrationStatusResponse"] },
    ],
    async (method, request) => {
      if (method === "GetInfo") return { type: "CSIPlugin", name, endpoint, supported_versions: ["1.13.0"] };
      registered.resolve(request as { plugin_registered: boolean; error: string });
      return {};
    },
  );
  return {
    calls,
    registration: registered.promise,
    failNext: (method, message) => void failures.set(method, message),
    async [Symbol.asyncDispose]() {
      await registration();
      await csi();
    },
  };
}

function nodeHandlers(directory: string, nodeId: string): Record<string, (request: Message) => Promise<Message>> {
  const source = async (request: Message) => {
    const path = join(directory, request["volume_id"] as string);
    await mkdir(path, { recursive: true });
    return path;
  };
  return {
    NodeGetInfo: async () => ({ node_id: nodeId, max_volumes_per_node: 7, accessible_topology: { segments: { "topology.test.coracle.dev/node": nodeId } } }),
    NodeGetCapabilities: async () => ({ capabilities: ["STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME"].map((type) => ({ rpc: { type } })) }),
    NodeStageVolume: async (request) => bind(await source(request), request["staging_target_path"] as string),
    NodeUnstageVolume: (request) => unbind(request["staging_target_path"] as string),
    NodePublishVolume: async (request) => {
      const staging = request["staging_target_path"] as string;
      return bind(staging === "" ? await source(request) : staging, request["target_path"] as string, request["readonly"] === true);
    },
    NodeUnpublishVolume: async (request) => {
      const target = request["target_path"] as string;
      await unbind(target);
      await rmdir(target).catch(() => undefined);
      return {};
    },
    NodeExpandVolume: async (request) => ({ capacity_bytes: (request["capacity_range"] as { required_bytes: number }).required_bytes }),
    NodeGetVolumeStats: async () => ({
      usage: [
        { available: 600, total: 1000, used: 400, unit: "BYTES" },
        { available: 9, total: 10, used: 1, unit: "INODES" },
      ],
    }),
  };
}

/** Both ways may be asked for again, as CSI demands. */
async function bind(source: string, target: string, isReadOnly = false): Promise<Message> {
  await mkdir(target, { recursive: true });
  if (await isMounted(target)) return {};
  await run("mount", ["--bind", source, target]);
  if (isReadOnly) await run("mount", ["-o", "remount,bind,ro", target]);
  return {};
}

async function unbind(target: string): Promise<Message> {
  if (await isMounted(target)) await run("umount", [target]);
  return {};
}

async function isMounted(path: string): Promise<boolean> {
  return (await readFile("/proc/self/mountinfo", "utf8")).split("\n").some((line) => line.split(" ")[4] === path);
}

type Method = { readonly method: string; readonly messages: readonly [request: string, response: string] };

/** Returns what stops it; the socket goes, too. */
async function serve(
  path: string,
  service: string,
  tables: object,
  methods: readonly Method[],
  answer: (method: string, request: Message) => Promise<Message>,
): Promise<() => Promise<void>> {
  await rm(path, { force: true });
  await mkdir(dirname(path), { recursive: true });
  const codec = new MessageCodec(tables as MessageFacts);
  const definition: Record<string, ServiceDefinition[string]> = {};
  const implementation: Record<string, never> = {};
  for (const { method, messages } of methods) {
    definition[method] = {
      path: `/${service}/${method}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: Message) => Buffer.from(codec.encode(messages[0], value)),
      requestDeserialize: (bytes: Buffer) => codec.decode(messages[0], bytes),
      responseSerialize: (value: Message) => Buffer.from(codec.encode(messages[1], value)),
      responseDeserialize: (bytes: Buffer) => codec.decode(messages[1], bytes),
    };
    const handler = (call: { request: Message }, done: (error: object | null, value?: Message) => void) => {
      answer(method, call.request).then(
        (value) => done(null, value),
        (error: Error) => done({ code: status.INTERNAL, details: error.message }),
      );
    };
    implementation[method] = handler as never;
  }
  const server = new Server();
  server.addService(definition, implementation);
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) => (error === null ? resolve() : reject(error))),
  );
  return async () => {
    server.forceShutdown();
    await rm(path, { force: true });
  };
}

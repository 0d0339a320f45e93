/** The API server as a component: store, certificates, TLS listener, admin kubeconfig. */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { ApiServer } from "../../apiserver/server.ts";
import { listenTls } from "../../apimachinery/listener/tls-listener.ts";
import type { TlsListener } from "../../apimachinery/listener/tls-listener.ts";
import { openStore } from "../../storage/index.ts";
import type { Store } from "../../storage/index.ts";
import type { Certificates } from "../certificates.ts";
import type { Environment } from "../environment.ts";
import { firstHostAddress } from "../host-address.ts";
import { NodeDialer } from "../node-dialer.ts";
import type { UpOptions } from "../up-options.ts";
import { apiServerFlags } from "./apiserver-flags.ts";
import { kubeconfigText } from "../kubeconfig-text.ts";

export interface RunningApiServer extends AsyncDisposable {
  readonly server: ApiServer;
  readonly port: number;
  readonly url: string;
  readonly kubeconfigPath: string;
}

/** Bodies beyond this are refused with 413 (documentation: "3 MiB"). */
const maxBodyBytes = 3 * 1024 * 1024;

/** Starts the API server and writes `DIR/kubeconfig` once it is ready. */
export async function startApiServer(environment: Environment, options: UpOptions, certificates: Certificates): Promise<RunningApiServer> {
  const flags = apiServerFlags(options.flags.get("apiserver") ?? new Map(), options);
  const store = await openConfiguredStore(environment, options);
  const advertiseAddress = flags.advertiseAddress ?? firstHostAddress();
  const clientAuthority = await certificates.authority();
  // The port must be known before the server publishes it, and the server must exist before the listener can answer.
  let server: ApiServer | undefined;
  const serving = await certificates.serving("apiserver", ["localhost", "127.0.0.1", "::1", hostname(), advertiseAddress, flags.serviceAddress, "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]);
  const listener = await listenTls({
    address: options.bindAddress,
    port: options.port,
    key: serving.key,
    certificate: serving.certificate,
    log: environment.log,
    maxBodyBytes,
    handler: async (request) => (server === undefined ? starting() : server.handle(request)),
  }).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const dialer = new NodeDialer(await certificates.client("apiserver-kubelet-client", "kube-apiserver-kubelet-client", ["system:masters"]), clientAuthority, environment.clock);
  const created = new ApiServer({
    clock: environment.clock,
    random: environment.random,
    log: environment.log,
    store,
    settings: { ...flags.settings, advertiseAddress, securePort: listener.port, clientAuthority, maxBodyBytes },
    clientAuthorities: [clientAuthority],
    serviceAccountKey: await certificates.serviceAccountKey(),
    servingAuthority: clientAuthority,
    nodes: dialer,
    gates: flags.gates,
    admission: flags.admission,
  });
  await created.start();
  server = created;
  const kubeconfigPath = await writeAdminKubeconfig(options.dataDir, listener, certificates, clientAuthority);
  return {
    server,
    port: listener.port,
    url: `https://127.0.0.1:${listener.port}`,
    kubeconfigPath,
    async [Symbol.asyncDispose]() {
      await created.close();
      await listener.close();
      await dialer.close();
      await store.close();
    },
  };
}

/** Until the server has read its store every path answers so. */
function starting() {
  return { status: 503, headers: { "content-type": "text/plain; charset=utf-8", "retry-after": "1" }, body: { kind: "bytes", bytes: Buffer.from("the server is starting\n") } } as const;
}

async function openConfiguredStore(environment: Environment, options: UpOptions): Promise<Store> {
  const { clock, log: logger } = environment;
  if (options.store === "memory") return openStore({ backend: "memory", clock, logger });
  if (options.store.startsWith("etcd=")) return openStore({ backend: "etcd", clock, logger, endpoints: options.store.slice("etcd=".length).split(",") });
  const directory = join(options.dataDir, "store");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return openStore({ backend: "lmdb", clock, logger, directory });
}

async function writeAdminKubeconfig(dataDir: string, listener: TlsListener, certificates: Certificates, authority: string): Promise<string> {
  const admin = await certificates.client("admin", "admin", ["system:masters"]);
  const path = join(dataDir, "kubeconfig");
  await mkdir(dataDir, { recursive: true });
  await writeFile(path, kubeconfigText({ server: `https://127.0.0.1:${listener.port}`, authority, user: "admin", client: admin }), { mode: 0o600 });
  await chmod(path, 0o600);
  return path;
}

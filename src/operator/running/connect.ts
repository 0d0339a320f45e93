/** How an operator that runs as a program reaches its cluster: the pod's service account, else a kubeconfig. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { connectionSettings, parseKubeconfig, TlsTransport } from "../../client/index.ts";

/** A way to the API server. */
export interface Connection {
  readonly transport: TlsTransport;
  readonly namespace: string;
  /** Whether we are a pod of the cluster. */
  readonly isInside: boolean;
}

/** Where `connect` looks for its cluster. */
export interface ConnectOptions {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Path of a kubeconfig; default `$KUBECONFIG`, then the pod's service account, then `~/.kube/config`. */
  readonly kubeconfig?: string;
  /** Default: the current one. */
  readonly context?: string;
}

const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Rejects with a KubeconfigError, or an Error that says which file is missing. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { environment } = options;
  const path = options.kubeconfig ?? environment["KUBECONFIG"];
  if (path === undefined && environment["KUBERNETES_SERVICE_HOST"] !== undefined) return insideConnection(options);
  return kubeconfigConnection(path ?? join(homedir(), ".kube", "config"), options);
}

async function insideConnection({ clock, environment }: ConnectOptions): Promise<Connection> {
  const read = (name: string) => readFile(join(accountFolder, name), "utf8");
  const [ca, namespace] = await Promise.all([read("ca.crt"), read("namespace")]);
  const host = environment["KUBERNETES_SERVICE_HOST"]!;
  const url = `https://${host.includes(":") ? `[${host}]` : host}:${environment["KUBERNETES_SERVICE_PORT"] ?? "443"}`;
  // The kubelet renews the token in place.
  return {
    transport: new TlsTransport({ url, clock, ca, bearerToken: async () => (await read("token")).trim() }),
    namespace: namespace.trim(),
    isInside: true,
  };
}

async function kubeconfigConnection(path: string, { clock, context }: ConnectOptions): Promise<Connection> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Error(`no kubeconfig at ${path}: set KUBECONFIG, or run the operator in a pod`, { cause });
  });
  const { namespace, ...settings } = await connectionSettings(parseKubeconfig(text), (file) => readFile(resolve(dirname(path), file)), context);
  return { transport: new TlsTransport({ ...settings, clock }), namespace, isInside: false };
}

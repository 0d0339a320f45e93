import { CORE_SCHEMA, dump, load } from "js-yaml";
import { isObject } from "../../apimachinery/json.ts";

/**
 * kubeconfig files (documentation page "Organizing Cluster Access Using kubeconfig Files"): which server, whom to trust, who we are.
 * Parsing and choosing are pure; files that a kubeconfig names are read through `readFile`.
 */
export interface Kubeconfig {
  readonly clusters: readonly { readonly name: string; readonly cluster: KubeconfigCluster }[];
  readonly users: readonly { readonly name: string; readonly user: KubeconfigUser }[];
  readonly contexts: readonly { readonly name: string; readonly context: KubeconfigContext }[];
  readonly "current-context": string;
}
export interface KubeconfigCluster {
  readonly server: string;
  readonly "certificate-authority"?: string;
  /** Base64 of PEM. */
  readonly "certificate-authority-data"?: string;
  readonly "tls-server-name"?: string;
}
export interface KubeconfigUser {
  readonly "client-certificate"?: string;
  readonly "client-certificate-data"?: string;
  readonly "client-key"?: string;
  readonly "client-key-data"?: string;
  readonly token?: string;
  readonly tokenFile?: string;
}
export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string;
  readonly namespace?: string;
}

/** What a transport needs. `bearerToken` reads a token file again at each call. */
export interface ConnectionSettings {
  readonly url: string;
  readonly ca?: Uint8Array;
  readonly certificate?: Uint8Array;
  readonly key?: Uint8Array;
  readonly serverName?: string;
  readonly bearerToken?: () => Promise<string>;
  /** The context's namespace, `default` when it names none. */
  readonly namespace: string;
}

/** A kubeconfig that cannot be used: what is wrong is in the message. */
export class KubeconfigError extends Error {
  override name = "KubeconfigError";
  readonly reason = "InvalidKubeconfig";
}

/** Reads a kubeconfig's YAML. Throws a KubeconfigError when it is not YAML or holds no object. */
export function parseKubeconfig(text: string): Kubeconfig {
  let parsed: unknown;
  try {
    parsed = load(text, { schema: CORE_SCHEMA });
  } catch (error) {
    throw new KubeconfigError("the kubeconfig is not YAML", { cause: error });
  }
  if (!isObject(parsed)) throw new KubeconfigError("the kubeconfig holds no object");
  const listOf = (name: string) => (Array.isArray(parsed[name]) ? parsed[name].filter(isObject) : []);
  return {
    clusters: listOf("clusters") as unknown as Kubeconfig["clusters"],
    users: listOf("users") as unknown as Kubeconfig["users"],
    contexts: listOf("contexts") as unknown as Kubeconfig["contexts"],
    "current-context": typeof parsed["current-context"] === "string" ? parsed["current-context"] : "",
  };
}

/** A kubeconfig as YAML. */
export function formatKubeconfig(config: Kubeconfig): string {
  return dump({ apiVersion: "v1", kind: "Config", preferences: {}, ...config }, { lineWidth: -1 });
}

/** A kubeconfig for one cluster and one user, everything embedded. */
export function singleKubeconfig(options: {
  name: string;
  user: string;
  server: string;
  ca: string | Uint8Array;
  certificate?: string | Uint8Array;
  key?: string | Uint8Array;
  token?: string;
}): Kubeconfig {
  const { name, user, server, ca, certificate, key, token } = options;
  return {
    clusters: [{ name, cluster: { server, "certificate-authority-data": base64(ca) } }],
    users: [
      {
        name: user,
        user: {
          ...(certificate !== undefined && { "client-certificate-data": base64(certificate) }),
          ...(key !== undefined && { "client-key-data": base64(key) }),
          ...(token !== undefined && { token }),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user } }],
    "current-context": name,
  };
}

/** Settings of a context (the current one when `contextName` is absent). Relative paths are handed to `readFile` as they stand. */
export async function connectionSettings(
  config: Kubeconfig,
  readFile: (path: string) => Promise<Uint8Array>,
  contextName = config["current-context"],
): Promise<ConnectionSettings> {
  const context = config.contexts.find((entry) => entry.name === contextName)?.context;
  if (context === undefined) throw new KubeconfigError(`the kubeconfig has no context ${JSON.stringify(contextName)}`);
  const cluster = config.clusters.find((entry) => entry.name === context.cluster)?.cluster;
  if (cluster === undefined) throw new KubeconfigError(`the kubeconfig has no cluster ${JSON.stringify(context.cluster)}`);
  const user = config.users.find((entry) => entry.name === context.user)?.user ?? {};
  const bytesOf = async (data: string | undefined, path: string | undefined) =>
    data !== undefined ? new Uint8Array(Buffer.from(data, "base64")) : path !== undefined ? readFile(path) : undefined;
  const ca = await bytesOf(cluster["certificate-authority-data"], cluster["certificate-authority"]);
  const certificate = await bytesOf(user["client-certificate-data"], user["client-certificate"]);
  const key = await bytesOf(user["client-key-data"], user["client-key"]);
  const { token, tokenFile } = user;
  const bearerToken =
    token !== undefined
      ? async () => token
      : tokenFile !== undefined
        ? async () =>
            Buffer.from(await readFile(tokenFile))
              .toString("utf8")
              .trim()
        : undefined;
  return {
    url: cluster.server,
    namespace: context.namespace ?? "default",
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { certificate }),
    ...(key !== undefined && { key }),
    ...(cluster["tls-server-name"] !== undefined && { serverName: cluster["tls-server-name"] }),
    ...(bearerToken !== undefined && { bearerToken }),
  };
}

function base64(value: string | Uint8Array): string {
  return Buffer.from(value).toString("base64");
}

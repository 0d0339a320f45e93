/**
 * `coracle join SERVER --token TOKEN`: a node of another machine. The first time it gets its certificates by the token and keeps them in the
 * data directory, and renews them while it runs; later starts need neither token nor server.
 */
import { readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isAlreadyExists } from "../../apimachinery/status.ts";
import { sleep } from "../../base/clock.ts";
import { TaskGroup } from "../../base/task-group.ts";
import { Client, TlsTransport, resources } from "../../client/index.ts";
import { fetchClusterInfo, parseToken, trustedAuthority } from "../../joining/index.ts";
import { tlsConnection } from "../connections/api-connection.ts";
import { UsageError, parseArguments } from "../commands/arguments.ts";
import { lifeOf } from "../certificates/certificate-life.ts";
import { Certificates } from "../certificates/certificates.ts";
import { joinedFile, openDataDirectory } from "../files/data-directory.ts";
import { commandEnvironment } from "../environment.ts";
import type { Environment } from "../environment.ts";
import { keyDirectory, readPair } from "../certificates/key-store.ts";
import type { KeyStore } from "../certificates/key-store.ts";
import { requireName } from "../nodes/node-place.ts";
import { removeProcessId, writeProcessId } from "../process-id.ts";
import { runComponent } from "../commands/run-component.ts";
import { readUpOptions, upOptionTable } from "../commands/up-options.ts";
import { nodeCertificates, obtain, renewNodeCertificates } from "./node-certificates.ts";
import { settingsName } from "./prepare-joining.ts";
import type { JoinSettings } from "./prepare-joining.ts";

interface Joined {
  readonly server: string;
  readonly name: string;
}

export async function runJoin(words: readonly string[]): Promise<void> {
  const parsed = parseArguments(words, { ...upOptionTable, token: "value", "ca-cert-hash": "value" }, { component: "kubelet" });
  const [given, ...rest] = parsed.operands;
  if (rest.length > 0) throw new UsageError("usage: coracle join [SERVER --token TOKEN [--ca-cert-hash sha256:HEX]] [OPTIONS of `coracle kubelet`]");
  const options = readUpOptions({ ...parsed, operands: [] });
  await openDataDirectory(options.dataDir);
  const environment = commandEnvironment();
  const store = keyDirectory(options.dataDir);
  const known = await readJoined(options.dataDir);
  if (known === undefined && given === undefined)
    throw new UsageError(`${options.dataDir} has joined no cluster yet: name its server and a token, as \`coracle token create\` prints them`);
  const joined = known ?? { server: serverUrl(given!), name: options.nodeName ?? hostname().toLowerCase() };
  requireName(joined.name);
  if (known === undefined) {
    await bootstrap(joined, {
      environment,
      store,
      token: parsed.options.get("token") ?? "",
      hashes: (parsed.options.get("ca-cert-hash") ?? "").split(",").filter(Boolean),
    });
    await writeFile(join(options.dataDir, joinedFile), `${JSON.stringify(joined)}\n`, { mode: 0o600 });
  }
  const place = await placeOf(joined, store, environment);
  await using _renewal = keepRenewed(joined, store, environment);
  await runComponent({ ...options, ...place, nodeName: joined.name, components: new Set(["network", "kubelet", "proxy"]) }, joined.server, {
    as: nodeUser(joined.name),
    onRunning: () => writeProcessId(options.dataDir),
  });
  await removeProcessId(options.dataDir);
}

interface BootstrapOptions {
  readonly environment: Environment;
  readonly store: KeyStore;
  readonly token: string;
  readonly hashes: readonly string[];
}

/** From a token to all certificates of a node; the authority is written last, since it tells that all is there. */
async function bootstrap({ server, name }: Joined, { environment: { clock }, store, token, hashes }: BootstrapOptions): Promise<void> {
  const parsed = parseToken(token);
  const ca = trustedAuthority(await fetchClusterInfo(server), parsed, hashes);
  const [identity, ...others] = nodeCertificates(name);
  await using newcomer = new TlsTransport({ url: server, clock, ca, bearerToken: () => token });
  await using node = new TlsTransport({ url: server, clock, ca, ...(await obtain(identity, { store, clock, transport: newcomer.send })) });
  for (const certificate of others) await obtain(certificate, { store, clock, transport: node.send });
  await store.write("ca.crt", ca);
}

/** Renews the node's certificates in time, as the node, until disposed of. */
function keepRenewed({ server, name }: Joined, store: KeyStore, environment: Environment): AsyncDisposable {
  const { clock, log } = environment;
  const api = tlsConnection(server, new Certificates(store, clock), environment);
  const transport = api.transportFor(nodeUser(name));
  const group = new TaskGroup();
  group.start("certificates", (signal) => renewNodeCertificates(nodeCertificates(name), { store, clock, log, transport }, signal));
  return {
    async [Symbol.asyncDispose]() {
      await group.close();
      await api[Symbol.asyncDispose]();
    },
  };
}

const nodeUser = (name: string) => ({ username: `system:node:${name}`, groups: ["system:nodes"] });

/** The cluster's ranges, and the share of them that the node gets once it is registered. */
async function placeOf({ server, name }: Joined, store: KeyStore, { clock }: Environment) {
  const [ca, identity] = await Promise.all([store.read("ca.crt"), readPair(store, nodeCertificates(name)[0].file)]);
  if (ca === undefined || identity === undefined) throw new Error(`the node's certificates are not ${store.place}: remove the directory and join again`);
  if (lifeOf(identity.certificate).endMs <= clock.nowMs())
    throw new Error(`the node's certificates ${store.place} have ended: remove the directory and join again`);
  await using transport = new TlsTransport({ url: server, clock, ca, ...identity });
  const client = new Client({ transport: transport.send, clock, userAgent: "coracle" });
  const { data } = await client.get(resources.configMaps, "kube-system", settingsName);
  const settings = JSON.parse(data?.["settings"] ?? "{}") as JoinSettings;
  await client.create(resources.nodes, { kind: "Node", apiVersion: "v1", metadata: { name }, spec: {}, status: {} }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  for (const end = clock.monotonicMs() + 60_000; ; await sleep(clock, 100)) {
    const { spec } = await client.get(resources.nodes, "", name);
    if ((spec?.podCIDRs ?? []).length > 0) return { ...settings, nodePodCidrs: spec!.podCIDRs! };
    if (clock.monotonicMs() > end)
      throw new Error(`node ${name} got no range for its pods within 60 s: the cluster's controllers run with --allocate-node-cidrs?`);
  }
}

async function readJoined(dataDir: string): Promise<Joined | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDir, joinedFile), "utf8")) as Joined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${join(dataDir, joinedFile)} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function serverUrl(text: string): string {
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (url === null || url.protocol !== "https:") throw new UsageError(`${JSON.stringify(text)} is no server: https://ADDRESS:PORT`);
  return `https://${url.host}`;
}

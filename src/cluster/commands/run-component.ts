/** `coracle controller-manager`, `scheduler`, `kubelet`, `proxy`, `dns`: one component as its own process, over TLS. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { backoffMs } from "../../base/backoff.ts";
import { sleep } from "../../base/clock.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import { parseKubeconfig } from "../../client/index.ts";
import { tlsConnection } from "../connections/api-connection.ts";
import type { ApiConnection } from "../connections/api-connection.ts";
import { Certificates } from "../certificates/certificates.ts";
import { keyDirectory } from "../certificates/key-store.ts";
import { startComponents } from "../components/start-components.ts";
import { realEnvironment } from "../environment.ts";
import type { Environment } from "../environment.ts";
import { waitForSignal } from "../signals.ts";
import type { UpOptions } from "./up-options.ts";

/** Waits for the API server, runs the components that `options` names, and stops at a signal. */
export async function runComponent(options: UpOptions, server: string | undefined, { as = defaultIdentity, onRunning }: RunComponentHooks = {}): Promise<void> {
  const environment = realEnvironment(options.isVerbose);
  const certificates = new Certificates(keyDirectory(options.dataDir), environment.clock);
  const signal = waitForSignal();
  const url = server ?? (await serverOf(options.dataDir));
  await using api = tlsConnection(url, certificates, environment);
  await waitUntilReady(api, environment, as);
  await using _components = await startComponents({ environment, options, certificates, api });
  await onRunning?.();
  process.stdout.write(`Running ${[...options.components].join(", ")} against ${url}.\n`);
  await signal;
  environment.log.info("Stopping");
}

export interface RunComponentHooks {
  /** Who asks whether the server is ready. */
  readonly as?: UserInfo;
  readonly onRunning?: () => Promise<void>;
}

const defaultIdentity: UserInfo = { username: "system:kube-controller-manager", groups: [] };

/** The port of the server that the data directory's kubeconfig names. */
export async function serverPort(dataDir: string): Promise<number> {
  return Number(new URL(await serverOf(dataDir)).port || 443);
}

/** The server that the data directory's kubeconfig names. */
export async function serverOf(dataDir: string): Promise<string> {
  const path = join(dataDir, "kubeconfig");
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new Error(
      `cannot read ${path} (${(error as Error).message}): start \`coracle apiserver --data-dir ${dataDir}\` first, or name the server with --server`,
      { cause: error },
    );
  }
  const server = parseKubeconfig(text).clusters[0]?.cluster.server;
  if (server === undefined) throw new Error(`${path} names no server`);
  return server;
}

/** Asks /readyz until it answers 200. */
async function waitUntilReady(api: ApiConnection, environment: Environment, as: UserInfo): Promise<void> {
  const transport = api.transportFor(as);
  const never = new AbortController().signal;
  for (let failures = 1; ; failures++) {
    try {
      const response = await transport({ method: "GET", path: "/readyz", query: "", headers: {}, body: new Uint8Array(), signal: never });
      if (response.body.kind === "stream") await response.body.chunks[Symbol.asyncIterator]().return?.();
      if (response.status === 200) return;
    } catch (error) {
      if (failures === 1) environment.log.info("Waiting for the API server", { url: api.url, error });
    }
    await sleep(environment.clock, backoffMs({ baseMs: 100, maxMs: 3000 }, failures));
  }
}

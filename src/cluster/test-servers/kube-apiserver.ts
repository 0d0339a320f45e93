/**
 * `coracle kube-apiserver`: upstream's command line, as envtest uses it. With our stand-in for etcd the objects live in memory. Beside the
 * server run the components that CORACLE_ENVTEST_COMPONENTS names; none when it is not set, as envtest has it. Nothing is written to disk.
 */
import { loopbackConnection } from "../connections/api-connection.ts";
import { UsageError, parseArguments } from "../commands/arguments.ts";
import { Certificates } from "../certificates/certificates.ts";
import { startApiServer } from "../components/apiserver/apiserver.ts";
import { startComponents } from "../components/start-components.ts";
import { realEnvironment } from "../environment.ts";
import { keysInMemory } from "../certificates/key-store.ts";
import { waitForSignal } from "../signals.ts";
import { readUpOptions } from "../commands/up-options.ts";
import type { UpOptions } from "../commands/up-options.ts";
import { standInVersion } from "./etcd-version.ts";

/** Runs until SIGTERM or SIGINT. Throws UsageError, or when the server cannot start. */
export async function runKubeApiServer(words: readonly string[]): Promise<void> {
  const options = await readOptions(words, process.env["CORACLE_ENVTEST_COMPONENTS"] ?? "");
  const environment = realEnvironment(options.isVerbose);
  const certificates = new Certificates(keysInMemory(), environment.clock);
  const signal = waitForSignal();
  await using apiServer = await startApiServer(environment, options, certificates);
  await using api = loopbackConnection(apiServer.url, apiServer.server.handle);
  await using _components = await startComponents({ environment, options, certificates, api });
  await signal;
}

async function readOptions(words: readonly string[], components: string): Promise<UpOptions> {
  const { flags, operands } = parseArguments(words, {}, { component: "apiserver" });
  const apiserver = flags.get("apiserver") ?? new Map<string, readonly string[]>();
  const etcd = apiserver.get("etcd-servers")?.at(-1);
  if (etcd === undefined) throw new UsageError("--etcd-servers must be specified");
  const named = components === "all" ? "apiserver,controllers,scheduler,kubelet" : `apiserver,${components}`;
  const options = new Map([
    ["components", named],
    ["runtime", "simulated"],
    ["node-name", "node"],
    ...((await isStandIn(etcd.split(",")[0]!)) ? ([["store", "memory"]] as const) : []),
  ]);
  const signingKey = apiserver.get("service-account-signing-key-file") ?? [];
  return readUpOptions({
    command: "kube-apiserver",
    operands,
    options,
    flags: new Map([
      ["apiserver", named.includes("kubelet") ? withNodeAuthorizer(apiserver) : apiserver],
      ["kubelet", new Map([["port", ["0"]]])],
      ["controllers", new Map(signingKey.length > 0 ? [["service-account-private-key-file", signingKey]] : [])],
    ]),
  });
}

/** Nodes may do nothing without it; envtest asks for RBAC alone. */
function withNodeAuthorizer(flags: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const modes = flags.get("authorization-mode");
  if (modes === undefined || modes.some((list) => list.split(",").includes("Node"))) return flags;
  return new Map([...flags, ["authorization-mode", ["Node", ...modes]]]);
}

/** Whether our stand-in answers there. Throws when nothing does. */
async function isStandIn(url: string): Promise<boolean> {
  let response: Response;
  try {
    response = await fetch(`${url.replace(/\/$/, "")}/version`);
  } catch (error) {
    throw new Error(`no etcd answers at ${url}: start it first, or name another with --etcd-servers`, { cause: error });
  }
  const { etcdserver } = (await response.json()) as { etcdserver?: string };
  return etcdserver === standInVersion;
}

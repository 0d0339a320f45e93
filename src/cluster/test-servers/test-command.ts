/** `coracle test [OPTIONS] [--] CMD…`: a fresh cluster for the time a command runs. What it made is gone at the end. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepAdminKubeconfig } from "../files/admin-kubeconfig.ts";
import { loopbackConnection } from "../connections/api-connection.ts";
import { UsageError, parseArguments } from "../commands/arguments.ts";
import { Certificates } from "../certificates/certificates.ts";
import { startApiServer } from "../components/apiserver/apiserver.ts";
import { startComponents } from "../components/start-components.ts";
import { quietEnvironment } from "../environment.ts";
import type { Environment } from "../environment.ts";
import { keysInMemory } from "../certificates/key-store.ts";
import { resetInstance } from "../commands/stop-pods.ts";
import { readUpOptions, upOptionTable } from "../commands/up-options.ts";
import type { UpOptions } from "../commands/up-options.ts";
import { clusterUsable } from "./cluster-usable.ts";
import { exitCodeOfSignal, runProgram } from "./run-program.ts";
import { SignalRelay } from "./signal-relay.ts";

/** Resolves with the command's exit code; 128 and the signal's number when a signal ended it. Throws UsageError, or when there is no cluster. */
export async function runTest(words: readonly string[]): Promise<number> {
  const { command, options } = readTestArguments(words);
  const environment = quietEnvironment(options.isVerbose);
  using signals = new SignalRelay();
  const dataDir = await mkdtemp(join(tmpdir(), "coracle-test-"));
  try {
    return await runBeside(environment, { ...options, dataDir }, { command, signals });
  } finally {
    // Pods that are no simulation have left traces in the system.
    if (options.runtime === "simulated") await rm(dataDir, { recursive: true, force: true });
    else await resetInstance(environment, dataDir);
  }
}

interface Beside {
  readonly command: readonly string[];
  readonly signals: SignalRelay;
}

async function runBeside(environment: Environment, options: UpOptions, { command, signals }: Beside): Promise<number> {
  const certificates = new Certificates(keysInMemory(), environment.clock);
  await using apiServer = await startApiServer(environment, options, certificates);
  await using kubeconfig = await keepAdminKubeconfig(environment, {
    dataDir: options.dataDir,
    server: apiServer.url,
    authority: apiServer.authority,
    certificates,
  });
  await using api = loopbackConnection(apiServer.url, apiServer.server.handle);
  await using _components = await startComponents({ environment, options, certificates, api });
  await Promise.race([clusterUsable(environment, options, api), signals.first]);
  if (signals.received !== undefined) return exitCodeOfSignal(signals.received);
  return await runProgram(command, { KUBECONFIG: kubeconfig.path, USE_EXISTING_CLUSTER: "true" }, signals);
}

/** What `up` has, less what is decided here, with defaults of its own. */
const { "data-dir": _dataDir, detach: _detach, "no-install": _noInstall, ...testOptionTable } = upOptionTable;

/** Throws UsageError. */
export function readTestArguments(words: readonly string[]): { readonly command: readonly string[]; readonly options: UpOptions } {
  const { operands: command, ...parsed } = parseArguments(words, testOptionTable, { takesCommand: true });
  if (command.length === 0) throw new UsageError("there is no command to run: `coracle test -- go test ./...`");
  const isSimulated = (parsed.options.get("runtime") ?? "simulated") === "simulated";
  const defaults = {
    port: "0",
    "bind-address": "127.0.0.1",
    store: "memory",
    runtime: "simulated",
    "node-name": "node",
    // Simulated pods have no traffic.
    ...(isSimulated && { components: "apiserver,controllers,scheduler,kubelet" }),
  };
  const flags = new Map(parsed.flags);
  flags.set("kubelet", new Map([["port", ["0"]], ...(flags.get("kubelet") ?? [])]));
  return { command, options: readUpOptions({ ...parsed, operands: [], options: new Map([...Object.entries(defaults), ...parsed.options]), flags }) };
}

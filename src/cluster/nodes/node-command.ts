/** `coracle node ls|add|rm|start|stop`: further nodes of this machine; `coracle node run` is what each of them runs. */
import { resolve } from "node:path";
import { UsageError, parseArguments } from "../commands/arguments.ts";
import { adminConnection } from "../connections/admin-connection.ts";
import { requireOwner } from "../files/data-directory.ts";
import { commandEnvironment } from "../environment.ts";
import { removeProcessId, readProcessId, writeProcessId } from "../process-id.ts";
import { runComponent, serverPort } from "../commands/run-component.ts";
import { borrowPrograms } from "../shared-programs.ts";
import { defaultDataDir, readUpOptions, upOptionTable } from "../commands/up-options.ts";
import { MachineNodes } from "./machine-nodes.ts";
import { nodeFolder } from "./node-folders.ts";

const usage = "usage: coracle node ls | add NAME | rm NAME | start NAME | stop NAME   [--data-dir DIR]";

export async function runNode(words: readonly string[]): Promise<void> {
  if (words[1] === "run") return runOneNode(words);
  const { operands, options } = parseArguments(words, { "data-dir": "value" });
  const [action = "", name = "", ...rest] = operands;
  if (rest.length > 0 || !(action === "ls" ? name === "" : ["add", "rm", "start", "stop"].includes(action) && name !== "")) throw new UsageError(usage);
  const dataDir = resolve(options.get("data-dir") ?? defaultDataDir());
  await requireOwner(dataDir);
  const environment = commandEnvironment();
  await using borrowed = borrowPrograms(environment);
  await using admin = await adminConnection(dataDir, environment);
  const nodes = new MachineNodes({
    environment,
    programs: borrowed.programs,
    dataDir,
    serverPort: () => serverPort(dataDir),
    transport: () => admin.transport,
  });
  if (action === "ls") await listNodes(nodes, dataDir);
  else if (action === "add") await nodes.add(name);
  else if (action === "rm") await nodes.remove(name);
  else if (action === "start") await nodes.start(name);
  else await nodes.stop(name);
}

async function listNodes(nodes: MachineNodes, dataDir: string): Promise<void> {
  for (const { name } of await nodes.list())
    process.stdout.write(`${name.padEnd(40)}${(await readProcessId(nodeFolder(dataDir, name))) === undefined ? "stopped" : "running"}\n`);
}

/** A node in the foreground: kubelet, pod network and proxy, with the keys that lie in its data directory. */
async function runOneNode(words: readonly string[]): Promise<void> {
  const parsed = parseArguments(words, { ...upOptionTable, server: "value" }, { component: "kubelet" });
  const [, name = "", ...rest] = parsed.operands;
  const server = parsed.options.get("server");
  if (name === "" || rest.length > 0 || server === undefined) throw new UsageError("usage: coracle node run NAME --server URL [OPTIONS of `coracle kubelet`]");
  const options = { ...readUpOptions({ ...parsed, operands: [] }), nodeName: name, components: new Set(["network", "kubelet", "proxy"] as const) };
  await runComponent(options, server, { as: { username: `system:node:${name}`, groups: ["system:nodes"] }, onRunning: () => writeProcessId(options.dataDir) });
  await removeProcessId(options.dataDir);
}

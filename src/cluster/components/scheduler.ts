/** The scheduler as a component of `coracle up`. */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { TaskGroup } from "../../base/task-group.ts";
import { listenTls } from "../../apimachinery/listener/tls-listener.ts";
import { Client } from "../../client/index.ts";
import { createScheduler, readConfiguration } from "../../scheduler/index.ts";
import { UsageError } from "../commands/arguments.ts";
import { describeSystemError } from "../system-error.ts";
import { followPair } from "../certificates/renewal.ts";
import { delegatedAccess } from "./apiserver/delegated-access.ts";
import { ExtenderConnections } from "./extender-connection.ts";
import type { Transport } from "../../apimachinery/request.ts";
import type { Scheduler } from "../../scheduler/index.ts";
import type { ComponentContext, StartComponent } from "./start-components.ts";

export const startScheduler: StartComponent = async (context) => {
  const { environment, options, transportFor } = context;
  const { clock, random, log } = environment;
  const transport = transportFor({ username: "system:kube-scheduler", groups: ["system:authenticated"] });
  const file = options.flags.get("scheduler")?.get("config")?.at(-1);
  const config = file === undefined ? {} : readConfiguration(await configurationText(file));
  const running = new AsyncDisposableStack();
  try {
    const extenders = new ExtenderConnections();
    running.defer(() => extenders.close());
    const scheduler = createScheduler({ transport, clock, random, log, config, hostName: hostname(), postToExtender: extenders.post });
    await serve(scheduler, transport, context, running);
    const group = new TaskGroup({ onFailure: (name, error) => log.error("Component failed", { name, error }) });
    group.start("scheduler", (signal) => scheduler.run(signal));
    running.defer(() => group.close());
    return running;
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
};

async function configurationText(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new UsageError(`--scheduler.config: ${describeSystemError(error) ?? String(error)}`);
  }
}

const defaultPort = 10259;

/** Listens where `--secure-port` says: a process of its own at Kubernetes' port, and beside other components only when asked to. */
async function serve(
  scheduler: Scheduler,
  transport: Transport,
  { environment, options, certificates }: ComponentContext,
  running: AsyncDisposableStack,
): Promise<void> {
  const { clock, log } = environment;
  const asked = options.flags.get("scheduler")?.get("secure-port")?.at(-1);
  if (asked !== undefined && !/^\d{1,5}$/.test(asked)) throw new UsageError(`--scheduler.secure-port wants a port number; not ${JSON.stringify(asked)}`);
  const port = asked === undefined ? (options.components.size === 1 ? defaultPort : 0) : Number(asked);
  if (port === 0) return;
  const client = new Client({ transport, clock, userAgent: "kube-scheduler/v1.37.2" });
  const handler = delegatedAccess((request) => scheduler.serve(request), { client, authority: await certificates.authority(), nowMs: () => clock.nowMs() });
  const source = () => certificates.serving("scheduler", ["localhost", "127.0.0.1"]);
  const serving = await source();
  try {
    const listener = await listenTls({ address: options.bindAddress, port, ...serving, handler, log, maxBodyBytes: 1 << 20 });
    running.defer(() => listener.close());
    running.use(followPair({ clock, log, name: "scheduler", current: serving, source, onNew: listener.setCertificate }));
  } catch (error) {
    if (asked !== undefined || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    log.warn("The scheduler's usual port is taken; it is not served", { port });
  }
}

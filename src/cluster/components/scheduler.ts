/** The scheduler as a component of `coracle up`. */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { gateStates } from "../../api/feature-gates.ts";
import { TaskGroup } from "../../base/task-group.ts";
import { createScheduler, readConfiguration } from "../../scheduler/index.ts";
import { UsageError } from "../commands/arguments.ts";
import { describeSystemError } from "../system-error.ts";
import { serveComponent } from "./component-server.ts";
import { runElected } from "./elected.ts";
import { ExtenderConnections } from "./extender-connection.ts";
import type { ApiRequest } from "../../apimachinery/request.ts";
import type { GateStates } from "../../api/feature-gates.ts";
import type { SchedulerConfiguration } from "../../scheduler/index.ts";
import type { StartComponent } from "./start-components.ts";

export const startScheduler: StartComponent = async (context) => {
  const { environment, options, transportFor } = context;
  const { clock, random, log } = environment;
  const transport = transportFor({ username: "system:kube-scheduler", groups: ["system:authenticated"] });
  const file = options.flags.get("scheduler")?.get("config")?.at(-1);
  const config = file === undefined ? {} : readConfiguration(await configurationText(file));
  const gates = gatesOf(options.flags.get("scheduler")?.get("feature-gates") ?? []);
  const running = new AsyncDisposableStack();
  try {
    const extenders = new ExtenderConnections();
    running.defer(() => extenders.close());
    const scheduler = createScheduler({ transport, clock, random, log, config, gates, hostName: hostname(), postToExtender: extenders.post });
    const server = {
      component: "scheduler" as const,
      userAgent: "kube-scheduler/v1.37.2",
      usualPort: 10259,
      transport,
      handler: (request: ApiRequest) => scheduler.serve(request),
    };
    running.use(await serveComponent(server, context));
    const group = new TaskGroup({ onFailure: (name, error) => log.error("Component failed", { name, error }) });
    const flags = new Map([...electionFlags(config), ...(options.flags.get("scheduler") ?? [])]);
    group.start("scheduler", (signal) =>
      runElected({ environment, options, flags, name: "kube-scheduler", transport }, (leading) => scheduler.run(leading), signal),
    );
    running.defer(() => group.close());
    return running;
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
};

function gatesOf(values: readonly string[]): GateStates {
  const states = gateStates(values.flatMap((value) => value.split(",")).filter((pair) => pair !== ""));
  if (typeof states.fault === "string") throw new UsageError(`--scheduler.feature-gates: ${states.fault}`);
  return states as GateStates;
}

/** What the configuration says of the election, as the flags that go before it. */
function electionFlags({ leaderElection = {} }: SchedulerConfiguration): [string, readonly string[]][] {
  const names = {
    leaderElect: "leader-elect",
    leaseDuration: "leader-elect-lease-duration",
    renewDeadline: "leader-elect-renew-deadline",
    retryPeriod: "leader-elect-retry-period",
    resourceName: "leader-elect-resource-name",
    resourceNamespace: "leader-elect-resource-namespace",
  } as const;
  return Object.entries(names).flatMap(([field, flag]) => {
    const value = leaderElection[field as keyof typeof names];
    return value === undefined ? [] : [[flag, [String(value)]]];
  });
}

async function configurationText(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new UsageError(`--scheduler.config: ${describeSystemError(error) ?? String(error)}`);
  }
}

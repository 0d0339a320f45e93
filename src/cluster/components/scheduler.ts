/** The scheduler as a component of `coracle up`. */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { TaskGroup } from "../../base/task-group.ts";
import { createScheduler, readConfiguration } from "../../scheduler/index.ts";
import { ExtenderConnections } from "./extender-connection.ts";
import type { StartComponent } from "./start-components.ts";

export const startScheduler: StartComponent = async ({ environment, options, transportFor }) => {
  const { clock, random, log } = environment;
  const transport = transportFor({ username: "system:kube-scheduler", groups: ["system:authenticated"] });
  const file = options.flags.get("scheduler")?.get("config")?.at(-1);
  const config = file === undefined ? {} : readConfiguration(await readFile(file));
  const extenders = new ExtenderConnections();
  const scheduler = createScheduler({ transport, clock, random, log, config, hostName: hostname(), postToExtender: extenders.post });
  const group = new TaskGroup({ onFailure: (name, error) => log.error("Component failed", { name, error }) });
  group.start("scheduler", (signal) => scheduler.run(signal));
  return {
    async [Symbol.asyncDispose]() {
      await group.close();
      await extenders.close();
    },
  };
};

/** Load balancers as a component: their addresses are of a pool for which the proxy of each node answers. */
import { TaskGroup } from "../../base/task-group.ts";
import { runCloud } from "../../cloud/index.ts";
import type { StartComponent } from "./start-components.ts";

export const startCloud: StartComponent = async ({ environment, options, transportFor }) => {
  const log = environment.log.with({ component: "cloud" });
  const group = new TaskGroup({ onFailure: (name, error) => log.error("A component failed", { name, error }) });
  const transport = transportFor({
    username: "system:serviceaccount:kube-system:service-controller",
    groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
  });
  group.start("cloud", (signal) => runCloud({ ...environment, log, transport, pool: options.loadBalancerCidrs }, signal));
  return { [Symbol.asyncDispose]: () => group.close() };
};

/**
 * Further nodes as a component: starts those of this machine that are there and those that `--nodes` asks for, lets them go with us, and
 * approves what nodes of any machine ask for.
 */
import { hostname } from "node:os";
import { sleep } from "../../../base/clock.ts";
import { TaskGroup, untilAborted } from "../../../base/task-group.ts";
import { approverRules, runApprover } from "../../../joining/index.ts";
import { Client } from "../../../client/index.ts";
import { withAuthority } from "../../certificates/authority-following.ts";
import { tellNodes } from "../../joining/joined-authority.ts";
import { administrator } from "../../connections/admin-connection.ts";
import { ensureComponentRole } from "../../component-role.ts";
import { MachineNodes } from "../../nodes/machine-nodes.ts";
import { writeRanges } from "../../nodes/node-folders.ts";
import { borrowPrograms } from "../../shared-programs.ts";
import { chooseRuntime } from "./choose-runtime.ts";
import type { StartComponent } from "../start-components.ts";

const renewalCheckMs = 12 * 3_600_000;

/** Only with containers: nodes of other runtimes are part of the kubelet component. They start one after the other, and nobody waits for them. */
export const startMachineNodes: StartComponent = async (context) => {
  const { environment, options, api, transportFor } = context;
  const borrowed = borrowPrograms(environment);
  const { log } = environment;
  if ((await chooseRuntime(options, borrowed.programs)).kind !== "containerd" || !options.components.has("kubelet")) return borrowed;
  await writeRanges(options.dataDir, options);
  const nodes = new MachineNodes({
    environment,
    programs: borrowed.programs,
    dataDir: options.dataDir,
    serverPort: async () => Number(new URL(api.url).port),
    transport: () => transportFor(administrator),
  });
  const group = new TaskGroup({ onFailure: (name, error) => log.error("A part of the nodes failed", { name, error }) });
  const user = "system:serviceaccount:kube-system:coracle-node-approver";
  await ensureComponentRole(context, { name: "system:coracle-node-approver", user, rules: approverRules() });
  const approver = transportFor({ username: user, groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"] });
  group.start("approver", (signal) => runApprover({ ...environment, log: log.with({ component: "nodes" }), transport: approver }, signal));
  group.start("authorities", (signal) =>
    withAuthority({ ...environment, certificates: context.certificates, name: "nodes" }, signal, async (authority, current) => {
      await tellNodes(new Client({ transport: transportFor(administrator), clock: environment.clock, userAgent: "coracle", signal: current }), authority);
      await untilAborted(current);
    }),
  );
  group.start("nodes", async (signal) => {
    const first = options.nodeName ?? hostname().toLowerCase();
    const known = await nodes.list();
    const names = Array.from({ length: options.nodes - 1 }, (_, index) => `${first}-${index + 2}`).filter((name) => known.every((node) => node.name !== name));
    for (const { name } of known.filter(({ isStopped }) => !isStopped)) if (!signal.aborted) await nodes.start(name);
    for (const name of names) if (!signal.aborted) await nodes.add(name);
    for (;;) {
      await sleep(environment.clock, renewalCheckMs, signal);
      await nodes.renewCertificates().catch((error: unknown) => log.warn("Could not renew the nodes' certificates", { error }));
    }
  });
  return {
    async [Symbol.asyncDispose]() {
      await group.close();
      await nodes.letGo();
      await borrowed[Symbol.asyncDispose]();
    },
  };
};

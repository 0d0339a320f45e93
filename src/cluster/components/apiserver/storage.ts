/** The provisioner of volumes as a component: its directories lie under the data directory. */
import { join } from "node:path";
import { TaskGroup } from "../../../base/task-group.ts";
import { createProvisioner, localDirectories, noDirectories, provisionerRules } from "../../../storage-provisioner/index.ts";
import { ensureComponentRole } from "../../component-role.ts";
import { borrowPrograms } from "../../shared-programs.ts";
import { chooseRuntime } from "../node/choose-runtime.ts";
import type { ComponentContext } from "../start-components.ts";

const user = "system:serviceaccount:kube-system:coracle-local-path";

export async function startStorage(context: ComponentContext): Promise<AsyncDisposable> {
  const { environment, options, transportFor } = context;
  const log = environment.log.with({ component: "storage" });
  await using borrowed = borrowPrograms(environment);
  const { kind } = await chooseRuntime(options, borrowed.programs);
  const root = join(options.dataDir, "volumes");
  await ensureComponentRole(context, { name: "system:coracle-local-path", user, rules: provisionerRules() });
  const provisioner = createProvisioner({
    transport: transportFor({ username: user, groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"] }),
    clock: environment.clock,
    random: environment.random,
    log,
    directories: kind === "simulated" ? noDirectories(root) : localDirectories(root),
  });
  const group = new TaskGroup({ onFailure: (name, error) => log.error("A component failed", { name, error }) });
  group.start("storage", (signal) => provisioner.run(signal));
  return { [Symbol.asyncDispose]: () => group.close() };
}

/** The controllers as a component of `coracle up`. */
import { TaskGroup } from "../../base/task-group.ts";
import { runControllers } from "../../controllers/index.ts";
import { quotaRules } from "./quota-rules.ts";
import type { StartComponent } from "./start-components.ts";

export const startControllers: StartComponent = async ({ environment, options, certificates, transportFor }) => {
  const { clock, random, log } = environment;
  const caBundle = await certificates.authority();
  const authorityKey = await certificates.authorityKey();
  const serviceAccountKey = await certificates.serviceAccountKey();
  const flags = options.flags.get("controllers") ?? new Map<string, string[]>();
  const group = new TaskGroup({ onFailure: (name, error) => log.error("Component failed", { name, error }) });
  group.start("controllers", (signal) => runControllers({ transportFor, clock, random, log, signal, caBundle, authorityKey, serviceAccountKey, quotaRules, flags }));
  return { [Symbol.asyncDispose]: () => group.close() };
};

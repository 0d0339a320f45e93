/** The built-in controllers: what kube-controller-manager runs. */
export { builtInControllers, selectControllers } from "./registry.ts";
export type { ControllerEntry, ControllerOptions } from "./registry.ts";
export { runControllers } from "./run.ts";
export type { ControllerRunOptions } from "./run.ts";
export { FlagError } from "./flags.ts";
export type { ManagerFlags } from "./flags.ts";
export type { QuotaRules } from "./resource-quota/plan.ts";
export { ControllersServer } from "./server/controllers-server.ts";

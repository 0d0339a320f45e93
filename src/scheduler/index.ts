/** The scheduler: the best node for every pod, with reasons. */
export { createScheduler } from "./scheduler.ts";
export { runScheduler } from "./run-scheduler.ts";
export type { RunSchedulerOptions } from "./run-scheduler.ts";
export type { Scheduler, SchedulerOptions } from "./scheduler.ts";
export { ConfigurationError } from "./config/configuration-error.ts";
export { readConfiguration } from "./config/read-configuration.ts";
export type { PluginSet, ProfileConfiguration, SchedulerConfiguration } from "./config/configuration.ts";
export type { PluginFactory, PluginRegistry, PluginServices } from "./config/plugin-registry.ts";
export type { Assigned, Decision, Diagnosis, Failed, Scores, Unschedulable } from "./framework/decision.ts";
export type { ClusterEvent, EventAction, EventHint, EventResource } from "./framework/cluster-event.ts";
export type { Cycle, NodeFilter, NodeScorer, PermitWait, Plugin, PostFilterResult, QueuedPod, Reservation } from "./framework/plugin.ts";
export type { ExtenderPost, ExtenderRequest } from "./extenders/extender.ts";
export type { ExtenderConfiguration, ExtenderTls } from "./extenders/configuration.ts";
export { failed, isRefusal, pending, unresolvable, unschedulable } from "./framework/refusal.ts";
export type { Refusal } from "./framework/refusal.ts";
export { NodeInfo } from "./state/node-info.ts";
export type { PodInfo } from "./state/pod-info.ts";
export type { ClusterObjects, Snapshot } from "./state/snapshot.ts";

/** For tests: a whole cluster on a virtual clock, scenarios, faults. */
export { TestCluster } from "./cluster.ts";
export type { TestClusterOptions } from "./cluster.ts";
export type { ClusterComponent, ComponentContext } from "./component.ts";
export { isHeartbeat, isWrite } from "./counted-handler.ts";
export type { RequestObserver } from "./counted-handler.ts";
export { faultRuntime } from "./fault-runtime.ts";
export { FaultStore } from "./fault-store.ts";
export { FaultTransport } from "./fault-transport.ts";
export { HollowNodes } from "./hollow-nodes.ts";
export type { HollowNodeOptions } from "./hollow-nodes.ts";
export { Cluster, startCluster } from "./start-cluster/start-cluster.ts";
export type { StartClusterOptions } from "./start-cluster/start-cluster.ts";
export type { DecisionEntry, WriteEntry } from "./start-cluster/story.ts";
export type { TestHooks } from "./start-cluster/failed-test.ts";
export { scenarioTests } from "./scenario-tests.ts";
export type { ScenarioOptions } from "./scenario-tests.ts";

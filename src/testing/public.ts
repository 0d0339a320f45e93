/** `coracle/testing`, as the package has it: a cluster for a test, and faults to put into it. */
export { seededRandom } from "../base/random.ts";
export type { Random } from "../base/random.ts";
export { sleep } from "../base/clock.ts";
export type { Clock } from "../base/clock.ts";
export type { KubeObject, ObjectMeta } from "../apimachinery/object.ts";
export type { Transport, UserInfo } from "../apimachinery/request.ts";
export type { ClusterComponent, ComponentContext } from "./component.ts";
export { FaultTransport, TransportFaultError } from "./fault-transport.ts";
export type { FaultTransportOptions, FaultyRequest, TransportFault } from "./fault-transport.ts";
export { Cluster, startCluster } from "./start-cluster/start-cluster.ts";
export type { StartClusterOptions } from "./start-cluster/start-cluster.ts";
export type { DecisionEntry, WriteEntry } from "./start-cluster/story.ts";
export type { TestHooks } from "./start-cluster/failed-test.ts";

/** Talking to the API: requests as values, transports, typed client, informers, work queue, events, leader election. */
export { Client, isDeletedObject, watchError } from "./client.ts";
export type { CallOptions, ClientOptions, ObjectList, SubresourceAddress, SubresourceOption, WatchEvent } from "./client.ts";
export { discoverResources, preferredResources, resourceOfKind } from "./discovery.ts";
export type { DiscoveredResource, DiscoveredSubresource } from "./discovery.ts";
export { edited } from "./objects/edited.ts";
export { ensureObject } from "./objects/ensure-object.ts";
export { eventName } from "./events/event-name.ts";
export { buildEvent, EventRecorder } from "./events/event-recorder.ts";
export { KeyedLanes } from "./events/keyed-lanes.ts";
export type { EventRecorderOptions, EventSink, EventText } from "./events/event-recorder.ts";
export { InformerSet } from "./caches/informer-set.ts";
export type { InformerSelection, InformerSetOptions } from "./caches/informer-set.ts";
export { Informer } from "./caches/informer.ts";
export type { Change, InformerHandler } from "./caches/informer.ts";
export { connectionSettings, formatKubeconfig, KubeconfigError, parseKubeconfig, singleKubeconfig } from "./transports/kubeconfig.ts";
export type { ConnectionSettings, Kubeconfig } from "./transports/kubeconfig.ts";
export { LeadershipLostError, runLeading } from "./work/leader-election.ts";
export type { LeaderElectionOptions } from "./work/leader-election.ts";
export { loopbackTransport } from "./transports/loopback-transport.ts";
export type { RequestHandler } from "./transports/loopback-transport.ts";
export { ObjectCache } from "./caches/object-cache.ts";
export type { IndexFunction, Lister } from "./caches/object-cache.ts";
export { keyOf, objectKey, splitKey } from "./objects/object-key.ts";
export { controllerOf, controllerReference, referenceTo } from "./objects/object-reference.ts";
export type { ObjectReference } from "./objects/object-reference.ts";
export { pathOf } from "./requests/request-builder.ts";
export type { DeleteOptions, GetOptions, ListOptions, Patch, PatchType, RequestValue, WatchOptions, WriteOptions } from "./requests/request-builder.ts";
export { metadataOf, resourceLabel } from "./resource-type.ts";
export type { ResourceType } from "./resource-type.ts";
export { compareResourceVersions } from "./caches/resource-version.ts";
export { resources } from "./resources.ts";
export { readBody } from "./requests/response.ts";
export { microTime, SeriesEventRecorder } from "./events/series-event-recorder.ts";
export type { SeriesEventRecorderOptions, SeriesEventText } from "./events/series-event-recorder.ts";
export { hasStatusCause, isNamespaceTerminating } from "./requests/status-cause.ts";
export { TlsTransport, TransportError } from "./transports/tls-transport.ts";
export type { TlsTransportOptions } from "./transports/tls-transport.ts";
export { userAgent } from "./user-agent.ts";
export { workQueueMetrics } from "./work/work-queue-metrics.ts";
export { controllerBackoff, WorkQueue } from "./work/work-queue.ts";
export type { Worker, WorkOptions, WorkQueueMetrics } from "./work/work-queue.ts";
export { WriteTracker } from "./caches/write-tracker.ts";
export { isAlreadyExists, isConflict, isExpired, isForbidden, isInvalid, isNotFound, StatusError } from "../apimachinery/status.ts";
export type { Status } from "../apimachinery/status.ts";
export type { DeepReadonly } from "../apimachinery/json.ts";
export type { KubeObject, ObjectMeta, OwnerReference } from "../apimachinery/object.ts";
export type { Deployment, DaemonSet, ReplicaSet, StatefulSet } from "../api/apps-v1/types.ts";
export type { CronJob, Job } from "../api/batch-v1/types.ts";
export type {
  ConfigMap,
  Container,
  Event,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  PodTemplateSpec,
  Secret,
  Service,
  ServiceAccount,
} from "../api/core-v1/types.ts";
export type { Condition } from "../api/meta-v1/types.ts";
export type { Ingress } from "../api/networking-v1/types.ts";

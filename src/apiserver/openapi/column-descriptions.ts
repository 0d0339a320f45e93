/** What the columns of tables say of themselves: the description of the field they show, or a text of their own. */
import type { Descriptions } from "./descriptions.ts";

/** The description of a built-in resource's column; empty when it has none. */
export function describeColumn(resource: string, column: string, descriptions: Descriptions): string {
  const source = ofResource[resource]?.[column] ?? ofAny[column];
  if (source === undefined) return "";
  if (typeof source === "string") return source;
  return descriptions.field(source[0], source[1]);
}

/** A text, or a type (without `api.` and `io.k8s.`) and its field. */
type Source = string | readonly [type: string, field: string];
type Columns = Readonly<Record<string, Source>>;

const field = (type: string, name: string): Source => [`api.${type}`, name];
const fields = (type: string, columns: Readonly<Record<string, string>>): Columns =>
  Object.fromEntries(Object.entries(columns).map(([column, name]) => [column, field(type, name)]));
const metadata = "apimachinery.pkg.apis.meta.v1.ObjectMeta";

const ofAny: Columns = {
  Name: [metadata, "name"],
  Age: [metadata, "creationTimestamp"],
  "Created At": [metadata, "creationTimestamp"],
  Containers: "Names of each container in the template.",
  Images: "Images referenced by each container in the template.",
};

const replicas = (kind: string): Columns => ({
  Desired: field(`${kind}Spec`, "replicas"),
  Current: field(`${kind}Status`, "replicas"),
  Ready: field(`${kind}Status`, "readyReplicas"),
  Selector: field(`${kind}Spec`, "selector"),
});
const subjects = (kind: string): Columns => ({
  Users: `Users in the ${kind}`,
  Groups: `Groups in the ${kind}`,
  ServiceAccounts: `ServiceAccounts in the ${kind}`,
});
const webhooks: Columns = { Webhooks: "Webhooks indicates the number of webhooks registered in this configuration" };
const policy = { ParamKind: "ParamKind specifies the kind of resources used to parameterize this policy" };
const binding: Columns = {
  PolicyName: "PolicyName indicates the policy definition which the policy binding binded to",
  ParamRef: "ParamRef indicates the param resource which sets the configuration param",
};
const events: Columns = {
  ...fields("core.v1.Event", {
    "Last Seen": "lastTimestamp",
    Type: "type",
    Reason: "reason",
    Object: "involvedObject",
    Source: "source",
    Message: "message",
    "First Seen": "firstTimestamp",
    Count: "count",
  }),
  Subobject: field("core.v1.ObjectReference", "fieldPath"),
};
const autoscalers: Columns = {
  ...fields("autoscaling.v2.HorizontalPodAutoscalerSpec", { Reference: "scaleTargetRef", Targets: "metrics", MinPods: "minReplicas", MaxPods: "maxReplicas" }),
  Replicas: field("autoscaling.v2.HorizontalPodAutoscalerStatus", "currentReplicas"),
};

const ofResource: Readonly<Record<string, Columns>> = {
  componentstatuses: {
    Status: "Status of the component conditions",
    Message: "Message of the component conditions",
    Error: "Error of the component conditions",
  },
  configmaps: fields("core.v1.ConfigMap", { Data: "data" }),
  endpoints: fields("core.v1.Endpoints", { Endpoints: "subsets" }),
  events,
  namespaces: { Status: "The status of the namespace" },
  nodes: {
    Status: "The status of the node",
    Roles: "The roles of the node",
    ...fields("core.v1.NodeStatus", { "Internal-IP": "addresses", "External-IP": "addresses" }),
    ...fields("core.v1.NodeSystemInfo", {
      Version: "kubeletVersion",
      "OS-Image": "osImage",
      "Kernel-Version": "kernelVersion",
      "Container-Runtime": "containerRuntimeVersion",
    }),
  },
  persistentvolumeclaims: {
    ...fields("core.v1.PersistentVolumeClaimStatus", { Status: "phase", Capacity: "capacity", "Access Modes": "accessModes" }),
    ...fields("core.v1.PersistentVolumeClaimSpec", { Volume: "volumeName", VolumeMode: "volumeMode" }),
    StorageClass: "StorageClass of the pvc",
    VolumeAttributesClass: "VolumeAttributesClass of the pvc",
  },
  persistentvolumes: {
    ...fields("core.v1.PersistentVolumeSpec", {
      Capacity: "capacity",
      "Access Modes": "accessModes",
      "Reclaim Policy": "persistentVolumeReclaimPolicy",
      Claim: "claimRef",
      VolumeMode: "volumeMode",
    }),
    ...fields("core.v1.PersistentVolumeStatus", { Status: "phase", Reason: "reason" }),
    StorageClass: "StorageClass of the pv",
    VolumeAttributesClass: "VolumeAttributesClass of the pv",
  },
  pods: {
    Ready: "The aggregate readiness state of this pod for accepting traffic.",
    Status: "The aggregate status of the containers in this pod.",
    Restarts: "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
    ...fields("core.v1.PodStatus", { IP: "podIP", "Nominated Node": "nominatedNodeName" }),
    ...fields("core.v1.PodSpec", { Node: "nodeName", "Readiness Gates": "readinessGates" }),
  },
  podtemplates: { "Pod Labels": "The labels for the pod template." },
  replicationcontrollers: replicas("core.v1.ReplicationController"),
  resourcequotas: {
    Request: "Request represents a minimum amount of cpu/memory that a container may consume.",
    Limit: "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
  },
  secrets: fields("core.v1.Secret", { Type: "type", Data: "data" }),
  services: fields("core.v1.ServiceSpec", { Type: "type", "Cluster-IP": "clusterIP", "External-IP": "externalIPs", "Port(s)": "ports", Selector: "selector" }),
  apiservices: { Service: "The reference to the service that hosts this API endpoint.", Available: "Whether this service is available." },
  controllerrevisions: { Controller: "Controller of the object", Revision: field("apps.v1.ControllerRevision", "revision") },
  daemonsets: {
    ...fields("apps.v1.DaemonSetStatus", {
      Desired: "desiredNumberScheduled",
      Current: "currentNumberScheduled",
      Ready: "numberReady",
      "Up-to-date": "updatedNumberScheduled",
      Available: "numberAvailable",
    }),
    "Node Selector": field("core.v1.PodSpec", "nodeSelector"),
    Selector:
      "A label query over pods that are managed by the daemon set. Must match in order to be controlled. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
  },
  deployments: {
    Ready: "Number of the pod with ready state",
    ...fields("apps.v1.DeploymentStatus", { "Up-to-date": "updatedReplicas", Available: "availableReplicas" }),
    Selector:
      "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected by this deployment. It must match the pod template's labels.",
  },
  replicasets: {
    ...replicas("apps.v1.ReplicaSet"),
    Selector:
      "Selector is a label query over pods that should match the replica count. Label keys and values that must match in order to be controlled by this replica set. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
  },
  scale: { Desired: field("autoscaling.v1.ScaleSpec", "replicas"), Available: field("autoscaling.v1.ScaleStatus", "replicas") },
  statefulsets: { Ready: "Number of the pod with ready state" },
  "events.k8s.io/events": events,
  horizontalpodautoscalers: autoscalers,
  cronjobs: {
    ...fields("batch.v1.CronJobSpec", { Schedule: "schedule", Timezone: "timeZone", Suspend: "suspend" }),
    ...fields("batch.v1.CronJobStatus", { Active: "active", "Last Schedule": "lastScheduleTime" }),
    Selector: field("batch.v1.JobSpec", "selector"),
  },
  jobs: {
    Status: "Status of the job.",
    Completions: field("batch.v1.JobStatus", "succeeded"),
    Duration: "Time required to complete the job.",
    Selector: field("batch.v1.JobSpec", "selector"),
  },
  certificatesigningrequests: {
    ...fields("certificates.v1.CertificateSigningRequestSpec", { SignerName: "signerName", Requestor: "request", RequestedDuration: "expirationSeconds" }),
    Condition: field("certificates.v1.CertificateSigningRequestStatus", "conditions"),
  },
  clustertrustbundles: fields("certificates.v1.ClusterTrustBundleSpec", { SignerName: "signerName" }),
  podcertificaterequests: {
    ...fields("certificates.v1.PodCertificateRequestSpec", {
      PodName: "podName",
      ServiceAccountName: "serviceAccountName",
      NodeName: "nodeName",
      SignerName: "signerName",
      UnverifiedUserAnnotations: "unverifiedUserAnnotations",
    }),
    State: "Is the request Pending, Issued, Denied, or Failed?",
  },
  ingressclasses: { Controller: "Controller that is responsible for handling this class", Parameters: "A reference to a resource with additional parameters" },
  ingresses: {
    Class: "The name of the IngressClass resource that should be used for additional configuration",
    Hosts: "Hosts that incoming requests are matched against before the ingress rule",
    Address: "Address is a list containing ingress points for the load-balancer",
    Ports: "Ports of TLS configurations that open",
  },
  ipaddresses: { ParentRef: "parentRef references the resource that an IPAddress is attached to. An IPAddress must reference a parent object." },
  networkpolicies: { "Pod-Selector": field("networking.v1.NetworkPolicySpec", "podSelector") },
  servicecidrs: fields("networking.v1.ServiceCIDRSpec", { CIDRs: "cidrs" }),
  poddisruptionbudgets: {
    "Min Available": "The minimum number of pods that must be available.",
    "Max Unavailable": "The maximum number of pods that may be unavailable.",
    "Allowed Disruptions": "Calculated number of pods that may be disrupted at this time.",
  },
  clusterrolebindings: { Role: field("rbac.v1.ClusterRoleBinding", "roleRef"), ...subjects("clusterRoleBinding") },
  rolebindings: { Role: field("rbac.v1.RoleBinding", "roleRef"), ...subjects("roleBinding") },
  csidrivers: {
    ...fields("storage.v1.CSIDriverSpec", {
      AttachRequired: "attachRequired",
      PodInfoOnMount: "podInfoOnMount",
      StorageCapacity: "storageCapacity",
      TokenRequests: "tokenRequests",
      RequiresRepublish: "requiresRepublish",
      Modes: "volumeLifecycleModes",
    }),
  },
  csinodes: { Drivers: "Drivers indicates the number of CSI drivers registered on the node" },
  storageclasses: fields("storage.v1.StorageClass", {
    Provisioner: "provisioner",
    ReclaimPolicy: "reclaimPolicy",
    VolumeBindingMode: "volumeBindingMode",
    AllowVolumeExpansion: "allowVolumeExpansion",
  }),
  volumeattachments: {
    ...fields("storage.v1.VolumeAttachmentSpec", { Attacher: "attacher", Node: "nodeName" }),
    PV: field("storage.v1.VolumeAttachmentSource", "persistentVolumeName"),
    Attached: field("storage.v1.VolumeAttachmentStatus", "attached"),
  },
  volumeattributesclasses: fields("storage.v1.VolumeAttributesClass", { DriverName: "driverName" }),
  mutatingadmissionpolicies: { Mutations: "Mutation indicates the number of mutations rules defined in this configuration", ...policy },
  mutatingadmissionpolicybindings: binding,
  mutatingwebhookconfigurations: webhooks,
  validatingadmissionpolicies: { Validations: "Validations indicates the number of validation rules defined in this configuration", ...policy },
  validatingadmissionpolicybindings: binding,
  validatingwebhookconfigurations: webhooks,
  customresourcedefinitions: {
    Scope: "Cluster/Namespaced",
    Versions: "Served versions",
    Group: "API group",
    Kind: "CustomResource kind",
    ShortNames: "Short names",
    Established: "Established status",
  },
  priorityclasses: fields("scheduling.v1.PriorityClass", { Value: "value", "Global-Default": "globalDefault", PreemptionPolicy: "preemptionPolicy" }),
  leases: fields("coordination.v1.LeaseSpec", { Holder: "holderIdentity" }),
  runtimeclasses: fields("node.v1.RuntimeClass", { Handler: "handler" }),
  endpointslices: fields("discovery.v1.EndpointSlice", { AddressType: "addressType", Ports: "ports", Endpoints: "endpoints" }),
  devicetaintrules: fields("resource.v1.DeviceTaint", { Key: "key", Value: "value", Effect: "effect", TimeAdded: "timeAdded" }),
  resourceclaims: { State: "A summary of the current state (allocated, pending, reserved, etc.)." },
  resourceslices: { ...fields("resource.v1.ResourceSliceSpec", { Node: "nodeName", Driver: "driver" }), Pool: field("resource.v1.ResourcePool", "name") },
  flowschemas: {
    PriorityLevel: field("flowcontrol.v1.PriorityLevelConfigurationReference", "name"),
    MatchingPrecedence: field("flowcontrol.v1.FlowSchemaSpec", "matchingPrecedence"),
    DistinguisherMethod: field("flowcontrol.v1.FlowDistinguisherMethod", "type"),
    MissingPL: "references a broken or non-existent PriorityLevelConfiguration",
  },
  prioritylevelconfigurations: {
    Type: field("flowcontrol.v1.PriorityLevelConfigurationSpec", "type"),
    NominalConcurrencyShares: field("flowcontrol.v1.LimitedPriorityLevelConfiguration", "nominalConcurrencyShares"),
    ...fields("flowcontrol.v1.QueuingConfiguration", { Queues: "queues", HandSize: "handSize", QueueLengthLimit: "queueLengthLimit" }),
  },
  storageversionmigrations: { Resource: "GroupResource to migrate", Status: "Status of the migration" },
};

import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "../api/admissionregistration-v1/types.ts";
import type { CustomResourceDefinition } from "../api/apiextensions-v1/types.ts";
import type { APIService } from "../api/apiregistration-v1/types.ts";
import type { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from "../api/apps-v1/types.ts";
import type { SelfSubjectReview, TokenReview } from "../api/authentication-v1/types.ts";
import type { LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview, SubjectAccessReview } from "../api/authorization-v1/types.ts";
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV1 } from "../api/autoscaling-v1/types.ts";
import type { HorizontalPodAutoscaler } from "../api/autoscaling-v2/types.ts";
import type { CronJob, Job } from "../api/batch-v1/types.ts";
import type { CertificateSigningRequest, ClusterTrustBundle, PodCertificateRequest } from "../api/certificates-v1/types.ts";
import type { Lease } from "../api/coordination-v1/types.ts";
import type {
  Binding,
  ComponentStatus,
  ConfigMap,
  Endpoints,
  Event,
  LimitRange,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
} from "../api/core-v1/types.ts";
import type { EndpointSlice } from "../api/discovery-v1/types.ts";
import type { Event as SeriesEvent } from "../api/events-v1/types.ts";
import type { FlowSchema, PriorityLevelConfiguration } from "../api/flowcontrol-v1/types.ts";
import type { IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR } from "../api/networking-v1/types.ts";
import type { RuntimeClass } from "../api/node-v1/types.ts";
import type { PodDisruptionBudget } from "../api/policy-v1/types.ts";
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "../api/rbac-v1/types.ts";
import type { DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from "../api/resource-v1/types.ts";
import type { PriorityClass } from "../api/scheduling-v1/types.ts";
import type { PodGroup } from "../api/scheduling-v1beta1/types.ts";
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment, VolumeAttributesClass } from "../api/storage-v1/types.ts";
import type { StorageVersionMigration } from "../api/storagemigration-v1/types.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { ResourceType } from "./resource-type.ts";

/**
 * Every built-in resource, typed: `resources.pods`, `resources.endpointSlices`. Names are the kinds in camel case, plural.
 * Where two groups serve the same kind: `events` are core/v1, `seriesEvents` events.k8s.io/v1; `horizontalPodAutoscalers` are
 * autoscaling/v2, `horizontalPodAutoscalersV1` the old form.
 */
export const resources = {
  bindings: namespaced<Binding>("", "v1", "bindings", "Binding"),
  componentStatuses: clusterScoped<ComponentStatus>("", "v1", "componentstatuses", "ComponentStatus"),
  configMaps: namespaced<ConfigMap>("", "v1", "configmaps", "ConfigMap"),
  endpoints: namespaced<Endpoints>("", "v1", "endpoints", "Endpoints"),
  events: namespaced<Event>("", "v1", "events", "Event"),
  limitRanges: namespaced<LimitRange>("", "v1", "limitranges", "LimitRange"),
  namespaces: clusterScoped<Namespace>("", "v1", "namespaces", "Namespace"),
  nodes: clusterScoped<Node>("", "v1", "nodes", "Node"),
  persistentVolumeClaims: namespaced<PersistentVolumeClaim>("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
  persistentVolumes: clusterScoped<PersistentVolume>("", "v1", "persistentvolumes", "PersistentVolume"),
  pods: namespaced<Pod>("", "v1", "pods", "Pod"),
  podTemplates: namespaced<PodTemplate>("", "v1", "podtemplates", "PodTemplate"),
  replicationControllers: namespaced<ReplicationController>("", "v1", "replicationcontrollers", "ReplicationController"),
  resourceQuotas: namespaced<ResourceQuota>("", "v1", "resourcequotas", "ResourceQuota"),
  secrets: namespaced<Secret>("", "v1", "secrets", "Secret"),
  serviceAccounts: namespaced<ServiceAccount>("", "v1", "serviceaccounts", "ServiceAccount"),
  services: namespaced<Service>("", "v1", "services", "Service"),
  apiServices: clusterScoped<APIService>("apiregistration.k8s.io", "v1", "apiservices", "APIService"),
  controllerRevisions: namespaced<ControllerRevision>("apps", "v1", "controllerrevisions", "ControllerRevision"),
  daemonSets: namespaced<DaemonSet>("apps", "v1", "daemonsets", "DaemonSet"),
  deployments: namespaced<Deployment>("apps", "v1", "deployments", "Deployment"),
  replicaSets: namespaced<ReplicaSet>("apps", "v1", "replicasets", "ReplicaSet"),
  statefulSets: namespaced<StatefulSet>("apps", "v1", "statefulsets", "StatefulSet"),
  seriesEvents: namespaced<SeriesEvent>("events.k8s.io", "v1", "events", "Event"),
  selfSubjectReviews: clusterScoped<SelfSubjectReview>("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview"),
  tokenReviews: clusterScoped<TokenReview>("authentication.k8s.io", "v1", "tokenreviews", "TokenReview"),
  localSubjectAccessReviews: namespaced<LocalSubjectAccessReview>("authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview"),
  selfSubjectAccessReviews: clusterScoped<SelfSubjectAccessReview>("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
  selfSubjectRulesReviews: clusterScoped<SelfSubjectRulesReview>("authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
  subjectAccessReviews: clusterScoped<SubjectAccessReview>("authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview"),
  horizontalPodAutoscalers: namespaced<HorizontalPodAutoscaler>("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
  horizontalPodAutoscalersV1: namespaced<HorizontalPodAutoscalerV1>("autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
  cronJobs: namespaced<CronJob>("batch", "v1", "cronjobs", "CronJob"),
  jobs: namespaced<Job>("batch", "v1", "jobs", "Job"),
  certificateSigningRequests: clusterScoped<CertificateSigningRequest>("certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest"),
  clusterTrustBundles: clusterScoped<ClusterTrustBundle>("certificates.k8s.io", "v1", "clustertrustbundles", "ClusterTrustBundle"),
  podCertificateRequests: namespaced<PodCertificateRequest>("certificates.k8s.io", "v1", "podcertificaterequests", "PodCertificateRequest"),
  ingressClasses: clusterScoped<IngressClass>("networking.k8s.io", "v1", "ingressclasses", "IngressClass"),
  ingresses: namespaced<Ingress>("networking.k8s.io", "v1", "ingresses", "Ingress"),
  ipAddresses: clusterScoped<IPAddress>("networking.k8s.io", "v1", "ipaddresses", "IPAddress"),
  networkPolicies: namespaced<NetworkPolicy>("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy"),
  serviceCIDRs: clusterScoped<ServiceCIDR>("networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR"),
  podDisruptionBudgets: namespaced<PodDisruptionBudget>("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"),
  clusterRoleBindings: clusterScoped<ClusterRoleBinding>("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding"),
  clusterRoles: clusterScoped<ClusterRole>("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole"),
  roleBindings: namespaced<RoleBinding>("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"),
  roles: namespaced<Role>("rbac.authorization.k8s.io", "v1", "roles", "Role"),
  csiDrivers: clusterScoped<CSIDriver>("storage.k8s.io", "v1", "csidrivers", "CSIDriver"),
  csiNodes: clusterScoped<CSINode>("storage.k8s.io", "v1", "csinodes", "CSINode"),
  csiStorageCapacities: namespaced<CSIStorageCapacity>("storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity"),
  storageClasses: clusterScoped<StorageClass>("storage.k8s.io", "v1", "storageclasses", "StorageClass"),
  volumeAttachments: clusterScoped<VolumeAttachment>("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment"),
  volumeAttributesClasses: clusterScoped<VolumeAttributesClass>("storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass"),
  mutatingAdmissionPolicies: clusterScoped<MutatingAdmissionPolicy>(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingadmissionpolicies",
    "MutatingAdmissionPolicy",
  ),
  mutatingAdmissionPolicyBindings: clusterScoped<MutatingAdmissionPolicyBinding>(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingadmissionpolicybindings",
    "MutatingAdmissionPolicyBinding",
  ),
  mutatingWebhookConfigurations: clusterScoped<MutatingWebhookConfiguration>(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
  ),
  validatingAdmissionPolicies: clusterScoped<ValidatingAdmissionPolicy>(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicies",
    "ValidatingAdmissionPolicy",
  ),
  validatingAdmissionPolicyBindings: clusterScoped<ValidatingAdmissionPolicyBinding>(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
  ),
  validatingWebhookConfigurations: clusterScoped<ValidatingWebhookConfiguration>(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
  ),
  customResourceDefinitions: clusterScoped<CustomResourceDefinition>("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition"),
  priorityClasses: clusterScoped<PriorityClass>("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass"),
  podGroups: namespaced<PodGroup>("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup"),
  leases: namespaced<Lease>("coordination.k8s.io", "v1", "leases", "Lease"),
  runtimeClasses: clusterScoped<RuntimeClass>("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass"),
  endpointSlices: namespaced<EndpointSlice>("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
  deviceClasses: clusterScoped<DeviceClass>("resource.k8s.io", "v1", "deviceclasses", "DeviceClass"),
  deviceTaintRules: clusterScoped<DeviceTaintRule>("resource.k8s.io", "v1", "devicetaintrules", "DeviceTaintRule"),
  resourceClaims: namespaced<ResourceClaim>("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim"),
  resourceClaimTemplates: namespaced<ResourceClaimTemplate>("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate"),
  resourceSlices: clusterScoped<ResourceSlice>("resource.k8s.io", "v1", "resourceslices", "ResourceSlice"),
  flowSchemas: clusterScoped<FlowSchema>("flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "FlowSchema"),
  priorityLevelConfigurations: clusterScoped<PriorityLevelConfiguration>(
    "flowcontrol.apiserver.k8s.io",
    "v1",
    "prioritylevelconfigurations",
    "PriorityLevelConfiguration",
  ),
  storageVersionMigrations: clusterScoped<StorageVersionMigration>("storagemigration.k8s.io", "v1", "storageversionmigrations", "StorageVersionMigration"),
} as const;

function namespaced<T extends KubeObject>(group: string, version: string, resource: string, kind: string): ResourceType<T> {
  return { group, version, resource, kind, isNamespaced: true };
}

function clusterScoped<T extends KubeObject>(group: string, version: string, resource: string, kind: string): ResourceType<T> {
  return { group, version, resource, kind, isNamespaced: false };
}

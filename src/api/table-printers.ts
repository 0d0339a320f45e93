/** The printer of every built-in resource, by `group/version/resource` (the core group is empty: `/v1/pods`). */
import {
  admissionPolicyBindingColumns,
  mutatingAdmissionPolicyColumns,
  validatingAdmissionPolicyColumns,
  webhookConfigurationColumns,
} from "./admissionregistration-v1/columns.ts";
import { storageVersionColumns } from "./apiserverinternal-v1alpha1/columns.ts";
import { customResourceDefinitionColumns } from "./apiextensions-v1/columns.ts";
import { apiServiceColumns } from "./apiregistration-v1/columns.ts";
import { controllerRevisionColumns, daemonSetColumns, deploymentColumns, replicaSetColumns, statefulSetColumns } from "./apps-v1/columns.ts";
import { scaleColumns } from "./autoscaling-v1/columns.ts";
import { horizontalPodAutoscalerColumns } from "./autoscaling-v2/columns.ts";
import { cronJobColumns, jobColumns } from "./batch-v1/columns.ts";
import { certificateSigningRequestColumns, clusterTrustBundleColumns, podCertificateRequestColumns } from "./certificates-v1/columns.ts";
import { leaseColumns } from "./coordination-v1/columns.ts";
import { leaseCandidateColumns } from "./coordination-v1beta1/columns.ts";
import {
  componentStatusColumns,
  configMapColumns,
  endpointsColumns,
  eventColumns as coreEventColumns,
  limitRangeColumns,
  namespaceColumns,
  nodeColumns,
  persistentVolumeClaimColumns,
  persistentVolumeColumns,
  podTemplateColumns,
  replicationControllerColumns,
  resourceQuotaColumns,
  secretColumns,
  serviceAccountColumns,
  serviceColumns,
} from "./core-v1/columns.ts";
import { podColumns } from "./core-v1/pod-columns.ts";
import { endpointSliceColumns } from "./discovery-v1/columns.ts";
import { eventColumns } from "./events-v1/columns.ts";
import { flowSchemaColumns, priorityLevelConfigurationColumns } from "./flowcontrol-v1/columns.ts";
import { evictionColumns, evictionRequestColumns } from "./lifecycle-v1alpha1/columns.ts";
import { ingressClassColumns, ingressColumns, ipAddressColumns, networkPolicyColumns, serviceCidrColumns } from "./networking-v1/columns.ts";
import { runtimeClassColumns } from "./node-v1/columns.ts";
import { podDisruptionBudgetColumns } from "./policy-v1/columns.ts";
import { clusterRoleColumns, roleBindingColumns, roleColumns } from "./rbac-v1/columns.ts";
import { deviceClassColumns, deviceTaintRuleColumns, resourceClaimColumns, resourceClaimTemplateColumns, resourceSliceColumns } from "./resource-v1/columns.ts";
import { resourcePoolStatusRequestColumns } from "./resource-v1alpha3/columns.ts";
import { priorityClassColumns } from "./scheduling-v1/columns.ts";
import { compositePodGroupColumns } from "./scheduling-v1alpha3/compositepodgroup.ts";
import { podGroupColumns, workloadColumns } from "./scheduling-v1beta1/columns.ts";
import {
  csiDriverColumns,
  csiNodeColumns,
  csiStorageCapacityColumns,
  storageClassColumns,
  volumeAttachmentColumns,
  volumeAttributesClassColumns,
} from "./storage-v1/columns.ts";
import { storageVersionMigrationColumns } from "./storagemigration-v1/columns.ts";
import type { TablePrinter } from "./table.ts";

export const tablePrinters: ReadonlyMap<string, TablePrinter> = new Map<string, TablePrinter>([
  ["/v1/componentstatuses", componentStatusColumns],
  ["/v1/configmaps", configMapColumns],
  ["/v1/endpoints", endpointsColumns],
  ["/v1/events", coreEventColumns],
  ["/v1/limitranges", limitRangeColumns],
  ["/v1/namespaces", namespaceColumns],
  ["/v1/nodes", nodeColumns],
  ["/v1/persistentvolumeclaims", persistentVolumeClaimColumns],
  ["/v1/persistentvolumes", persistentVolumeColumns],
  ["/v1/pods", podColumns],
  ["/v1/podtemplates", podTemplateColumns],
  ["/v1/replicationcontrollers", replicationControllerColumns],
  ["/v1/resourcequotas", resourceQuotaColumns],
  ["/v1/secrets", secretColumns],
  ["/v1/serviceaccounts", serviceAccountColumns],
  ["/v1/services", serviceColumns],
  ["admissionregistration.k8s.io/v1/mutatingadmissionpolicies", mutatingAdmissionPolicyColumns],
  ["admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings", admissionPolicyBindingColumns],
  ["admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", webhookConfigurationColumns],
  ["admissionregistration.k8s.io/v1/validatingadmissionpolicies", validatingAdmissionPolicyColumns],
  ["admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", admissionPolicyBindingColumns],
  ["admissionregistration.k8s.io/v1/validatingwebhookconfigurations", webhookConfigurationColumns],
  ["apiextensions.k8s.io/v1/customresourcedefinitions", customResourceDefinitionColumns],
  ["apiregistration.k8s.io/v1/apiservices", apiServiceColumns],
  ["apps/v1/controllerrevisions", controllerRevisionColumns],
  ["apps/v1/daemonsets", daemonSetColumns],
  ["apps/v1/deployments", deploymentColumns],
  ["apps/v1/replicasets", replicaSetColumns],
  ["apps/v1/statefulsets", statefulSetColumns],
  ["autoscaling/v1/scales", scaleColumns],
  ["autoscaling/v2/horizontalpodautoscalers", horizontalPodAutoscalerColumns],
  ["batch/v1/cronjobs", cronJobColumns],
  ["batch/v1/jobs", jobColumns],
  ["certificates.k8s.io/v1/certificatesigningrequests", certificateSigningRequestColumns],
  ["certificates.k8s.io/v1/clustertrustbundles", clusterTrustBundleColumns],
  ["certificates.k8s.io/v1/podcertificaterequests", podCertificateRequestColumns],
  ["coordination.k8s.io/v1/leases", leaseColumns],
  ["coordination.k8s.io/v1beta1/leasecandidates", leaseCandidateColumns],
  ["discovery.k8s.io/v1/endpointslices", endpointSliceColumns],
  ["events.k8s.io/v1/events", eventColumns],
  ["flowcontrol.apiserver.k8s.io/v1/flowschemas", flowSchemaColumns],
  ["flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", priorityLevelConfigurationColumns],
  ["internal.apiserver.k8s.io/v1alpha1/storageversions", storageVersionColumns],
  ["lifecycle.k8s.io/v1alpha1/evictionrequests", evictionRequestColumns],
  ["lifecycle.k8s.io/v1alpha1/evictions", evictionColumns],
  ["networking.k8s.io/v1/ingressclasses", ingressClassColumns],
  ["networking.k8s.io/v1/ingresses", ingressColumns],
  ["networking.k8s.io/v1/ipaddresses", ipAddressColumns],
  ["networking.k8s.io/v1/networkpolicies", networkPolicyColumns],
  ["networking.k8s.io/v1/servicecidrs", serviceCidrColumns],
  ["node.k8s.io/v1/runtimeclasses", runtimeClassColumns],
  ["policy/v1/poddisruptionbudgets", podDisruptionBudgetColumns],
  ["rbac.authorization.k8s.io/v1/clusterrolebindings", roleBindingColumns],
  ["rbac.authorization.k8s.io/v1/clusterroles", clusterRoleColumns],
  ["rbac.authorization.k8s.io/v1/rolebindings", roleBindingColumns],
  ["rbac.authorization.k8s.io/v1/roles", roleColumns],
  ["resource.k8s.io/v1/deviceclasses", deviceClassColumns],
  ["resource.k8s.io/v1/devicetaintrules", deviceTaintRuleColumns],
  ["resource.k8s.io/v1/resourceclaims", resourceClaimColumns],
  ["resource.k8s.io/v1/resourceclaimtemplates", resourceClaimTemplateColumns],
  ["resource.k8s.io/v1/resourceslices", resourceSliceColumns],
  ["resource.k8s.io/v1alpha3/resourcepoolstatusrequests", resourcePoolStatusRequestColumns],
  ["scheduling.k8s.io/v1/priorityclasses", priorityClassColumns],
  ["scheduling.k8s.io/v1alpha3/compositepodgroups", compositePodGroupColumns],
  ["scheduling.k8s.io/v1beta1/podgroups", podGroupColumns],
  ["scheduling.k8s.io/v1beta1/workloads", workloadColumns],
  ["storage.k8s.io/v1/csidrivers", csiDriverColumns],
  ["storage.k8s.io/v1/csinodes", csiNodeColumns],
  ["storage.k8s.io/v1/csistoragecapacities", csiStorageCapacityColumns],
  ["storage.k8s.io/v1/storageclasses", storageClassColumns],
  ["storage.k8s.io/v1/volumeattachments", volumeAttachmentColumns],
  ["storage.k8s.io/v1/volumeattributesclasses", volumeAttributesClassColumns],
  ["storagemigration.k8s.io/v1/storageversionmigrations", storageVersionMigrationColumns],
]);

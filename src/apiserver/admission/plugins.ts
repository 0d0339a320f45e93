/**
 * All admission plugins in Kubernetes' order, and which are on by default (flags `enable-admission-plugins`, `disable-admission-plugins`).
 * Two of 1.36's are no more: PodGroupWorkloadExists was taken out before 1.37 (kubernetes/kubernetes#139008), and what JobValidation forbade,
 * another parallelism of a Job that is scheduled as a gang, is allowed since a gang's `minCount` can change (KEP-5547).
 */
import { certificateApproval, certificateSigning, certificateSubjectRestriction, clusterTrustBundleAttest } from "./certificates/signers.ts";
import type { AdmissionPlugin } from "./chain.ts";
import { alwaysAdmit, alwaysDeny } from "./meta/always.ts";
import { eventRateLimit } from "./meta/event-rate-limit.ts";
import { ownerReferencesPermissionEnforcement } from "./meta/owner-references.ts";
import { namespaceAutoProvision, namespaceExists } from "./namespaces/auto-provision.ts";
import { namespaceLifecycle } from "./namespaces/namespace-lifecycle.ts";
import { nodeRestriction } from "./nodes/node-restriction.ts";
import { taintNodesByCondition } from "./nodes/taint-nodes-by-condition.ts";
import { readConfiguration } from "./pod-security/configuration.ts";
import { podSecurity } from "./pod-security/pod-security.ts";
import { mutatingAdmissionPolicy } from "./policies/mutating-policy.ts";
import { validatingAdmissionPolicy } from "./policies/validating-policy.ts";
import { alwaysPullImages } from "./pods/always-pull-images.ts";
import { nodeDeclaredFeatureValidator } from "./pods/declared-features.ts";
import { defaultTolerationSeconds } from "./pods/default-toleration-seconds.ts";
import type { TolerationSeconds } from "./pods/default-toleration-seconds.ts";
import { extendedResourceToleration } from "./pods/extended-resource-toleration.ts";
import { limitPodHardAntiAffinityTopology } from "./pods/hard-anti-affinity.ts";
import { podNodeSelector } from "./pods/node-selector.ts";
import { imagePolicyWebhook } from "./pods/image-policy-webhook.ts";
import { priority } from "./pods/priority.ts";
import { podResizeValidator } from "./pods/resize-validator.ts";
import { runtimeClass } from "./pods/runtime-class.ts";
import { serviceAccount } from "./pods/service-account.ts";
import { podTolerationRestriction } from "./pods/toleration-restriction.ts";
import { podTopologyLabels } from "./pods/topology-labels.ts";
import { limitRanger } from "./quota/limit-ranger.ts";
import { resourceQuota } from "./quota/resource-quota.ts";
import { denyServiceExternalIps } from "./services/deny-external-ips.ts";
import { persistentVolumeClaimResize } from "./storage/claim-resize.ts";
import { defaultIngressClass, defaultStorageClass } from "./storage/default-class.ts";
import { podGroupProtection, storageObjectInUseProtection } from "./storage/object-in-use-protection.ts";
import { mutatingAdmissionWebhook } from "./webhooks/mutating-webhooks.ts";
import { validatingAdmissionWebhook } from "./webhooks/validating-webhooks.ts";

export interface PluginChoice {
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
  readonly tolerationSeconds?: TolerationSeconds;
  /** Of `--admission-control-config-file`: each plugin's configuration, parsed. */
  readonly configurations?: Readonly<Record<string, unknown>>;
}

interface KnownPlugin {
  readonly name: string;
  readonly isDefault: boolean;
  /** Makes the plugin; throws an Error when its configuration is wrong. */
  make(configuration: unknown, choice: PluginChoice): AdmissionPlugin;
}

const byDefault = (plugin: AdmissionPlugin): KnownPlugin => ({ name: plugin.name, isDefault: true, make: () => plugin });
const onDemand = (plugin: AdmissionPlugin): KnownPlugin => ({ name: plugin.name, isDefault: false, make: () => plugin });

/** A plugin made anew with its configuration; what the file says is taken as it is. */
const configured = <C>(name: string, make: (configuration?: C) => AdmissionPlugin, isDefault = false): KnownPlugin => ({
  name,
  isDefault,
  make: (configuration) => make(configuration as C | undefined),
});

const known: readonly KnownPlugin[] = [
  onDemand(alwaysAdmit),
  onDemand(namespaceAutoProvision),
  byDefault(namespaceLifecycle),
  onDemand(namespaceExists),
  onDemand(limitPodHardAntiAffinityTopology),
  byDefault(limitRanger),
  byDefault(serviceAccount),
  onDemand(nodeRestriction),
  byDefault(taintNodesByCondition),
  onDemand(alwaysPullImages),
  configured("ImagePolicyWebhook", imagePolicyWebhook),
  { name: "PodSecurity", isDefault: true, make: (configuration) => podSecurity(readConfiguration(configuration)) },
  configured("PodNodeSelector", podNodeSelector),
  byDefault(priority),
  { name: "DefaultTolerationSeconds", isDefault: true, make: (_, { tolerationSeconds }) => defaultTolerationSeconds(tolerationSeconds) },
  configured("PodTolerationRestriction", podTolerationRestriction),
  configured("EventRateLimit", eventRateLimit),
  onDemand(extendedResourceToleration),
  byDefault(defaultStorageClass),
  byDefault(storageObjectInUseProtection),
  byDefault(podGroupProtection),
  onDemand(ownerReferencesPermissionEnforcement),
  byDefault(persistentVolumeClaimResize),
  byDefault(runtimeClass),
  byDefault(certificateApproval),
  byDefault(certificateSigning),
  byDefault(clusterTrustBundleAttest),
  byDefault(certificateSubjectRestriction),
  byDefault(defaultIngressClass),
  onDemand(denyServiceExternalIps),
  byDefault(podTopologyLabels),
  byDefault(nodeDeclaredFeatureValidator),
  byDefault(podResizeValidator),
  byDefault(mutatingAdmissionPolicy),
  byDefault(mutatingAdmissionWebhook),
  byDefault(validatingAdmissionPolicy),
  byDefault(validatingAdmissionWebhook),
  configured("ResourceQuota", resourceQuota, true),
  onDemand(alwaysDeny),
];

/** The plugins to run. Names that nobody knows are refused by the flags' reader. */
export function admissionPlugins(choice: PluginChoice): AdmissionPlugin[] {
  return known
    .filter(({ name, isDefault }) => (isDefault || choice.enabled.includes(name)) && !choice.disabled.includes(name))
    .map(({ name, make }) => make(choice.configurations?.[name], choice));
}

/** Names that `--enable-admission-plugins` takes. */
export const admissionPluginNames: readonly string[] = known.map(({ name }) => name);

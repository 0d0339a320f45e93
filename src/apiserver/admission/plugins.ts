/** All admission plugins in Kubernetes' order, and which are on by default (flags `enable-admission-plugins`, `disable-admission-plugins`). */
import { certificateApproval, certificateSigning, certificateSubjectRestriction, clusterTrustBundleAttest } from "./certificates/signers.ts";
import type { AdmissionPlugin } from "./chain.ts";
import { namespaceLifecycle } from "./namespaces/namespace-lifecycle.ts";
import { nodeRestriction } from "./nodes/node-restriction.ts";
import { taintNodesByCondition } from "./nodes/taint-nodes-by-condition.ts";
import { readConfiguration } from "./pod-security/configuration.ts";
import { podSecurity } from "./pod-security/pod-security.ts";
import { nodeDeclaredFeatureValidator } from "./pods/declared-features.ts";
import { defaultTolerationSeconds } from "./pods/default-toleration-seconds.ts";
import { priority } from "./pods/priority.ts";
import { podResizeValidator } from "./pods/resize-validator.ts";
import { runtimeClass } from "./pods/runtime-class.ts";
import { serviceAccount } from "./pods/service-account.ts";
import { podTopologyLabels } from "./pods/topology-labels.ts";
import { limitRanger } from "./quota/limit-ranger.ts";
import { resourceQuota } from "./quota/resource-quota.ts";
import type { LimitedResource } from "./quota/resource-quota.ts";
import { persistentVolumeClaimResize } from "./storage/claim-resize.ts";
import { defaultIngressClass, defaultStorageClass } from "./storage/default-class.ts";
import { storageObjectInUseProtection } from "./storage/object-in-use-protection.ts";

export interface PluginChoice {
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
  /** Of `--admission-control-config-file`: each plugin's configuration, parsed. */
  readonly configurations?: Readonly<Record<string, unknown>>;
}

interface KnownPlugin {
  readonly name: string;
  readonly isDefault: boolean;
  /** Makes the plugin; throws an Error when its configuration is wrong. */
  make(configuration: unknown): AdmissionPlugin;
}

const byDefault = (plugin: AdmissionPlugin): KnownPlugin => ({ name: plugin.name, isDefault: true, make: () => plugin });
const onDemand = (plugin: AdmissionPlugin): KnownPlugin => ({ name: plugin.name, isDefault: false, make: () => plugin });

const known: readonly KnownPlugin[] = [
  byDefault(namespaceLifecycle),
  byDefault(limitRanger),
  byDefault(serviceAccount),
  onDemand(nodeRestriction),
  byDefault(taintNodesByCondition),
  { name: "PodSecurity", isDefault: true, make: (configuration) => podSecurity(readConfiguration(configuration)) },
  byDefault(priority),
  byDefault(defaultTolerationSeconds),
  byDefault(defaultStorageClass),
  byDefault(storageObjectInUseProtection),
  byDefault(persistentVolumeClaimResize),
  byDefault(runtimeClass),
  byDefault(certificateApproval),
  byDefault(certificateSigning),
  byDefault(clusterTrustBundleAttest),
  byDefault(certificateSubjectRestriction),
  byDefault(defaultIngressClass),
  byDefault(podTopologyLabels),
  byDefault(nodeDeclaredFeatureValidator),
  byDefault(podResizeValidator),
  { name: "ResourceQuota", isDefault: true, make: (configuration) => resourceQuota(configuration as { limitedResources?: LimitedResource[] } | undefined) },
];

/** The plugins to run. Names that nobody knows are refused by the flags' reader. */
export function admissionPlugins(choice: PluginChoice): AdmissionPlugin[] {
  return known.filter(({ name, isDefault }) => (isDefault || choice.enabled.includes(name)) && !choice.disabled.includes(name)).map(({ name, make }) => make(choice.configurations?.[name]));
}

/** Names that `--enable-admission-plugins` takes. */
export const admissionPluginNames: readonly string[] = known.map(({ name }) => name);

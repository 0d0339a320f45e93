import { durationFlag, gateFlag, numberFlag } from "./flags.ts";
import { bootstrapSignerController } from "./bootstrap-signer/controller.ts";
import { clusterRoleAggregationController } from "./clusterrole-aggregation/controller.ts";
import { cronJobController } from "./cronjob/controller.ts";
import { daemonSetController } from "./daemonset/controller.ts";
import { deploymentController } from "./deployment/controller.ts";
import { disruptionController } from "./disruption/controller.ts";
import { endpointSliceMirroringController } from "./endpointslice-mirroring/controller.ts";
import { endpointSliceController } from "./endpointslice/controller.ts";
import { endpointsController } from "./endpoints/controller.ts";
import { garbageCollectorController } from "./garbage-collector/controller.ts";
import { legacyTokenCleaner } from "./legacy-token-cleaner/controller.ts";
import { podCertificateRequestCleaner } from "./podcertificaterequest-cleaner/controller.ts";
import { attributesClassProtectionController } from "./volume-protection/attributes-class-controller.ts";
import { jobController } from "./job/controller.ts";
import { namespaceController } from "./namespace/controller.ts";
import { ipamSettings, nodeIpamController } from "./node-ipam/controller.ts";
import { nodeLifecycleController } from "./node-lifecycle/controller.ts";
import { podGarbageCollector } from "./pod-gc/controller.ts";
import { podGroupProtectionController } from "./podgroup-protection/controller.ts";
import { replicaSetController } from "./replicaset/controller.ts";
import { replicationControllerController } from "./replicationcontroller/controller.ts";
import { rootCaController } from "./root-ca/controller.ts";
import { resourceQuotaController } from "./resource-quota/controller.ts";
import { serviceAccountTokenController } from "./service-account-tokens/controller.ts";
import { serviceAccountController } from "./service-account/controller.ts";
import { statefulSetController } from "./statefulset/controller.ts";
import { taintEvictionController } from "./taint-eviction/controller.ts";
import { tokenCleanerController } from "./token-cleaner/controller.ts";
import { ttlAfterFinishedController } from "./ttl-after-finished/controller.ts";
import { ttlController } from "./ttl/controller.ts";
import { claimProtectionController } from "./volume-protection/claim-controller.ts";
import { ephemeralVolumeController } from "./ephemeral-volume/controller.ts";
import { resourceClaimController } from "./resource-claim/controller.ts";
import { serviceCidrController } from "./service-cidr/controller.ts";
import { storageVersionMigratorController } from "./storage-version-migrator/controller.ts";
import { trustBundlePublisherController } from "./clustertrustbundle-publisher/controller.ts";
import { deviceTaintEvictionController } from "./device-taint-eviction/controller.ts";
import { attachDetachController } from "./attachdetach/controller.ts";
import { volumeExpanderController } from "./persistentvolume-expander/controller.ts";
import { horizontalPodAutoscalerController } from "./horizontal-pod-autoscaler/controller.ts";
import { requestApprovingController } from "./certificatesigningrequest/approving-controller.ts";
import { requestCleanerController } from "./certificatesigningrequest/cleaner-controller.ts";
import type { Authority } from "./certificatesigningrequest/certificate.ts";
import { requestSigningController } from "./certificatesigningrequest/signing-controller.ts";
import { volumeBinderController } from "./persistentvolume-binder/controller.ts";
import { volumeProtectionController } from "./volume-protection/volume-controller.ts";
import { validatingPolicyStatusController } from "./validatingadmissionpolicy-status/controller.ts";
import type { Controller } from "../operator/index.ts";
import type { ManagerFlags } from "./flags.ts";
import type { QuotaRules } from "./resource-quota/plan.ts";

/** Every controller there is, in the order in which they start, under the names that `--controllers` takes. */
export function builtInControllers(options: ControllerOptions): readonly ControllerEntry[] {
  const { flags, caBundle, signer, serviceAccountKey, quotaRules, namespaceGraceMs } = options;
  const ipam = ipamSettings(flags);
  const workers = (flag: string, fallback: number) => ({ workers: numberFlag(flags, `concurrent-${flag}-syncs`, fallback) });
  return [
    ...(serviceAccountKey === undefined
      ? []
      : [
          {
            ...on("serviceaccount-token-controller", ["serviceaccount-token"], () =>
              serviceAccountTokenController({ privateKey: serviceAccountKey, caBundle, ...workers("serviceaccount-token", 5) }),
            ),
            isManager: true,
          },
        ]),
    on("endpoints-controller", ["endpoint"], () => endpointsController(workers("endpoint", 5))),
    on("endpointslice-controller", ["endpointslice"], () =>
      endpointSliceController({ ...workers("service-endpoint", 5), maxEndpointsPerSlice: numberFlag(flags, "max-endpoints-per-slice", 100) }),
    ),
    on("endpointslice-mirroring-controller", ["endpointslicemirroring"], () =>
      endpointSliceMirroringController({ workers: numberFlag(flags, "mirroring-concurrent-service-endpoint-syncs", 5) }),
    ),
    on("replicationcontroller-controller", ["replicationcontroller"], () => replicationControllerController(workers("rc", 5))),
    on("pod-garbage-collector-controller", ["podgc"], () =>
      podGarbageCollector({ terminatedThreshold: numberFlag(flags, "terminated-pod-gc-threshold", 12_500) }),
    ),
    ...(quotaRules === undefined
      ? []
      : [
          on("resourcequota-controller", ["resourcequota"], () =>
            resourceQuotaController({
              rules: quotaRules,
              syncPeriodMs: durationFlag(flags, "resource-quota-sync-period", 300_000),
              ...workers("resource-quota", 5),
            }),
          ),
        ]),
    on("namespace-controller", ["namespace"], () =>
      namespaceController({ ...workers("namespace", 10), ...(namespaceGraceMs !== undefined && { graceMs: namespaceGraceMs }) }),
    ),
    on("serviceaccount-controller", ["serviceaccount"], () => serviceAccountController),
    on("garbage-collector-controller", ["garbagecollector"], () => garbageCollectorController(workers("gc", 20))),
    on("daemonset-controller", ["daemonset"], () => daemonSetController(workers("daemonset", 2))),
    on("job-controller", ["job"], () => jobController(workers("job", 5))),
    on("cronjob-controller", ["cronjob"], () => cronJobController(workers("cron-job", 5))),
    on("horizontal-pod-autoscaler-controller", ["horizontalpodautoscaling"], () =>
      horizontalPodAutoscalerController({
        periodMs: durationFlag(flags, "horizontal-pod-autoscaler-sync-period", 15_000),
        tolerance: numberFlag(flags, "horizontal-pod-autoscaler-tolerance", 0.1),
        workers: numberFlag(flags, "concurrent-horizontal-pod-autoscaler-syncs", 5),
      }),
    ),
    on("disruption-controller", ["disruption"], () => disruptionController()),
    on("deployment-controller", ["deployment"], () => deploymentController(workers("deployment", 5))),
    on("replicaset-controller", ["replicaset"], () => replicaSetController(workers("replicaset", 5))),
    on("statefulset-controller", ["statefulset"], () => statefulSetController(workers("statefulset", 5))),
    on("ttl-controller", ["ttl"], () => ttlController()),
    on("persistentvolume-binder-controller", ["persistentvolume-binder"], () => volumeBinderController()),
    ...(signer === undefined
      ? []
      : [
          on("certificatesigningrequest-signing-controller", ["csrsigning"], () =>
            requestSigningController({
              authority: signer,
              longestMs: durationFlag(flags, "cluster-signing-duration", 31_536_000_000),
            }),
          ),
        ]),
    on("certificatesigningrequest-approving-controller", ["csrapproving"], () => requestApprovingController()),
    on("certificatesigningrequest-cleaner-controller", ["csrcleaner"], () => requestCleanerController()),
    on("ephemeral-volume-controller", ["ephemeral-volume"], () => ephemeralVolumeController(workers("ephemeralvolume", 5))),
    on("resourceclaim-controller", ["resource-claim-controller"], () =>
      resourceClaimController({
        ...workers("resource-claim", 10),
        hasGroups: gateFlag(flags, "GenericWorkload") && gateFlag(flags, "DRAWorkloadResourceClaims"),
      }),
    ),
    on("persistentvolume-attach-detach-controller", ["attachdetach"], () => attachDetachController()),
    on("persistentvolume-expander-controller", ["persistentvolume-expander"], () => volumeExpanderController()),
    on("clusterrole-aggregation-controller", ["clusterrole-aggregation"], () => clusterRoleAggregationController()),
    on("persistentvolumeclaim-protection-controller", ["pvc-protection"], () => claimProtectionController()),
    on("persistentvolume-protection-controller", ["pv-protection"], () => volumeProtectionController()),
    off("bootstrap-signer-controller", ["bootstrapsigner"], () => bootstrapSignerController()),
    off("token-cleaner-controller", ["tokencleaner"], () => tokenCleanerController()),
    on("legacy-serviceaccount-token-cleaner-controller", ["legacy-service-account-token-cleaner"], () =>
      legacyTokenCleaner({ periodMs: durationFlag(flags, "legacy-service-account-token-clean-up-period", 31_536_000_000) }),
    ),
    on("podcertificaterequest-cleaner-controller", [], () => podCertificateRequestCleaner()),
    on("volumeattributesclass-protection-controller", [], () => attributesClassProtectionController()),
    ...(gateFlag(flags, "GenericWorkload") ? [on("podgroup-protection-controller", [], () => podGroupProtectionController())] : []),
    on("ttl-after-finished-controller", ["ttl-after-finished"], () => ttlAfterFinishedController(workers("ttl-after-finished", 5))),
    ...(ipam === undefined ? [] : [on("node-ipam-controller", ["nodeipam"], () => nodeIpamController(ipam))]),
    on("node-lifecycle-controller", ["nodelifecycle"], () => nodeLifecycleController(nodeSettings(flags))),
    on("taint-eviction-controller", ["taint-eviction"], () => taintEvictionController()),
    on("device-taint-eviction-controller", [], () => deviceTaintEvictionController()),
    on("root-ca-certificate-publisher-controller", ["root-ca-cert-publisher"], () => rootCaController({ caBundle })),
    on("kube-apiserver-serving-clustertrustbundle-publisher-controller", [], () => trustBundlePublisherController({ caBundle })),
    on("service-cidr-controller", [], () => serviceCidrController()),
    on("validatingadmissionpolicy-status-controller", [], () => validatingPolicyStatusController()),
    on("storage-version-migrator-controller", [], () => storageVersionMigratorController()),
  ];
}

export interface ControllerEntry {
  /** Canonical, such as `deployment-controller`. */
  readonly name: string;
  /** Older names that `--controllers` takes too. */
  readonly aliases: readonly string[];
  /** It acts as the manager itself, not as a service account: it makes what service accounts need. */
  readonly isManager?: boolean;
  /** Whether `*` includes it. */
  readonly isOnByDefault: boolean;
  create(): Controller;
}

export interface ControllerOptions {
  readonly flags: ManagerFlags;
  /** PEM of the API server's certificate authorities, published to namespaces. */
  readonly caBundle: string;
  /** Who signs certificate requests, as PEM (the key as PKCS#8); without it they are not signed. */
  readonly signer?: Authority | undefined;
  /** PEM of the key that signs service account tokens; without it token Secrets are not filled. */
  readonly serviceAccountKey?: string | undefined;
  /** How the API server counts; without it quotas are not counted. */
  readonly quotaRules?: QuotaRules | undefined;
  /** Between a namespace's deletion and its emptying. Default 5,000: several API servers have all heard of it by then. */
  readonly namespaceGraceMs?: number | undefined;
}

/** Which of the entries `--controllers` chooses: `*` for those on by default, `NAME` and `-NAME` for single ones; the first that speaks of one counts. */
export function selectControllers(entries: readonly ControllerEntry[], selection: readonly string[]): readonly ControllerEntry[] {
  return entries.filter(({ name, aliases, isOnByDefault }) => {
    const names = new Set([name, ...aliases]);
    for (const choice of selection) {
      if (names.has(choice)) return true;
      if (choice.startsWith("-") && names.has(choice.slice(1))) return false;
    }
    return selection.includes("*") && isOnByDefault;
  });
}

function nodeSettings(flags: ManagerFlags) {
  return {
    periodMs: durationFlag(flags, "node-monitor-period", 5000),
    graceMs: durationFlag(flags, "node-monitor-grace-period", 50_000),
    startupGraceMs: durationFlag(flags, "node-startup-grace-period", 60_000),
    rate: numberFlag(flags, "node-eviction-rate", 0.1),
    secondaryRate: numberFlag(flags, "secondary-node-eviction-rate", 0.01),
    largeZoneSize: numberFlag(flags, "large-cluster-size-threshold", 50),
    unhealthyThreshold: numberFlag(flags, "unhealthy-zone-threshold", 0.55),
  };
}

function off(name: string, aliases: readonly string[], create: () => Controller): ControllerEntry {
  return { name, aliases, isOnByDefault: false, create };
}

function on(name: string, aliases: readonly string[], create: () => Controller): ControllerEntry {
  return { name, aliases, isOnByDefault: true, create };
}

/** What a kubelet can be told: the fields of KubeletConfiguration v1beta1 that it heeds, with Kubernetes' defaults. */

export type AmountMap = Readonly<Record<string, string>>;

export interface KubeletSettings {
  readonly allowedUnsafeSysctls: readonly string[];
  /** The control group in which that of the pods lies; "" for one of this instance. */
  readonly cgroupRoot: string;
  /** Whether pods have control groups of their own. */
  readonly cgroupsPerQOS: boolean;
  readonly containerLogMaxFiles: number;
  readonly containerLogMaxBytes: number;
  readonly cpuManagerPolicy: string;
  readonly cpuManagerPolicyOptions: AmountMap;
  /** `pods`: all pods together use no more than what is not reserved. */
  readonly enforceNodeAllocatable: readonly string[];
  /** By signal: an amount, or a percentage of the capacity. */
  readonly evictionHard: AmountMap;
  readonly evictionMaxPodGracePeriodSeconds: number;
  readonly evictionMinimumReclaim: AmountMap;
  readonly evictionPressureTransitionMs: number;
  readonly evictionSoft: AmountMap;
  /** Durations. */
  readonly evictionSoftGracePeriod: AmountMap;
  readonly fileCheckMs: number;
  readonly httpCheckMs: number;
  readonly imageGCHighThresholdPercent: number;
  readonly imageGCLowThresholdPercent: number;
  /** 0: however old. */
  readonly imageMaximumGCAgeMs: number;
  readonly imageMinimumGCAgeMs: number;
  /** Which images that are there need a pod's credentials to be looked at. */
  readonly imagePullCredentialsVerificationPolicy: string;
  readonly kubeReserved: AmountMap;
  readonly localStorageCapacityIsolation: boolean;
  readonly maxParallelImagePulls: number | undefined;
  readonly maxPods: number;
  readonly memoryManagerPolicy: string;
  readonly nodeLabels: AmountMap;
  readonly nodeStatusMaxImages: number;
  readonly podPidsLimit: number;
  /** Repositories, with `/*` at the end for all below. */
  readonly preloadedImagesVerificationAllowlist: readonly string[];
  readonly registerWithTaints: readonly NodeTaint[];
  readonly registryBurst: number;
  /** Pulls a second; 0: as many as wanted. */
  readonly registryPullQPS: number;
  readonly reservedMemory: readonly ReservedMemory[];
  readonly reservedSystemCPUs: string;
  /** How long a call to the runtime may take; those that may take longer by their nature have more. */
  readonly runtimeRequestTimeoutMs: number;
  readonly serializeImagePulls: boolean;
  readonly shutdownGracePeriodByPodPriority: readonly ShutdownStep[];
  readonly shutdownGracePeriodCriticalPodsMs: number;
  readonly shutdownGracePeriodMs: number;
  /** A file, or a directory of files; "" for none. */
  readonly staticPodPath: string;
  readonly staticPodURL: string;
  readonly staticPodURLHeader: Readonly<Record<string, readonly string[]>>;
  readonly systemReserved: AmountMap;
  /** Of the kubelet's server; files of PEM, names as Kubernetes has them. Empty where ours are used. */
  readonly tlsCertFile: string;
  readonly tlsCipherSuites: readonly string[];
  readonly tlsMinVersion: string;
  readonly tlsPrivateKeyFile: string;
  readonly topologyManagerPolicy: string;
  readonly topologyManagerScope: string;
  /** How long a measure of a volume's disk holds. */
  readonly volumeStatsAggMs: number;
}

export interface NodeTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}
/** What of a NUMA node is not for pods. */
export interface ReservedMemory {
  readonly numaNode: number;
  readonly limits: AmountMap;
}
export interface ShutdownStep {
  readonly priority: number;
  readonly shutdownGracePeriodSeconds: number;
}

export const defaultSettings: KubeletSettings = {
  allowedUnsafeSysctls: [],
  cgroupRoot: "",
  cgroupsPerQOS: true,
  containerLogMaxFiles: 5,
  containerLogMaxBytes: 10 * 1024 * 1024,
  cpuManagerPolicy: "none",
  cpuManagerPolicyOptions: {},
  enforceNodeAllocatable: ["pods"],
  evictionHard: { "memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%", "imagefs.available": "15%", "imagefs.inodesFree": "5%" },
  evictionMaxPodGracePeriodSeconds: 0,
  evictionMinimumReclaim: {},
  evictionPressureTransitionMs: 300_000,
  evictionSoft: {},
  evictionSoftGracePeriod: {},
  fileCheckMs: 20_000,
  httpCheckMs: 20_000,
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  imageMaximumGCAgeMs: 0,
  imageMinimumGCAgeMs: 120_000,
  imagePullCredentialsVerificationPolicy: "NeverVerifyPreloadedImages",
  kubeReserved: {},
  localStorageCapacityIsolation: true,
  maxParallelImagePulls: undefined,
  maxPods: 110,
  memoryManagerPolicy: "None",
  nodeLabels: {},
  nodeStatusMaxImages: 50,
  podPidsLimit: -1,
  preloadedImagesVerificationAllowlist: [],
  registerWithTaints: [],
  registryBurst: 10,
  registryPullQPS: 5,
  reservedMemory: [],
  reservedSystemCPUs: "",
  runtimeRequestTimeoutMs: 120_000,
  serializeImagePulls: true,
  shutdownGracePeriodByPodPriority: [],
  shutdownGracePeriodCriticalPodsMs: 0,
  shutdownGracePeriodMs: 0,
  staticPodPath: "",
  staticPodURL: "",
  staticPodURLHeader: {},
  systemReserved: {},
  tlsCertFile: "",
  tlsCipherSuites: [],
  tlsMinVersion: "",
  tlsPrivateKeyFile: "",
  topologyManagerPolicy: "none",
  topologyManagerScope: "container",
  volumeStatsAggMs: 60_000,
};

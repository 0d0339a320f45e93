/**
 * CRI v1 messages (kubernetes/cri-api, runtime.v1) that the kubelet uses, with their own field names. 64-bit integers are numbers
 * (nanosecond times lose up to 256 ns, nothing else is large), enums are their names. What the kubelet sends has optional fields; what
 * a runtime answers is complete: absent strings are "", numbers 0, lists and maps empty; only messages may be absent.
 */

export type VersionResponse = {
  readonly version: string;
  readonly runtime_name: string;
  readonly runtime_version: string;
  readonly runtime_api_version: string;
};

export type RuntimeStatus = {
  readonly conditions: readonly RuntimeCondition[];
  readonly runtime_handlers: readonly RuntimeHandler[];
  readonly features?: RuntimeFeatures;
};
export type RuntimeCondition = { readonly type: string; readonly status: boolean; readonly reason: string; readonly message: string };
export type RuntimeHandler = { readonly name: string; readonly features?: { readonly recursive_read_only_mounts: boolean; readonly user_namespaces: boolean } };
export type RuntimeFeatures = { readonly supplemental_groups_policy: boolean; readonly user_namespaces_host_network: boolean };

type StringMap = Readonly<Record<string, string>>;

// ── Sandboxes ──

export type PodSandboxMetadata = { readonly name: string; readonly uid: string; readonly namespace: string; readonly attempt: number };

export type PodSandboxConfig = {
  readonly metadata: PodSandboxMetadata;
  readonly hostname?: string;
  /** Directory of the containers' log files; `ContainerConfig.log_path` is relative to it. */
  readonly log_directory?: string;
  readonly dns_config?: { readonly servers?: readonly string[]; readonly searches?: readonly string[]; readonly options?: readonly string[] };
  readonly port_mappings?: readonly PortMapping[];
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly linux?: LinuxPodSandboxConfig;
};
export type PortMapping = {
  readonly protocol?: "TCP" | "UDP" | "SCTP";
  readonly container_port: number;
  readonly host_port?: number;
  readonly host_ip?: string;
};
export type LinuxPodSandboxConfig = {
  readonly cgroup_parent?: string;
  readonly security_context?: LinuxSandboxSecurityContext;
  readonly sysctls?: StringMap;
  readonly overhead?: LinuxContainerResources;
  readonly resources?: LinuxContainerResources;
};
export type LinuxSandboxSecurityContext = {
  readonly namespace_options?: NamespaceOption;
  readonly selinux_options?: SELinuxOption;
  readonly run_as_user?: Int64Value;
  readonly run_as_group?: Int64Value;
  readonly readonly_rootfs?: boolean;
  readonly supplemental_groups?: readonly number[];
  readonly supplemental_groups_policy?: "Merge" | "Strict";
  readonly privileged?: boolean;
  readonly seccomp?: SecurityProfile;
  readonly apparmor?: SecurityProfile;
};
export type NamespaceMode = "POD" | "CONTAINER" | "NODE" | "TARGET";
export type NamespaceOption = {
  readonly network?: NamespaceMode;
  readonly pid?: NamespaceMode;
  readonly ipc?: NamespaceMode;
  readonly target_id?: string;
  readonly userns_options?: { readonly mode?: NamespaceMode; readonly uids?: readonly IDMapping[]; readonly gids?: readonly IDMapping[] };
};
export type IDMapping = { readonly host_id: number; readonly container_id: number; readonly length: number };
export type SELinuxOption = { readonly user?: string; readonly role?: string; readonly type?: string; readonly level?: string };
export type SecurityProfile = { readonly profile_type?: "RuntimeDefault" | "Unconfined" | "Localhost"; readonly localhost_ref?: string };
export type Int64Value = { readonly value: number };
export type UInt64Value = { readonly value: number };

export type PodSandboxState = "SANDBOX_READY" | "SANDBOX_NOTREADY";
export type PodSandboxFilter = { readonly id?: string; readonly state?: { readonly state: PodSandboxState }; readonly label_selector?: StringMap };
export type PodSandbox = {
  readonly id: string;
  readonly metadata: PodSandboxMetadata;
  readonly state: PodSandboxState;
  /** Nanoseconds since the epoch. */
  readonly created_at: number;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly runtime_handler: string;
};
export type PodSandboxStatus = PodSandbox & {
  /** `ip` is empty for pods on the node's network. */
  readonly network?: { readonly ip: string; readonly additional_ips: readonly { readonly ip: string }[] };
  readonly linux?: { readonly namespaces?: { readonly options?: NamespaceOption } };
};

// ── Containers ──

export type ContainerMetadata = { readonly name: string; readonly attempt: number };
export type ImageSpec = {
  readonly image: string;
  readonly annotations?: StringMap;
  readonly user_specified_image?: string;
  readonly runtime_handler?: string;
  readonly image_ref?: string;
};
export type ContainerConfig = {
  readonly metadata: ContainerMetadata;
  readonly image: ImageSpec;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly working_dir?: string;
  readonly envs?: readonly KeyValue[];
  readonly mounts?: readonly Mount[];
  readonly devices?: readonly { readonly container_path: string; readonly host_path: string; readonly permissions: string }[];
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  /** Relative to the sandbox's `log_directory`; no log is kept when either is absent. */
  readonly log_path?: string;
  readonly stdin?: boolean;
  readonly stdin_once?: boolean;
  readonly tty?: boolean;
  readonly linux?: { readonly resources?: LinuxContainerResources; readonly security_context?: LinuxContainerSecurityContext };
  readonly CDI_devices?: readonly { readonly name: string }[];
  /** Such as `SIGUSR1`; absent or `RUNTIME_DEFAULT`: the image's, else SIGTERM. */
  readonly stop_signal?: string;
};
/** `value` is bytes on the wire; text is sent as UTF-8. */
export type KeyValue = { readonly key: string; readonly value: string | Uint8Array };
export type Mount = {
  readonly container_path: string;
  readonly host_path: string;
  readonly readonly?: boolean;
  readonly selinux_relabel?: boolean;
  readonly propagation?: "PROPAGATION_PRIVATE" | "PROPAGATION_HOST_TO_CONTAINER" | "PROPAGATION_BIDIRECTIONAL";
  readonly uidMappings?: readonly IDMapping[];
  readonly gidMappings?: readonly IDMapping[];
  readonly recursive_read_only?: boolean;
  readonly image?: ImageSpec;
  readonly image_sub_path?: string;
};
export type LinuxContainerResources = {
  readonly cpu_period?: number;
  readonly cpu_quota?: number;
  readonly cpu_shares?: number;
  readonly memory_limit_in_bytes?: number;
  readonly oom_score_adj?: number;
  readonly cpuset_cpus?: string;
  readonly cpuset_mems?: string;
  readonly hugepage_limits?: readonly { readonly page_size: string; readonly limit: number }[];
  readonly unified?: StringMap;
  readonly memory_swap_limit_in_bytes?: number;
};
export type LinuxContainerSecurityContext = {
  readonly capabilities?: {
    readonly add_capabilities?: readonly string[];
    readonly drop_capabilities?: readonly string[];
    readonly add_ambient_capabilities?: readonly string[];
  };
  readonly privileged?: boolean;
  readonly namespace_options?: NamespaceOption;
  readonly selinux_options?: SELinuxOption;
  readonly run_as_user?: Int64Value;
  readonly run_as_group?: Int64Value;
  readonly run_as_username?: string;
  readonly readonly_rootfs?: boolean;
  readonly supplemental_groups?: readonly number[];
  readonly supplemental_groups_policy?: "Merge" | "Strict";
  readonly no_new_privs?: boolean;
  readonly masked_paths?: readonly string[];
  readonly readonly_paths?: readonly string[];
  readonly seccomp?: SecurityProfile;
  readonly apparmor?: SecurityProfile;
  /** The older forms of the two above. */
  readonly apparmor_profile?: string;
  readonly seccomp_profile_path?: string;
};

export type ContainerState = "CONTAINER_CREATED" | "CONTAINER_RUNNING" | "CONTAINER_EXITED" | "CONTAINER_UNKNOWN";
export type ContainerFilter = {
  readonly id?: string;
  readonly state?: { readonly state: ContainerState };
  readonly pod_sandbox_id?: string;
  readonly label_selector?: StringMap;
};
export type Container = {
  readonly id: string;
  readonly pod_sandbox_id: string;
  readonly metadata: ContainerMetadata;
  readonly image: ImageSpec;
  readonly image_ref: string;
  readonly image_id: string;
  readonly state: ContainerState;
  readonly created_at: number;
  readonly labels: StringMap;
  readonly annotations: StringMap;
};
export type ContainerStatus = {
  readonly id: string;
  readonly metadata: ContainerMetadata;
  readonly state: ContainerState;
  /** Nanoseconds since the epoch; 0: not yet. */
  readonly created_at: number;
  readonly started_at: number;
  readonly finished_at: number;
  readonly exit_code: number;
  readonly image: ImageSpec;
  readonly image_ref: string;
  readonly image_id: string;
  /** `Completed`, `Error`, `OOMKilled`, `StartError`, … once exited. */
  readonly reason: string;
  readonly message: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly mounts: readonly Mount[];
  /** The whole path. */
  readonly log_path: string;
  readonly resources?: { readonly linux?: LinuxContainerResources };
  readonly user?: { readonly linux?: { readonly uid: number; readonly gid: number; readonly supplemental_groups: readonly number[] } };
  readonly stop_signal?: string;
};
export type ExecSyncResponse = { readonly stdout: Uint8Array; readonly stderr: Uint8Array; readonly exit_code: number };

// ── Images ──

export type ImageFilter = { readonly image?: ImageSpec };
export type Image = {
  /** Digest of the image's configuration: `sha256:…`. */
  readonly id: string;
  readonly repo_tags: readonly string[];
  readonly repo_digests: readonly string[];
  readonly size: number;
  /** The user the image's program runs as: by number, or by name; absent and "" when the image does not say. */
  readonly uid?: Int64Value;
  readonly username: string;
  readonly spec?: ImageSpec;
  readonly pinned: boolean;
};
export type AuthConfig = {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
  readonly server_address?: string;
  readonly identity_token?: string;
  readonly registry_token?: string;
};

// ── Usage ──

export type CpuUsage = { readonly timestamp: number; readonly usage_core_nano_seconds?: UInt64Value; readonly usage_nano_cores?: UInt64Value };
export type MemoryUsage = {
  readonly timestamp: number;
  readonly working_set_bytes?: UInt64Value;
  readonly available_bytes?: UInt64Value;
  readonly usage_bytes?: UInt64Value;
  readonly rss_bytes?: UInt64Value;
  readonly page_faults?: UInt64Value;
  readonly major_page_faults?: UInt64Value;
};
export type FilesystemUsage = {
  readonly timestamp: number;
  readonly fs_id?: { readonly mountpoint: string };
  readonly used_bytes?: UInt64Value;
  readonly inodes_used?: UInt64Value;
};
export type ContainerAttributes = { readonly id: string; readonly metadata: ContainerMetadata; readonly labels: StringMap; readonly annotations: StringMap };
export type ContainerStats = {
  readonly attributes: ContainerAttributes;
  readonly cpu?: CpuUsage;
  readonly memory?: MemoryUsage;
  readonly writable_layer?: FilesystemUsage;
};
export type ContainerStatsFilter = { readonly id?: string; readonly pod_sandbox_id?: string; readonly label_selector?: StringMap };
export type NetworkInterfaceUsage = {
  readonly name: string;
  readonly rx_bytes?: UInt64Value;
  readonly rx_errors?: UInt64Value;
  readonly tx_bytes?: UInt64Value;
  readonly tx_errors?: UInt64Value;
};
export type PodSandboxStats = {
  readonly attributes: { readonly id: string; readonly metadata: PodSandboxMetadata; readonly labels: StringMap; readonly annotations: StringMap };
  readonly linux?: {
    readonly cpu?: CpuUsage;
    readonly memory?: MemoryUsage;
    readonly network?: {
      readonly timestamp: number;
      readonly default_interface?: NetworkInterfaceUsage;
      readonly interfaces: readonly NetworkInterfaceUsage[];
    };
    readonly process?: { readonly timestamp: number; readonly process_count?: UInt64Value };
    readonly containers: readonly ContainerStats[];
  };
};
export type PodSandboxStatsFilter = { readonly id?: string; readonly label_selector?: StringMap };

/** What a node and its pods use of what is scarce, as eviction, image collection and the server read it. Bytes, inodes, processes. */

export interface NodeUsage {
  readonly memory: MemoryLevel;
  /** Of all pods together, of what they may have; absent where it is not known. */
  readonly allocatableMemory?: MemoryLevel;
  /** Where pods' volumes and logs lie. */
  readonly nodefs: FilesystemLevel;
  /** Where images and what containers write lie. */
  readonly imagefs: FilesystemLevel;
  /** Whether the two are one and the same. */
  readonly isOneFilesystem: boolean;
  readonly processes: { readonly max: number; readonly running: number };
  /** Of all CPUs together, since the machine started; absent where the machine is only pretended. */
  readonly cpuNanoSeconds?: number;
  readonly network?: readonly InterfaceUsage[];
}

export interface InterfaceUsage {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxErrors: number;
  readonly txBytes: number;
  readonly txErrors: number;
}

export interface MemoryLevel {
  readonly capacityBytes: number;
  readonly availableBytes: number;
}

export interface FilesystemLevel {
  readonly capacityBytes: number;
  /** To those who are not root: less than what is not used. */
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

/** Absent members were not measured. */
export interface PodUsage {
  readonly memoryBytes?: number;
  readonly processes?: number;
  readonly containers: readonly ContainerUsage[];
  readonly volumes: readonly (DiskUsage & { readonly name: string })[];
  /** Volumes of claims, which have file systems of their own. */
  readonly claims?: readonly ClaimUsage[];
}

export interface ClaimUsage {
  /** Of the volume, in the pod. */
  readonly name: string;
  readonly claimName: string;
  readonly filesystem: FilesystemLevel;
}

export interface ContainerUsage {
  readonly name: string;
  readonly memoryBytes?: number;
  /** What it wrote into its own layer. */
  readonly rootfs?: DiskUsage;
  readonly logs?: DiskUsage;
}

export interface DiskUsage {
  readonly bytes: number;
  readonly inodes: number;
}

export interface UsageSource {
  /** Rejects when the machine or the runtime cannot be read. */
  node(signal: AbortSignal): Promise<NodeUsage>;
  /** By uid of the pod. */
  pods(signal: AbortSignal): Promise<ReadonlyMap<string, PodUsage>>;
}

/** What a container gets beside its spec, from devices, claims and the CPUs and memory it has alone. */
import type { Mount } from "../runtime/cri-messages.ts";

export interface ContainerAdditions {
  readonly envs: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly devices: readonly { readonly container_path: string; readonly host_path: string; readonly permissions: string }[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly cdiDevices: readonly string[];
  /** Lists as the kernel writes them; absent: any. */
  readonly cpusetCpus?: string;
  readonly cpusetMems?: string;
}

export const noAdditions: ContainerAdditions = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };

/** All together; of one environment variable the later counts. */
export function joinAdditions(parts: readonly ContainerAdditions[]): ContainerAdditions {
  return parts.reduce(
    (sum, part) => ({
      ...sum,
      ...part,
      envs: { ...sum.envs, ...part.envs },
      mounts: [...sum.mounts, ...part.mounts],
      devices: [...sum.devices, ...part.devices],
      annotations: { ...sum.annotations, ...part.annotations },
      cdiDevices: [...new Set([...sum.cdiDevices, ...part.cdiDevices])],
    }),
    noAdditions,
  );
}

/** A container as the runtime is asked for it. Pure; mounts and the environment are made by the caller. */
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Pod, VolumeMount } from "../../../api/core-v1/types.ts";
import { expand } from "../../env/expand.ts";
import type { ContainerAdditions } from "../../managers/container-additions.ts";
import { linuxResources } from "../../resources/linux-resources.ts";
import { containerSecurityContext } from "../../resources/security-context.ts";
import type { ContainerConfig, Image, Mount } from "../../runtime/cri-messages.ts";
import { containerHash, resizableText, runtimeAnnotations, runtimeLabels } from "../runtime-names.ts";
import type { SpecContainer } from "../runtime-names.ts";

export function containerConfig(parts: ContainerParts): ContainerConfig {
  const { pod, spec, attempt, image, environment, additions } = parts;
  const devices = [...parts.devices, ...additions.devices];
  const { container } = spec;
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  const words = (list: readonly string[] | undefined) => (list ?? []).map((word) => expand(word, environment));
  const security = containerSecurityContext(pod, container, parts.targetId);
  const groups = [...new Set([...(security.supplemental_groups ?? []), ...parts.groups])];
  const stopSignal = container.lifecycle?.stopSignal;
  return {
    metadata: { name: container.name, attempt },
    image: { image: parts.imageReference, user_specified_image: container.image ?? "" },
    command: words(container.command),
    args: words(container.args),
    working_dir: container.workingDir ?? "",
    // What the pod itself says counts more than what its devices want.
    envs: Object.entries({ ...additions.envs, ...Object.fromEntries(environment) }).map(([key, value]) => ({ key, value })),
    mounts: [...parts.mounts, ...additions.mounts],
    ...(devices.length > 0 && { devices }),
    ...(additions.cdiDevices.length > 0 && { CDI_devices: additions.cdiDevices.map((cdiName) => ({ name: cdiName })) }),
    labels: {
      [runtimeLabels.containerName]: container.name,
      [runtimeLabels.podName]: name,
      [runtimeLabels.podNamespace]: namespace,
      [runtimeLabels.podUid]: uid,
    },
    annotations: {
      ...additions.annotations,
      [runtimeAnnotations.hash]: containerHash(container),
      [runtimeAnnotations.restartCount]: String(attempt),
      [runtimeAnnotations.resources]: resizableText(container),
      [runtimeAnnotations.terminationMessagePath]: container.terminationMessagePath ?? "/dev/termination-log",
      [runtimeAnnotations.terminationMessagePolicy]: container.terminationMessagePolicy ?? "File",
      [runtimeAnnotations.gracePeriod]: String(pod.spec?.terminationGracePeriodSeconds ?? 30),
    },
    log_path: `${container.name}/${attempt}.log`,
    stdin: container.stdin === true,
    stdin_once: container.stdinOnce === true,
    tty: container.tty === true,
    linux: {
      resources: {
        ...linuxResources(pod, spec, parts.memoryCapacityBytes),
        ...(additions.cpusetCpus !== undefined && { cpuset_cpus: additions.cpusetCpus }),
        ...(additions.cpusetMems !== undefined && { cpuset_mems: additions.cpusetMems }),
      },
      security_context: { ...security, ...(groups.length > 0 && { supplemental_groups: groups }), ...imageUser(pod, spec, image) },
    },
    ...(stopSignal !== undefined && { stop_signal: stopSignal }),
  };
}

export interface ContainerParts {
  readonly pod: DeepReadonly<Pod>;
  readonly spec: SpecContainer;
  readonly attempt: number;
  readonly image: Image;
  /** What the runtime knows the image by. */
  readonly imageReference: string;
  readonly environment: ReadonlyMap<string, string>;
  readonly mounts: readonly Mount[];
  readonly devices: NonNullable<ContainerConfig["devices"]>;
  readonly additions: ContainerAdditions;
  /** Beside those that the pod asks for. */
  readonly groups: readonly number[];
  readonly memoryCapacityBytes: number;
  readonly targetId?: string;
}

/** The mount as the runtime takes it, of a volume at `hostPath`. Throws when it asks for what the runtime cannot do. */
export function volumeMount(mount: DeepReadonly<VolumeMount>, hostPath: string, canBeRecursive: boolean): Mount {
  const propagation = { None: "PROPAGATION_PRIVATE", HostToContainer: "PROPAGATION_HOST_TO_CONTAINER", Bidirectional: "PROPAGATION_BIDIRECTIONAL" } as const;
  return {
    container_path: mount.mountPath.startsWith("/") ? mount.mountPath : `/${mount.mountPath}`,
    host_path: hostPath,
    readonly: mount.readOnly === true,
    ...(isReadOnlyRecursively(mount, canBeRecursive) && { recursive_read_only: true }),
    propagation: propagation[(mount.mountPropagation ?? "None") as keyof typeof propagation],
  };
}

/** API field `recursiveReadOnly`; the runtime's handler says whether it can. */
export function isReadOnlyRecursively({ name, readOnly, recursiveReadOnly: wanted = "Disabled" }: DeepReadonly<VolumeMount>, canBeRecursive: boolean): boolean {
  if (wanted === "Disabled" || readOnly !== true) return false;
  if (wanted === "Enabled" && !canBeRecursive)
    throw new Error(
      `failed to resolve recursive read-only mode: volume ${JSON.stringify(name)} requested recursive read-only mode, but it is not supported by the runtime`,
    );
  return canBeRecursive;
}

/** Where neither pod nor container names a user, the image's counts. */
function imageUser(pod: DeepReadonly<Pod>, { container }: SpecContainer, image: Image): { run_as_user?: { value: number }; run_as_username?: string } {
  if ((container.securityContext?.runAsUser ?? pod.spec?.securityContext?.runAsUser) !== undefined) return {};
  if (image.uid !== undefined) return { run_as_user: { value: image.uid.value } };
  return image.username === "" ? {} : { run_as_username: image.username };
}

/**
 * The restart count of a container that the runtime knows nothing of (its containers were removed, or it lost them), from the names in
 * the container's directory of logs: one more than the last that wrote there, so that no log is written twice.
 */
export function attemptAfterLogs(names: readonly string[]): number {
  return Math.max(-1, ...names.map((name) => Number(/^(\d+)\.log(\.|$)/.exec(name)?.[1] ?? -1))) + 1;
}

/** Security contexts of pod and container as the runtime takes them (API references "SecurityContext", "PodSecurityContext"). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, SeccompProfile } from "../../api/core-v1/types.ts";
import type { AnyContainer } from "../pod-sync/runtime-names.ts";
import type { LinuxContainerSecurityContext, LinuxSandboxSecurityContext, NamespaceOption, SecurityProfile } from "../runtime/cri-messages.ts";

export function sandboxSecurityContext(pod: DeepReadonly<Pod>): LinuxSandboxSecurityContext {
  const { runAsUser, runAsGroup, seLinuxOptions, seccompProfile } = pod.spec?.securityContext ?? {};
  return {
    namespace_options: namespaceOptions(pod),
    privileged: [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].some(({ securityContext }) => securityContext?.privileged === true),
    ...(runAsUser !== undefined && { run_as_user: { value: runAsUser } }),
    ...(runAsUser !== undefined && runAsGroup !== undefined && { run_as_group: { value: runAsGroup } }),
    ...(seLinuxOptions !== undefined && { selinux_options: { ...seLinuxOptions } }),
    supplemental_groups: supplementalGroups(pod),
    seccomp: seccompProfile === undefined ? { profile_type: "RuntimeDefault" } : securityProfile(seccompProfile),
  };
}

/** `targetId`: the container whose processes an ephemeral one wants to see. */
export function containerSecurityContext(pod: DeepReadonly<Pod>, container: AnyContainer, targetId?: string): LinuxContainerSecurityContext {
  const own = container.securityContext ?? {};
  const shared = pod.spec?.securityContext ?? {};
  const isPrivileged = own.privileged === true;
  const runAsUser = own.runAsUser ?? shared.runAsUser;
  const runAsGroup = own.runAsGroup ?? shared.runAsGroup;
  const seLinux = own.seLinuxOptions ?? shared.seLinuxOptions;
  const seccomp = own.seccompProfile ?? shared.seccompProfile;
  return {
    namespace_options: namespaceOptions(pod, targetId),
    privileged: isPrivileged,
    readonly_rootfs: own.readOnlyRootFilesystem === true,
    no_new_privs: own.allowPrivilegeEscalation === false,
    capabilities: { add_capabilities: (own.capabilities?.add ?? []).map(capability), drop_capabilities: (own.capabilities?.drop ?? []).map(capability) },
    ...(runAsUser !== undefined && { run_as_user: { value: runAsUser } }),
    ...(runAsGroup !== undefined && { run_as_group: { value: runAsGroup } }),
    ...(seLinux !== undefined && { selinux_options: { ...seLinux } }),
    supplemental_groups: supplementalGroups(pod),
    ...(shared.supplementalGroupsPolicy !== undefined && { supplemental_groups_policy: shared.supplementalGroupsPolicy as "Merge" | "Strict" }),
    seccomp: isPrivileged || seccomp === undefined ? { profile_type: "Unconfined" } : securityProfile(seccomp),
    ...(!isPrivileged && own.procMount !== "Unmasked" && { masked_paths: maskedPaths, readonly_paths: readonlyPaths }),
  };
}

/** Why a container may not run, when it must not run as root: reason CreateContainerConfigError. */
export function runAsNonRootFault(pod: DeepReadonly<Pod>, container: AnyContainer, imageUser: { uid?: number; username: string }): string | undefined {
  const own = container.securityContext ?? {};
  const shared = pod.spec?.securityContext ?? {};
  if ((own.runAsNonRoot ?? shared.runAsNonRoot) !== true) return undefined;
  const where = `(pod: "${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})", container: ${container.name})`;
  const user = own.runAsUser ?? shared.runAsUser;
  if (user !== undefined) return user === 0 ? `container's runAsUser breaks non-root policy ${where}` : undefined;
  if (imageUser.uid === 0 || (imageUser.uid === undefined && imageUser.username === ""))
    return `container has runAsNonRoot and image will run as root ${where}`;
  if (imageUser.uid === undefined)
    return `container has runAsNonRoot and image has non-numeric user (${imageUser.username}), cannot verify user is non-root ${where}`;
  return undefined;
}

function namespaceOptions(pod: DeepReadonly<Pod>, targetId?: string): NamespaceOption {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace } = pod.spec ?? {};
  const options: NamespaceOption = {
    network: hostNetwork === true ? "NODE" : "POD",
    ipc: hostIPC === true ? "NODE" : "POD",
    pid: hostPID === true ? "NODE" : shareProcessNamespace === true ? "POD" : "CONTAINER",
  };
  return targetId === undefined || options.pid !== "CONTAINER" ? options : { ...options, pid: "TARGET", target_id: targetId };
}

function supplementalGroups(pod: DeepReadonly<Pod>): number[] {
  const { fsGroup, supplementalGroups: groups = [] } = pod.spec?.securityContext ?? {};
  return [...groups, ...(fsGroup === undefined ? [] : [fsGroup])];
}

/** Runtimes take the names with or without the prefix; CRI says without. */
const capability = (name: string) => name.replace(/^CAP_/, "");

/** Throws an Error for a profile of the node that is not named: runtimes would take it for none. */
function securityProfile({ type, localhostProfile }: DeepReadonly<SeccompProfile>): SecurityProfile {
  if (type === "Localhost" && (localhostProfile ?? "") === "") throw new Error("localhostProfile must be set if seccompProfile type is Localhost.");
  if (type === "RuntimeDefault") return { profile_type: "RuntimeDefault" };
  return type === "Localhost" ? { profile_type: "Localhost", localhost_ref: localhostProfile ?? "" } : { profile_type: "Unconfined" };
}

const maskedPaths = [
  "/proc/asound",
  "/proc/acpi",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/sys/firmware",
  "/sys/devices/virtual/powercap",
];
const readonlyPaths = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

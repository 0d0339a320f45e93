/** Checks of level `baseline` (documentation page "Pod Security Standards"). */
import type { Container, PodSpec, SELinuxOptions } from "../../../api/core-v1/types.ts";
import { visitContainers } from "../pods/containers.ts";
import type { CheckFunction, Violation } from "./checks.ts";
import { containerText, containersWhere, plural, quoted, sortedSet } from "./wording.ts";

const userNamespaceMinor = 35;
const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";

export const appArmor: CheckFunction = ({ metadata, spec }) => {
  const setters: string[] = [];
  const values: string[] = [];
  const isForbidden = (type: string | undefined) => type !== undefined && type !== "RuntimeDefault" && type !== "Localhost";
  const podType = spec.securityContext?.appArmorProfile?.type;
  if (isForbidden(podType)) {
    setters.push("pod");
    values.push(podType!);
  }
  const named: string[] = [];
  visitContainers(spec, ({ name, securityContext }) => {
    const type = securityContext?.appArmorProfile?.type;
    if (!isForbidden(type)) return;
    named.push(name);
    values.push(type!);
  });
  if (named.length > 0) setters.push(containerText(named));
  const annotations = Object.entries(metadata.annotations ?? {})
    .filter(([key, value]) => key.startsWith(appArmorPrefix) && !isAllowedProfile(value))
    .map(([key, value]) => `${key}="${value}"`);
  if (annotations.length > 0) setters.push(plural("annotation", annotations.length));
  const all = [...sortedSet(values), ...annotations.sort()];
  if (all.length === 0) return undefined;
  return {
    reason: `forbidden AppArmor ${plural("profile", all.length)}`,
    detail: `${setters.join(" and ")} must not set AppArmor profile type to ${quoted(all)}`,
  };
};

function isAllowedProfile(value: string): boolean {
  return value === "" || value === "runtime/default" || value.startsWith("localhost/");
}

const harmlessCapabilities = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

export const capabilitiesBaseline: CheckFunction = ({ spec }) => {
  const forbidden = new Set<string>();
  const bad = containersWhere(spec, (context) => {
    const added = (context?.capabilities?.add ?? []).filter((name) => !harmlessCapabilities.has(name));
    for (const name of added) forbidden.add(name);
    return added.length > 0;
  });
  if (bad.length === 0) return undefined;
  return {
    reason: "non-default capabilities",
    detail: `${containerText(bad)} must not include ${quoted(sortedSet(forbidden))} in securityContext.capabilities.add`,
  };
};

export const hostNamespaces: CheckFunction = ({ spec }) => {
  const used = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((field) => spec[field] === true).map((field) => `${field}=true`);
  return used.length === 0 ? undefined : { reason: "host namespaces", detail: used.join(", ") };
};

export const hostPathVolumes: CheckFunction = ({ spec }) => {
  const names = (spec.volumes ?? []).filter((volume) => volume.hostPath !== undefined).map(({ name }) => name);
  return names.length === 0 ? undefined : { reason: "hostPath volumes", detail: `${plural("volume", names.length)} ${quoted(names)}` };
};

export const hostPorts: CheckFunction = ({ spec }) => {
  const ports = new Set<string>();
  const bad = containersWhere(spec, (_, container) => {
    const used = (container.ports ?? []).flatMap(({ hostPort }) => (hostPort === undefined || hostPort === 0 ? [] : [String(hostPort)]));
    for (const port of used) ports.add(port);
    return used.length > 0;
  });
  if (bad.length === 0) return undefined;
  return {
    reason: "hostPort",
    detail: `${containerText(bad)} ${bad.length === 1 ? "uses" : "use"} ${plural("hostPort", ports.size)} ${sortedSet(ports).join(", ")}`,
  };
};

export const hostProbes: CheckFunction = ({ spec }) => {
  const hosts = new Set<string>();
  const bad = containersWhere(spec, (_, container) => {
    const used = hostsOf(container);
    for (const host of used) hosts.add(host);
    return used.length > 0;
  });
  if (bad.length === 0) return undefined;
  return {
    reason: "probe or lifecycle host",
    detail: `${containerText(bad)} ${bad.length === 1 ? "uses" : "use"} probe or lifecycle ${plural("host", hosts.size)} ${quoted(sortedSet(hosts))}`,
  };
};

function hostsOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container): string[] {
  const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
  return handlers.flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host]).filter((host): host is string => host !== undefined && host !== "");
}

export const privileged: CheckFunction = ({ spec }) => {
  const bad = containersWhere(spec, (context) => context?.privileged === true);
  return bad.length === 0 ? undefined : { reason: "privileged", detail: `${containerText(bad)} must not set securityContext.privileged=true` };
};

/** In a user namespace of its own a pod may see the whole of /proc. */
export const procMount: CheckFunction = ({ spec }, minor) => (minor >= userNamespaceMinor && spec.hostUsers === false ? undefined : procMountViolation(spec));

export function procMountViolation(spec: PodSpec): Violation | undefined {
  const types = new Set<string>();
  const bad = containersWhere(spec, (context) => {
    const type = context?.procMount ?? "Default";
    if (type === "Default") return false;
    types.add(type);
    return true;
  });
  return bad.length === 0
    ? undefined
    : { reason: "procMount", detail: `${containerText(bad)} must not set securityContext.procMount to ${quoted(sortedSet(types))}` };
}

const seLinuxTypes = ["", "container_t", "container_init_t", "container_kvm_t"];
const engineMinor = 31;

export const seLinux: CheckFunction = ({ spec }, minor) => {
  const allowed = new Set(minor >= engineMinor ? [...seLinuxTypes, "container_engine_t"] : seLinuxTypes);
  const types = new Set<string>();
  const found = { user: false, role: false };
  const isBad = (options: SELinuxOptions | undefined): boolean => {
    if (options === undefined) return false;
    const { type = "", user = "", role = "" } = options;
    if (!allowed.has(type)) types.add(type);
    found.user ||= user !== "";
    found.role ||= role !== "";
    return !allowed.has(type) || user !== "" || role !== "";
  };
  const setters = isBad(spec.securityContext?.seLinuxOptions) ? ["pod"] : [];
  const bad = containersWhere(spec, (context) => isBad(context?.seLinuxOptions));
  if (bad.length > 0) setters.push(containerText(bad));
  if (setters.length === 0) return undefined;
  const faults = [
    ...(types.size === 0 ? [] : [`${plural("type", types.size)} ${quoted(sortedSet(types))}`]),
    ...(found.user ? ["user may not be set"] : []),
    ...(found.role ? ["role may not be set"] : []),
  ];
  return { reason: "seLinuxOptions", detail: `${setters.join(" and ")} set forbidden securityContext.seLinuxOptions: ${faults.join("; ")}` };
};

const seccompFieldMinor = 19;
const seccompPod = "seccomp.security.alpha.kubernetes.io/pod";
const seccompContainer = "container.seccomp.security.alpha.kubernetes.io/";

export const seccompBaseline: CheckFunction = ({ metadata, spec }, minor) => {
  if (minor < seccompFieldMinor) return seccompAnnotations(metadata.annotations ?? {}, spec);
  const types = new Set<string>();
  const isBad = (type: string | undefined): boolean => {
    if (type === undefined || type === "RuntimeDefault" || type === "Localhost") return false;
    types.add(type);
    return true;
  };
  const setters = isBad(spec.securityContext?.seccompProfile?.type) ? ["pod"] : [];
  const bad = containersWhere(spec, (context) => isBad(context?.seccompProfile?.type));
  if (bad.length > 0) setters.push(containerText(bad));
  if (setters.length === 0) return undefined;
  return { reason: "seccompProfile", detail: `${setters.join(" and ")} must not set securityContext.seccompProfile.type to ${quoted(sortedSet(types))}` };
};

/** Before there was a field, annotations said it. */
function seccompAnnotations(annotations: Readonly<Record<string, string>>, spec: PodSpec): Violation | undefined {
  const isBad = (value: string | undefined) => value !== undefined && !["runtime/default", "docker/default"].includes(value) && !value.startsWith("localhost/");
  const bad: string[] = [];
  const pod = annotations[seccompPod];
  if (isBad(pod)) bad.push(`${seccompPod}="${pod}"`);
  visitContainers(spec, ({ name }) => {
    const value = annotations[seccompContainer + name];
    if (isBad(value)) bad.push(`${seccompContainer}${name}="${value}"`);
  });
  if (bad.length === 0) return undefined;
  return { reason: "seccompProfile", detail: `forbidden ${plural("annotation", bad.length)} ${sortedSet(bad).join(", ")}` };
}

const sysctlsSince: readonly (readonly [minor: number, names: readonly string[]])[] = [
  [
    0,
    ["kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start"],
  ],
  [27, ["net.ipv4.ip_local_reserved_ports"]],
  [29, ["net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes"]],
  [32, ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"]],
];

export const sysctls: CheckFunction = ({ spec }, minor) => {
  const allowed = new Set(sysctlsSince.flatMap(([since, names]) => (since <= minor ? names : [])));
  const bad = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.has(name));
  return bad.length === 0 ? undefined : { reason: "forbidden sysctls", detail: bad.join(", ") };
};

export const windowsHostProcess: CheckFunction = ({ spec }) => {
  const setters = spec.securityContext?.windowsOptions?.hostProcess === true ? ["pod"] : [];
  const bad = containersWhere(spec, (context) => context?.windowsOptions?.hostProcess === true);
  if (bad.length > 0) setters.push(containerText(bad));
  return setters.length === 0
    ? undefined
    : { reason: "hostProcess", detail: `${setters.join(" and ")} must not set securityContext.windowsOptions.hostProcess=true` };
};

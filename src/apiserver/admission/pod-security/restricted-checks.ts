/** Checks that level `restricted` adds (documentation page "Pod Security Standards"). */
import type { PodSpec } from "../../../api/core-v1/types.ts";
import { visitContainers } from "../pods/containers.ts";
import type { CheckFunction } from "./checks.ts";
import { procMountViolation } from "./baseline-checks.ts";
import { containerText, containersWhere, plural, quoted, sortedSet } from "./wording.ts";

/** From this version on Windows pods are spared the rules that only Linux knows. */
const windowsMinor = 25;
/** From this version on pods in a user namespace of their own may run as root. */
const userNamespaceMinor = 35;

const isExempt = (spec: PodSpec, minor: number) => minor >= windowsMinor && spec.os?.name === "windows";
const hasOwnUsers = (spec: PodSpec, minor: number) => minor >= userNamespaceMinor && spec.hostUsers === false;

export const privilegeEscalation: CheckFunction = ({ spec }, minor) => {
  if (isExempt(spec, minor)) return undefined;
  const bad = containersWhere(spec, (context) => context?.allowPrivilegeEscalation !== false);
  return bad.length === 0
    ? undefined
    : { reason: "allowPrivilegeEscalation != false", detail: `${containerText(bad)} must set securityContext.allowPrivilegeEscalation=false` };
};

export const capabilitiesRestricted: CheckFunction = ({ spec }, minor) => {
  if (isExempt(spec, minor)) return undefined;
  const forbidden = new Set<string>();
  const missing: string[] = [];
  const adding: string[] = [];
  visitContainers(spec, ({ name, securityContext }) => {
    const { drop = [], add = [] } = securityContext?.capabilities ?? {};
    if (!drop.includes("ALL")) missing.push(name);
    const bad = add.filter((capability) => capability !== "NET_BIND_SERVICE");
    if (bad.length > 0) adding.push(name);
    for (const capability of bad) forbidden.add(capability);
  });
  const faults = [
    ...(missing.length === 0 ? [] : [`${containerText(missing)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0 ? [] : [`${containerText(adding)} must not include ${quoted(sortedSet(forbidden))} in securityContext.capabilities.add`]),
  ];
  return faults.length === 0 ? undefined : { reason: "unrestricted capabilities", detail: faults.join("; ") };
};

/** Restricted pods see only the masked /proc, whatever namespace they are in. */
export const procMountRestricted: CheckFunction = ({ spec }) => procMountViolation(spec);

const allowedVolumes: readonly string[] = ["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret"];

export const restrictedVolumes: CheckFunction = ({ spec }) => {
  const types = new Set<string>();
  const bad: string[] = [];
  for (const volume of spec.volumes ?? []) {
    const type = Object.keys(volume).find((key) => key !== "name");
    if (type === undefined || allowedVolumes.includes(type)) continue;
    bad.push(volume.name);
    types.add(type);
  }
  if (bad.length === 0) return undefined;
  return {
    reason: "restricted volume types",
    detail: `${plural("volume", bad.length)} ${quoted(bad)} ${bad.length === 1 ? "uses" : "use"} restricted volume ${plural("type", types.size)} ${quoted(sortedSet(types))}`,
  };
};

export const runAsNonRoot: CheckFunction = ({ spec }, minor) => {
  if (hasOwnUsers(spec, minor)) return undefined;
  const ofPod = spec.securityContext?.runAsNonRoot;
  const setters = ofPod === false ? ["pod"] : [];
  const explicit = containersWhere(spec, (context) => context?.runAsNonRoot === false);
  const implicit = containersWhere(spec, (context) => context?.runAsNonRoot === undefined && ofPod === undefined);
  if (explicit.length > 0) setters.push(containerText(explicit));
  const reason = "runAsNonRoot != true";
  if (setters.length > 0) return { reason, detail: `${setters.join(" and ")} must not set securityContext.runAsNonRoot=false` };
  return implicit.length === 0 ? undefined : { reason, detail: `pod or ${containerText(implicit)} must set securityContext.runAsNonRoot=true` };
};

export const runAsUser: CheckFunction = ({ spec }, minor) => {
  if (hasOwnUsers(spec, minor)) return undefined;
  const setters = spec.securityContext?.runAsUser === 0 ? ["pod"] : [];
  const bad = containersWhere(spec, (context) => context?.runAsUser === 0);
  if (bad.length > 0) setters.push(containerText(bad));
  return setters.length === 0 ? undefined : { reason: "runAsUser=0", detail: `${setters.join(" and ")} must not set runAsUser=0` };
};

export const seccompRestricted: CheckFunction = ({ spec }, minor) => {
  if (isExempt(spec, minor)) return undefined;
  const types = new Set<string>();
  const isAllowed = (type: string | undefined) => type === "RuntimeDefault" || type === "Localhost";
  const isBad = (type: string | undefined): boolean => {
    if (type === undefined || isAllowed(type)) return false;
    types.add(type);
    return true;
  };
  const ofPod = spec.securityContext?.seccompProfile?.type;
  const setters = isBad(ofPod) ? ["pod"] : [];
  const explicit = containersWhere(spec, (context) => isBad(context?.seccompProfile?.type));
  const implicit = containersWhere(spec, (context) => context?.seccompProfile?.type === undefined && ofPod === undefined);
  if (explicit.length > 0) setters.push(containerText(explicit));
  if (setters.length > 0)
    return { reason: "seccompProfile", detail: `${setters.join(" and ")} must not set securityContext.seccompProfile.type to ${quoted(sortedSet(types))}` };
  return implicit.length === 0
    ? undefined
    : { reason: "seccompProfile", detail: `pod or ${containerText(implicit)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"` };
};

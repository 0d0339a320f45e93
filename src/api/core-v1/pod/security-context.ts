/** Rules of security contexts: of a container, and of the pod. */
import { numberOf } from "../../../apimachinery/json.ts";
import { duplicate, forbidden, invalid, invalidEach, notSupported, required, tooLong } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { byteLength, rangeText } from "../../../apimachinery/names.ts";
import { internalForm } from "../../meta/internal-form.ts";
import type { AppArmorProfile, PodSecurityContext, PodSpec, SeccompProfile, SecurityContext, Sysctl } from "../types.ts";
import { validateDescendingPath } from "./paths.ts";
import { validateWindowsOptions } from "./windows-options.ts";

const maxId = 2 ** 31 - 1;
const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"];

export interface SecurityRules {
  /** Whether the pod runs in the host's user namespace. */
  readonly hostUsers: boolean;
  readonly allowPrivileged: boolean;
}

export function validateSecurityContext(context: SecurityContext | undefined, { hostUsers, allowPrivileged }: SecurityRules, path: FieldPath): FieldError[] {
  if (context === undefined) return [];
  const errors: FieldError[] = [];
  const { privileged, procMount, allowPrivilegeEscalation } = context;
  if (privileged === true && !allowPrivileged) errors.push(forbidden(path.child("privileged"), "disallowed by cluster policy"));
  errors.push(...validateId(context.runAsUser, path.child("runAsUser")), ...validateId(context.runAsGroup, path.child("runAsGroup")));
  if (procMount !== undefined) {
    errors.push(...oneOf(procMount, ["Default", "Unmasked"], path.child("procMount")));
    if (hostUsers && procMount === "Unmasked") errors.push(invalid(path.child("procMount"), procMount, "`hostUsers` must be false to use `Unmasked`"));
  }
  errors.push(...validateSeccomp(context.seccompProfile, path.child("seccompProfile")));
  if (allowPrivilegeEscalation === false) {
    const shown = () => internalForm("api.core.v1.SecurityContext", context);
    if (privileged === true) errors.push(invalid(path, shown(), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"));
    for (const capability of context.capabilities?.add ?? []) {
      if (capability === "CAP_SYS_ADMIN")
        errors.push(invalid(path, shown(), "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"));
    }
  }
  return [
    ...errors,
    ...validateWindowsOptions(context.windowsOptions, path.child("windowsOptions")),
    ...validateAppArmor(context.appArmorProfile, path.child("appArmorProfile")),
  ];
}

export function validatePodSecurityContext(context: PodSecurityContext, spec: PodSpec, specPath: FieldPath): FieldError[] {
  const path = specPath.child("securityContext");
  const errors = (["fsGroup", "runAsUser", "runAsGroup"] as const).flatMap((field) => validateId(context[field], path.child(field)));
  (context.supplementalGroups ?? []).forEach((group, index) => errors.push(...validateId(group, path.child("supplementalGroups").index(index))));
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    errors.push(invalid(specPath.child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled"));
  }
  errors.push(...validateSysctls(context.sysctls ?? [], spec, path.child("sysctls")));
  const choices = {
    fsGroupChangePolicy: ["Always", "OnRootMismatch"],
    seLinuxChangePolicy: ["MountOption", "Recursive"],
    supplementalGroupsPolicy: ["Merge", "Strict"],
  } as const;
  const choose = (field: keyof typeof choices) => (context[field] === undefined ? [] : oneOf(context[field], choices[field], path.child(field)));
  return [
    ...errors,
    ...choose("fsGroupChangePolicy"),
    ...validateSeccomp(context.seccompProfile, path.child("seccompProfile")),
    ...validateWindowsOptions(context.windowsOptions, path.child("windowsOptions")),
    ...validateAppArmor(context.appArmorProfile, path.child("appArmorProfile")),
    ...choose("seLinuxChangePolicy"),
    ...choose("supplementalGroupsPolicy"),
  ];
}

function validateId(id: number | undefined, path: FieldPath): FieldError[] {
  return id === undefined || (numberOf(id) >= 0 && numberOf(id) <= maxId) ? [] : invalidEach(path, id, [rangeText(0, maxId)]);
}

function oneOf(value: string, supported: readonly string[], path: FieldPath): FieldError[] {
  return supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

function validateSeccomp(profile: SeccompProfile | undefined, path: FieldPath): FieldError[] {
  if (profile === undefined) return [];
  const { type = "", localhostProfile } = profile;
  const errors = type === "" ? [required(path.child("type"), "type is required when seccompProfile is set")] : oneOf(type, profileTypes, path.child("type"));
  if (type === "Localhost") {
    if (localhostProfile === undefined) errors.push(required(path.child("localhostProfile"), "must be set when seccomp type is Localhost"));
    else errors.push(...validateDescendingPath(localhostProfile, path.child("localhostProfile")));
  } else if (localhostProfile !== undefined) {
    errors.push(invalid(path.child("localhostProfile"), internalForm("api.core.v1.SeccompProfile", profile), "can only be set when seccomp type is Localhost"));
  }
  return errors;
}

const maxAppArmorBytes = 4095;

function validateAppArmor(profile: AppArmorProfile | undefined, path: FieldPath): FieldError[] {
  if (profile === undefined) return [];
  const { type = "", localhostProfile } = profile;
  const at = path.child("localhostProfile");
  if (type === "") return [required(path.child("type"), "type is required when appArmorProfile is set")];
  if (type !== "Localhost") {
    if (!profileTypes.includes(type)) return [notSupported(path.child("type"), type, profileTypes)];
    return localhostProfile === undefined ? [] : [invalid(at, localhostProfile, "can only be set when AppArmor type is Localhost")];
  }
  if (localhostProfile === undefined) return [required(at, "must be set when AppArmor type is Localhost")];
  const errors: FieldError[] = [];
  if (localhostProfile !== localhostProfile.trim()) errors.push(invalid(at, localhostProfile, "must not be padded with whitespace"));
  else if (localhostProfile === "") errors.push(required(at, "must be set when AppArmor type is Localhost"));
  if (byteLength(localhostProfile) > maxAppArmorBytes) errors.push(tooLong(at, maxAppArmorBytes));
  return errors;
}

const sysctlName = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const sysctlText = "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

function validateSysctls(sysctls: readonly Sysctl[], spec: PodSpec, path: FieldPath): FieldError[] {
  const names = new Set<string>();
  return sysctls.flatMap(({ name = "" }, index) => {
    const at = path.index(index).child("name");
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(at));
    else if (byteLength(name) > 253 || !sysctlName.test(name)) errors.push(invalid(at, name, sysctlText));
    else if (names.has(name)) errors.push(duplicate(at, name));
    names.add(name);
    const dotted = name.replaceAll("/", ".");
    if (spec.hostNetwork === true && dotted.startsWith("net.")) errors.push(invalid(at, name, "may not be specified when 'hostNetwork' is true"));
    if (spec.hostIPC === true && /^(kernel\.(sem$|shm|msg)|fs\.mqueue\.)/.test(dotted))
      errors.push(invalid(at, name, "may not be specified when 'hostIPC' is true"));
    return errors;
  });
}

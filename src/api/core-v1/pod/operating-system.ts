/** Rules of pods that say which operating system they are for, and of the namespaces they share with the host. */
import { forbidden, invalid, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import type { Container, PodSecurityContext, PodSpec, SecurityContext } from "../types.ts";

/** Containers of every sort, with their paths, in the order in which rules visit them. */
export function containersWithPaths(spec: PodSpec, specPath: FieldPath): { readonly container: Container; readonly path: FieldPath }[] {
  return (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((field) =>
    (spec[field] ?? []).map((container, index) => ({ container, path: specPath.child(field).index(index) })),
  );
}

export function validateOperatingSystem(spec: PodSpec, path: FieldPath): FieldError[] {
  if (spec.os === undefined) return [];
  const { name = "" } = spec.os;
  if (name === "") return [required(path.child("os", "name"))];
  if (name === "linux") return validateLinux(spec, path);
  return name === "windows" ? validateWindows(spec, path) : [notSupported(path.child("os"), name, ["linux", "windows"])];
}

/** Processes of Windows that run on the host do so in all containers of the pod, and in the host's network. */
export function validateHostProcess(spec: PodSpec, path: FieldPath): FieldError[] {
  const podWide = spec.securityContext?.windowsOptions?.hostProcess;
  const errors: FieldError[] = [];
  const containers = containersWithPaths(spec, path);
  let count = 0;
  for (const { container, path: at } of containers) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (own !== undefined && podWide !== undefined && own !== podWide) {
      errors.push(
        invalid(
          at.child("securityContext", "windowsOptions", "hostProcess"),
          own,
          `pod hostProcess value must be identical if both are specified, was ${podWide}`,
        ),
      );
    }
    if (own ?? podWide ?? false) count++;
  }
  if (count === 0) return errors;
  if (count !== containers.length)
    errors.push(invalid(path, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers"));
  if (spec.hostNetwork !== true) errors.push(invalid(path.child("hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers"));
  return errors;
}

/** A pod in a user namespace of its own shares nothing with the host. */
export function validateHostUsers(spec: PodSpec, allowsHostNetwork: boolean, path: FieldPath): FieldError[] {
  if (spec.hostUsers !== false) return [];
  const errors: FieldError[] = [];
  const text = "when `hostUsers` is false";
  for (const { container, path: at } of containersWithPaths(spec, path)) {
    if ((container.volumeDevices ?? []).length > 0) errors.push(forbidden(at.child("volumeDevices"), text));
  }
  if (spec.hostNetwork === true && !allowsHostNetwork) errors.push(forbidden(path.child("hostNetwork"), text));
  if (spec.hostPID === true) errors.push(forbidden(path.child("HostPID"), text));
  if (spec.hostIPC === true) errors.push(forbidden(path.child("HostIPC"), text));
  return errors;
}

function validateLinux(spec: PodSpec, path: FieldPath): FieldError[] {
  const contexts = [
    { context: spec.securityContext, at: path },
    ...containersWithPaths(spec, path).map(({ container, path: at }) => ({ context: container.securityContext, at })),
  ];
  return contexts
    .filter(({ context }) => context?.windowsOptions !== undefined)
    .map(({ at }) => forbidden(at.child("securityContext", "windowsOptions"), "windows options cannot be set for a linux pod"));
}

const podFields: readonly (keyof PodSecurityContext & string)[] = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "fsGroup",
  "fsGroupChangePolicy",
  "sysctls",
  "runAsUser",
  "runAsGroup",
  "supplementalGroups",
  "supplementalGroupsPolicy",
];
const containerFields: readonly (keyof SecurityContext & string)[] = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
];

function validateWindows(spec: PodSpec, path: FieldPath): FieldError[] {
  const text = "cannot be set for a windows pod";
  const isSet = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0);
  const forbiddenFields = <Context extends object>(context: Context | undefined, fields: readonly (keyof Context & string)[], at: FieldPath) =>
    fields.filter((field) => isSet(context?.[field])).map((field) => forbidden(at.child("securityContext", field), text));
  const hostFields = [
    ["hostUsers", spec.hostUsers !== undefined],
    ["hostPID", spec.hostPID === true],
    ["hostIPC", spec.hostIPC === true],
    ["shareProcessNamespace", spec.shareProcessNamespace !== undefined],
  ] as const;
  return [
    ...forbiddenFields(spec.securityContext, podFields, path),
    ...hostFields.filter(([, isUsed]) => isUsed).map(([field]) => forbidden(path.child(field), text)),
    ...containersWithPaths(spec, path).flatMap(({ container, path: at }) => forbiddenFields(container.securityContext, containerFields, at)),
  ];
}

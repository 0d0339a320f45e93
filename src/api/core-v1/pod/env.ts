/** Rules of environment variables and their sources. */
import { invalid, invalidEach, notFound, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { isConfigMapKey, isEnvVarName } from "../../../apimachinery/formats.ts";
import { isDns1123Subdomain, isQualifiedName } from "../../../apimachinery/names.ts";
import { isZeroQuantity } from "../../../apimachinery/quantity.ts";
import type { EnvFromSource, EnvVar, FileKeySelector, ObjectFieldSelector, ResourceFieldSelector, Volume } from "../types.ts";
import { validatePathWithoutBacksteps } from "./paths.ts";

export function validateEnv(variables: readonly EnvVar[], allowsFiles: boolean, path: FieldPath): FieldError[] {
  return variables.flatMap((variable, index) => {
    const at = path.index(index);
    const { name = "" } = variable;
    return [
      ...(name === "" ? [required(at.child("name"))] : invalidEach(at.child("name"), name, isEnvVarName(name))),
      ...validateValueFrom(variable, allowsFiles, at.child("valueFrom")),
    ];
  });
}

export function validateEnvFrom(sources: readonly EnvFromSource[], path: FieldPath): FieldError[] {
  return sources.flatMap((source, index) => {
    const at = path.index(index);
    const errors: FieldError[] = [];
    if (source.prefix) errors.push(...invalidEach(at.child("prefix"), source.prefix, isEnvVarName(source.prefix)));
    const kinds = (["configMapRef", "secretRef"] as const).filter((kind) => source[kind] !== undefined);
    for (const kind of kinds) if (!source[kind]!.name) errors.push(required(at.child(kind, "name")));
    if (kinds.length === 0) errors.push(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"));
    else if (kinds.length > 1) errors.push(invalid(path, "", "may not have more than one field specified at a time"));
    return errors;
  });
}

/** Volumes that file keys name: they must be there, and be empty directories. */
export function validateFileKeyVolumes(variables: readonly EnvVar[], volumes: ReadonlyMap<string, Volume>, path: FieldPath): FieldError[] {
  return variables.flatMap(({ valueFrom }, index) => {
    if (valueFrom?.fileKeyRef === undefined) return [];
    const name = valueFrom.fileKeyRef.volumeName ?? "";
    const at = path.index(index).child("valueFrom", "fileKeyRef", "volumeName");
    const volume = volumes.get(name);
    if (volume === undefined) return [notFound(at, name)];
    return volume.emptyDir === undefined ? [invalid(at, name, "referenced volume must be of type emptyDir")] : [];
  });
}

function validateValueFrom({ value, valueFrom }: EnvVar, allowsFiles: boolean, path: FieldPath): FieldError[] {
  if (valueFrom === undefined) return [];
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  const errors: FieldError[] = [];
  if (fieldRef !== undefined) errors.push(...validateFieldSelector(fieldRef, envFieldPaths, path.child("fieldRef")));
  if (resourceFieldRef !== undefined) errors.push(...validateResourceSelector(resourceFieldRef, path.child("resourceFieldRef"), false));
  if (configMapKeyRef !== undefined) errors.push(...validateKeySelector(configMapKeyRef, path.child("configMapKeyRef")));
  if (secretKeyRef !== undefined) errors.push(...validateKeySelector(secretKeyRef, path.child("secretKeyRef")));
  if (fileKeyRef !== undefined) errors.push(...validateFileKey(fileKeyRef, path.child("fileKeyRef")));
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter((source) => source !== undefined).length;
  const choices = allowsFiles ? "`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`" : "`configMapKeyRef` or `secretKeyRef`";
  if (count === 0) errors.push(invalid(path, "", `must specify one of: \`fieldRef\`, \`resourceFieldRef\`, ${choices}`));
  else if (value) errors.push(invalid(path, "", "may not be specified when `value` is not empty"));
  else if (count > 1) errors.push(invalid(path, "", "may not have more than one field specified at a time"));
  return errors;
}

function validateKeySelector({ name = "", key = "" }: { name?: string; key?: string }, path: FieldPath): FieldError[] {
  return [
    ...invalidEach(path.child("name"), name, isDns1123Subdomain(name)),
    ...(key === "" ? [required(path.child("key"))] : invalidEach(path.child("key"), key, isConfigMapKey(key))),
  ];
}

function validateFileKey({ key, volumeName, path: file }: FileKeySelector, path: FieldPath): FieldError[] {
  return [
    ...(key ? invalidEach(path.child("key"), key, isEnvVarName(key)) : [required(path.child("key"))]),
    ...(volumeName ? [] : [required(path.child("volumeName"))]),
    ...(file ? validatePathWithoutBacksteps(file, path.child("path")) : [required(path.child("path"))]),
  ];
}

const envFieldPaths = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
export const volumeFieldPaths = ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
const knownFieldPaths = new Set([...envFieldPaths, ...volumeFieldPaths, "spec.restartPolicy", "spec.schedulerName", "status.phase"]);

/** A field of the pod itself. `supported`: sorted paths that may be used here. */
export function validateFieldSelector({ apiVersion, fieldPath }: ObjectFieldSelector, supported: readonly string[], path: FieldPath): FieldError[] {
  if (!apiVersion) return [required(path.child("apiVersion"))];
  if (!fieldPath) return [required(path.child("fieldPath"))];
  const failed = (text: string) => [invalid(path.child("fieldPath"), fieldPath, `error converting fieldPath: ${text}`)];
  if (apiVersion !== "v1") return failed(`unsupported pod version: ${apiVersion}`);
  const [, base, subscript] = /^(.+?)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  if (base !== undefined && subscript !== undefined) {
    if (base === "metadata.annotations") return invalidEach(path, subscript.toLowerCase(), isQualifiedName(subscript.toLowerCase()));
    if (base === "metadata.labels") return invalidEach(path, subscript, isQualifiedName(subscript));
    return failed(`field label does not support subscript: ${fieldPath}`);
  }
  const internal = fieldPath === "spec.host" ? "spec.nodeName" : fieldPath;
  if (!knownFieldPaths.has(internal)) return failed(`field label not supported: ${fieldPath}`);
  return supported.includes(internal) ? [] : [notSupported(path.child("fieldPath"), internal, supported)];
}

const containerResources = ["limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"];
const byteDivisors = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
/** Divisors by resource, with the words that texts use for it. */
const divisors: Readonly<Record<string, { readonly allowed: readonly string[]; readonly shown: string; readonly of: string }>> = {
  cpu: { allowed: ["1m", "1"], shown: "1m and 1", of: "cpu" },
  memory: { allowed: byteDivisors, shown: byteDivisors.join(", "), of: "memory" },
  "ephemeral-storage": { allowed: byteDivisors, shown: byteDivisors.join(", "), of: "local ephemeral storage" },
  hugepages: { allowed: byteDivisors, shown: byteDivisors.join(", "), of: "hugepages" },
};

/** A resource of a container. In a volume the container must be named. */
export function validateResourceSelector({ containerName, resource = "", divisor }: ResourceFieldSelector, path: FieldPath, isInVolume: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const isHugePages = /^(limits|requests)\.hugepages-/.test(resource);
  if (isInVolume && !containerName) errors.push(required(path.child("containerName")));
  else if (resource === "") errors.push(required(path.child("resource")));
  else if (!isHugePages && !containerResources.includes(resource)) errors.push(notSupported(path.child("resource"), resource, containerResources));
  const rule = divisors[isHugePages ? "hugepages" : resource.replace(/^(limits|requests)\./, "")];
  if (divisor === undefined || isZeroQuantity(divisor) || rule === undefined || rule.allowed.includes(String(divisor))) return errors;
  return [...errors, invalid(path.child("divisor"), resource, `only divisor's values ${rule.shown} are supported with the ${rule.of} resource`)];
}

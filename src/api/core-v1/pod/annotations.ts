/** Annotations of pods that mean something to Kubernetes, some of them older than the fields that replaced them. */
import { DecodeError, decodeUntyped } from "../../../apimachinery/decode/decode-object.ts";
import { forbidden, invalid } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { isObject } from "../../../apimachinery/json.ts";
import type { ObjectMeta } from "../../../apimachinery/object.ts";
import { isSame } from "../../update-rules.ts";
import type { AppArmorProfile, Pod, PodSpec, SeccompProfile, Toleration } from "../types.ts";
import { containersWithPaths } from "./operating-system.ts";
import { validateDescendingPath } from "./paths.ts";
import { validateTolerations } from "./scheduling.ts";

export const mirrorAnnotation = "kubernetes.io/config.mirror";
const deletionCost = "controller.kubernetes.io/pod-deletion-cost";
const podSeccomp = "seccomp.security.alpha.kubernetes.io/pod";
const containerSeccomp = "container.seccomp.security.alpha.kubernetes.io/";
export const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";

/** Annotations of a pod or of a pod template. */
export function validatePodAnnotations(annotations: Readonly<Record<string, string>>, spec: PodSpec, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const mirror = annotations[mirrorAnnotation];
  if (mirror !== undefined && !spec.nodeName)
    errors.push(invalid(path.key(mirrorAnnotation), mirror, "must set spec.nodeName if mirror pod annotation is set"));
  errors.push(...validateTolerationsAnnotation(annotations[tolerationsAnnotation], path));
  const cost = annotations[deletionCost];
  if (cost !== undefined && !isInt32(cost)) errors.push(invalid(path.key(deletionCost), cost, "must be a 32bit integer"));
  for (const key of Object.keys(annotations).sort()) {
    if (key === podSeccomp || key.startsWith(containerSeccomp)) errors.push(...validateSeccompText(annotations[key]!, path.child(key)));
  }
  const names = new Set(containersWithPaths(spec, path).map(({ container }) => container.name));
  for (const key of Object.keys(annotations)
    .filter((name) => name.startsWith(appArmorPrefix))
    .sort()) {
    const container = key.slice(appArmorPrefix.length);
    if (!names.has(container)) errors.push(invalid(path.key(key), container, "container not found"));
    const profile = annotations[key]!;
    if (!isAppArmorText(profile)) errors.push(invalid(path.key(key), profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`));
  }
  return errors;
}

const tolerationsAnnotation = "scheduler.alpha.kubernetes.io/tolerations";

/** Tolerations as JSON: how they were told before there was a field. */
function validateTolerationsAnnotation(text: string | undefined, path: FieldPath): FieldError[] {
  if (!text) return [];
  try {
    const { value } = decodeUntyped(Buffer.from(text), { mediaType: "json" });
    return Array.isArray(value) ? validateTolerations(value.filter(isObject) as Toleration[], path.child(tolerationsAnnotation)) : [];
  } catch (error) {
    if (error instanceof DecodeError) return [invalid(path, tolerationsAnnotation, error.message)];
    throw error;
  }
}

/** On creation annotations and the fields that replaced them must agree. */
export function validateAnnotationsMatchFields({ annotations = {} }: ObjectMeta, spec: PodSpec, specPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const podProfile = spec.securityContext?.seccompProfile;
  if (annotations[podSeccomp] !== undefined)
    errors.push(...compareSeccomp(annotations[podSeccomp], podProfile, specPath.child("securityContext", "seccompProfile")));
  const containers = containersWithPaths(spec, specPath);
  for (const { container, path } of containers) {
    const text = annotations[containerSeccomp + container.name];
    if (text !== undefined) errors.push(...compareSeccomp(text, container.securityContext?.seccompProfile, path.child("securityContext", "seccompProfile")));
  }
  for (const { container, path } of containers) {
    const text = annotations[appArmorPrefix + container.name];
    const profile = container.securityContext?.appArmorProfile;
    const told = text === undefined ? undefined : appArmorProfileOf(text);
    if (told === undefined || profile === undefined) continue;
    const at = path.child("securityContext", "appArmorProfile");
    if (told.type !== profile.type) errors.push(forbidden(at.child("type"), "apparmor type in annotation and field must match"));
    else if (told.type === "Localhost" && (told.localhostProfile ?? "") !== (profile.localhostProfile ?? ""))
      errors.push(forbidden(at.child("localhostProfile"), "apparmor profile in annotation and field must match"));
  }
  return errors;
}

/** Some annotations are fixed once a pod exists. */
export function validateAnnotationUpdate(pod: Pod, old: Pod, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const annotations = pod.metadata.annotations ?? {};
  const before = old.metadata.annotations ?? {};
  for (const key of [...new Set([...Object.keys(annotations), ...Object.keys(before)])].sort()) {
    if (annotations[key] === before[key]) continue;
    if (key.startsWith(appArmorPrefix))
      errors.push(
        forbidden(
          path.key(key),
          annotations[key] === undefined
            ? "may not remove AppArmor annotations"
            : before[key] === undefined
              ? "may not add AppArmor annotations"
              : "may not update AppArmor annotations",
        ),
      );
    if (key === mirrorAnnotation)
      errors.push(
        forbidden(
          path.key(key),
          annotations[key] === undefined
            ? "may not remove mirror pod annotation"
            : before[key] === undefined
              ? "may not add mirror pod annotation"
              : "may not update mirror pod annotation",
        ),
      );
  }
  return errors;
}

const appArmorDeprecation = 'deprecated since v1.30; use the "appArmorProfile" field instead';

/** Warning about the annotation of a container; `path`: of the annotations. */
export function appArmorWarning(container: string, path: FieldPath): string {
  return `${path.key(appArmorPrefix + container)}: ${appArmorDeprecation}`;
}

/** What an AppArmor annotation says without a field goes into the field of a pod that is to be made, with a warning. Fields do not become annotations. */
export function mirrorAppArmor(pod: Pod, warn: (text: string) => void): void {
  if (pod.spec?.os?.name === "windows") return;
  const podProfile = pod.spec?.securityContext?.appArmorProfile;
  for (const { container } of containersWithPaths(pod.spec ?? {}, FieldPath.root("spec"))) {
    const key = appArmorPrefix + container.name;
    const annotation = pod.metadata.annotations?.[key];
    const field = container.securityContext?.appArmorProfile;
    if (annotation !== undefined && field === undefined) {
      warn(appArmorWarning(container.name, FieldPath.root("metadata", "annotations")));
      const told = appArmorProfileOf(annotation);
      if (told !== undefined && !isSame(told, podProfile)) (container.securityContext ??= {}).appArmorProfile = told;
    }
  }
}

function isInt32(text: string): boolean {
  return /^(0|-?[1-9]\d*|-0)$/.test(text) && Math.abs(Number(text)) <= 2 ** 31 && Number(text) !== 2 ** 31;
}

function validateSeccompText(text: string, path: FieldPath): FieldError[] {
  if (["runtime/default", "docker/default", "unconfined"].includes(text)) return [];
  if (text.startsWith("localhost/")) return validateDescendingPath(text.slice("localhost/".length), path);
  return [invalid(path, text, "must be a valid seccomp profile")];
}

function compareSeccomp(text: string, profile: SeccompProfile | undefined, path: FieldPath): FieldError[] {
  if (profile === undefined) return [];
  const mismatch = forbidden(path.child("type"), "seccomp type in annotation and field must match");
  switch (profile.type) {
    case "Unconfined":
      return text === "unconfined" ? [] : [mismatch];
    case "RuntimeDefault":
      return text === "runtime/default" || text === "docker/default" ? [] : [mismatch];
    case "Localhost":
      if (!text.startsWith("localhost/")) return [mismatch];
      return text.slice("localhost/".length) === (profile.localhostProfile ?? "")
        ? []
        : [forbidden(path.child("localhostProfile"), "seccomp profile in annotation and field must match")];
    default:
      return [];
  }
}

function isAppArmorText(text: string): boolean {
  return text === "" || text === "runtime/default" || text === "unconfined" || text.startsWith("localhost/");
}

function appArmorProfileOf(text: string): AppArmorProfile | undefined {
  if (text === "unconfined") return { type: "Unconfined" };
  if (text === "runtime/default") return { type: "RuntimeDefault" };
  return text.startsWith("localhost/") && text !== "localhost/" ? { type: "Localhost", localhostProfile: text.slice("localhost/".length) } : undefined;
}

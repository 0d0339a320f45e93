/** Rules of ephemeral containers: what they may have, and that those that exist stay as they are. */
import { duplicate, forbidden, notFound } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { jsonDiff } from "../../meta/diff.ts";
import { internalForm, isSemanticallyEqual } from "../../meta/internal-form.ts";
import type { EphemeralContainer, Pod } from "../types.ts";
import { mirrorAnnotation } from "./annotations.ts";
import { validateContainer, validateImages } from "./containers.ts";
import type { ContainerRules } from "./containers.ts";
import { wholeObject } from "./resize.ts";

const text = "cannot be set for an Ephemeral Container";
/** In the order of the type; all others are allowed. */
const forbiddenFields: readonly (keyof EphemeralContainer & string)[] = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
];

export function validateEphemeralContainers(rules: ContainerRules, path: FieldPath): FieldError[] {
  const { spec } = rules;
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name));
  const names = new Set(others);
  return (spec.ephemeralContainers ?? []).flatMap((container, index) => {
    const at = path.index(index);
    const { name = "", targetContainerName } = container;
    const errors = [...validateContainer(container, rules, at), ...(index === 0 ? validateImages(spec.ephemeralContainers!, path) : [])];
    if (names.has(name)) errors.push(duplicate(at.child("name"), name));
    names.add(name);
    if (targetContainerName && !others.has(targetContainerName)) errors.push(notFound(at.child("targetContainerName"), targetContainerName));
    errors.push(...forbiddenFields.filter((field) => !isEmpty(container[field])).map((field) => forbidden(at.child(field), text)));
    (container.volumeMounts ?? []).forEach((mount, mountIndex) => {
      for (const field of ["subPath", "subPathExpr"] as const)
        if (mount[field]) errors.push(forbidden(at.child("volumeMounts").index(mountIndex).child(field), text));
    });
    return errors;
  });
}

/** What changes of the list are refused. */
export function validateEphemeralUpdate(pod: Pod, old: Pod): FieldError[] {
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) return [forbidden(wholeObject, "static pods do not support ephemeral containers")];
  const path = FieldPath.root("spec", "ephemeralContainers");
  const type = "api.core.v1.EphemeralContainer";
  return (old.spec?.ephemeralContainers ?? []).flatMap((before) => {
    const after = pod.spec?.ephemeralContainers?.find(({ name }) => name === before.name);
    if (after === undefined) return [forbidden(path, `existing ephemeral containers ${JSON.stringify(before.name)} may not be removed\n`)];
    if (isSemanticallyEqual(type, before, after)) return [];
    return [
      forbidden(
        path,
        `existing ephemeral containers ${JSON.stringify(before.name)} may not be changed\n${jsonDiff(internalForm(type, before), internalForm(type, after))}`,
      ),
    ];
  });
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);
}

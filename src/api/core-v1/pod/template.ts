/** Rules of pod templates, for the kinds that hold one. */
import { forbidden } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { validateLabels } from "../../meta/labels.ts";
import { validateAnnotations } from "../../meta/object-meta.ts";
import type { PodTemplateSpec } from "../types.ts";
import { validatePodAnnotations } from "./annotations.ts";
import { validatePodSpec } from "./spec.ts";
import type { PodSpecRules } from "./spec.ts";

/** Faults of a template; those of its metadata have paths without `metadata`, as upstream's. */
export function validatePodTemplateSpec(template: PodTemplateSpec, path: FieldPath, context: PodSpecRules["context"]): FieldError[] {
  const { metadata = {}, spec = {} } = template;
  const specPath = path.child("spec");
  return [
    ...validateLabels(metadata.labels, path.child("labels")),
    ...validateAnnotations(metadata.annotations, path.child("annotations")),
    ...validatePodAnnotations(metadata.annotations ?? {}, spec, path.child("annotations")),
    ...validatePodSpec(spec, { context }, specPath),
    ...((spec.ephemeralContainers ?? []).length > 0
      ? [forbidden(specPath.child("ephemeralContainers"), "ephemeral containers not allowed in pod template")]
      : []),
  ];
}

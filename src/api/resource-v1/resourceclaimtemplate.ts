import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import type { ObjectMeta } from "../../apimachinery/object.ts";
import { internalForm, isSemanticallyEqual } from "../meta/internal-form.ts";
import { validateLabels } from "../meta/labels.ts";
import { validateAnnotations } from "../meta/object-meta.ts";
import { defineKind } from "../strategy.ts";
import { defaultClaim, prepareClaim, validateAdminAccess, validateClaim } from "./device-claim.ts";
import type { DeviceClaim, ResourceClaimTemplate } from "./types.ts";

const specPath = FieldPath.root("spec");
const specType = "api.resource.v1.ResourceClaimTemplateSpec";

export const resourceClaimTemplates = defineKind<ResourceClaimTemplate>({
  gvk: { group: "resource.k8s.io", version: "v1", kind: "ResourceClaimTemplate" },
  nameRule: subdomainName,
  generation: "none",
  defaults: (template) => defaultClaim(claimOf(template)),
  create: {
    prepare: (template, context) => prepareClaim(claimOf(template), context),
    validate: (template, context) => [
      ...validateAdminAccess(claimOf(template), context),
      ...validateTemplateMeta(template.spec?.metadata ?? {}, specPath.child("metadata")),
      ...validateClaim(claimOf(template), context, specPath.child("spec", "devices")),
    ],
  },
  update: {
    validate: ({ spec }, old) =>
      isSemanticallyEqual(specType, spec ?? {}, old.spec ?? {}) ? [] : [invalid(specPath, internalForm(specType, spec ?? {}), "field is immutable")],
  },
  delete: { answer: "object" },
});

/** Claims get labels and annotations from their template; all else is the server's. */
const serverFields: readonly (keyof ObjectMeta)[] = [
  "name",
  "generateName",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

function validateTemplateMeta(metadata: ObjectMeta, path: FieldPath): FieldError[] {
  const isSet = (value: unknown) => value !== undefined && value !== null && value !== "" && value !== 0 && !(Array.isArray(value) && value.length === 0);
  return [
    ...validateLabels(metadata.labels, path.child("labels")),
    ...validateAnnotations(metadata.annotations, path.child("annotations")),
    ...serverFields.filter((field) => isSet(metadata[field])).map((field) => forbidden(path.child(field), "cannot be set")),
  ];
}

function claimOf(template: ResourceClaimTemplate): DeviceClaim {
  const spec = ((template.spec ??= {}).spec ??= {});
  return (spec.devices ??= {});
}

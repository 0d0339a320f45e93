/** PodTemplates (API reference "PodTemplate v1 core"). */
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import { applyPodSpecDefaults } from "./pod/defaults.ts";
import { dropDisabledFields } from "./pod/disabled-fields.ts";
import { validatePodTemplateSpec } from "./pod/template.ts";
import { podTemplateWarnings } from "./pod/warnings.ts";
import type { PodTemplate } from "./types.ts";

const path = FieldPath.root("template");

export const podTemplates = defineKind<PodTemplate>({
  gvk: { group: "", version: "v1", kind: "PodTemplate" },
  nameRule: subdomainName,
  generation: (object, old) => !isSemanticallyEqual("api.core.v1.PodTemplateSpec", object.template ?? {}, old.template ?? {}),
  defaults: (object) => applyPodSpecDefaults(((object.template ??= {}).spec ??= {})),
  create: {
    prepare: ({ template = {} }, context) => dropDisabledFields(template.spec ?? {}, undefined, context),
    validate: ({ template = {} }, context) => validatePodTemplateSpec(template, path, context),
    warnings: ({ template = {} }) => podTemplateWarnings(template, path),
  },
  update: {
    prepare: ({ template = {} }, old, context) => dropDisabledFields(template.spec ?? {}, old.template?.spec, context),
    validate: ({ template = {} }, _old, context) => validatePodTemplateSpec(template, path, context),
    warnings: ({ template = {} }) => podTemplateWarnings(template, path),
  },
  delete: { answer: "object" },
});

/** ReplicationControllers (API reference "ReplicationController v1 core"). */
import { forbidden, invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { longName } from "../../apimachinery/names.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import { applyPodSpecDefaults } from "./pod/defaults.ts";
import { dropDisabledFields } from "./pod/disabled-fields.ts";
import { validatePodTemplateSpec } from "./pod/template.ts";
import { hostnameWarnings, podTemplateWarnings } from "./pod/warnings.ts";
import type { ReplicationController, ReplicationControllerStatus } from "./types.ts";

const path = FieldPath.root("spec");

export const replicationControllers = defineKind<ReplicationController>({
  gvk: { group: "", version: "v1", kind: "ReplicationController" },
  nameRule: longName,
  generation: (controller, old) => !isSemanticallyEqual("api.core.v1.ReplicationControllerSpec", controller.spec ?? {}, old.spec ?? {}),
  defaults: applyDefaults,
  create: {
    prepare: (controller, context) => {
      controller.status = { replicas: 0 };
      dropDisabledFields(controller.spec?.template?.spec ?? {}, undefined, context);
    },
    validate: validateController,
    warnings: (controller) => [...hostnameWarnings(controller.metadata.name ?? "", "Pod names and hostnames"), ...templateWarnings(controller)],
  },
  update: {
    prepare: (controller, old, context) => {
      restoreMembers(controller, old, "status");
      dropDisabledFields(controller.spec?.template?.spec ?? {}, old.spec?.template?.spec, context);
    },
    validate: (controller, _old, context) => validateController(controller, context),
    warnings: templateWarnings,
    resetFields: ["status"],
  },
  status: {
    prepare: (controller, old) => restoreMembers(controller, old, "spec"),
    validate: ({ status }) => validateStatus(status ?? { replicas: 0 }),
    resetFields: ["spec"],
  },
  delete: { defaultPropagation: "orphan" },
  selectableFields: ({ status }) => ({ "status.replicas": String(status?.replicas ?? 0) }),
});

/** Selector and labels follow the labels of the template. */
function applyDefaults(controller: ReplicationController): void {
  const spec = (controller.spec ??= {});
  const labels = spec.template?.metadata?.labels ?? {};
  if (Object.keys(labels).length > 0) {
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(controller.metadata.labels ?? {}).length === 0) controller.metadata.labels = { ...labels };
  }
  spec.replicas ??= 1;
  if (spec.template !== undefined) applyPodSpecDefaults((spec.template.spec ??= {}));
}

function validateController({ spec = {} }: ReplicationController, context: RuleContext): FieldError[] {
  const selector = Object.entries(spec.selector ?? {});
  const errors: FieldError[] = selector.length === 0 ? [required(path.child("selector"))] : [];
  const at = path.child("template");
  const { template } = spec;
  if (template === undefined) {
    errors.push(required(at));
  } else {
    const labels = template.metadata?.labels;
    if (selector.some(([key, value]) => labels?.[key] !== value))
      errors.push(invalid(at.child("metadata", "labels"), labels, "`selector` does not match template `labels`"));
    errors.push(...validatePodTemplateSpec(template, at, context));
    const podSpec = template.spec ?? {};
    if (podSpec.restartPolicy !== "Always") errors.push(notSupported(at.child("spec", "restartPolicy"), podSpec.restartPolicy ?? "", ["Always"]));
    if (podSpec.activeDeadlineSeconds !== undefined)
      errors.push(forbidden(at.child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in ReplicationController is not Supported"));
  }
  return [...errors, ...(["replicas", "minReadySeconds"] as const).flatMap((field) => validateCount(spec[field], path.child(field)))];
}

function validateCount(count: number | undefined, at: FieldPath): FieldError[] {
  return (count ?? 0) < 0 ? [invalid(at, count, "must be greater than or equal to 0")] : [];
}

function validateStatus(status: ReplicationControllerStatus): FieldError[] {
  const at = FieldPath.root("status");
  const { replicas = 0, fullyLabeledReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const errors = (["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"] as const).flatMap((field) =>
    validateCount(status[field], at.child(field)),
  );
  const text = "cannot be greater than status.replicas";
  if (fullyLabeledReplicas > replicas) errors.push(invalid(at.child("fullyLabeledReplicas"), fullyLabeledReplicas, text));
  if (readyReplicas > replicas) errors.push(invalid(at.child("readyReplicas"), readyReplicas, text));
  if (availableReplicas > replicas) errors.push(invalid(at.child("availableReplicas"), availableReplicas, text));
  if (availableReplicas > readyReplicas) errors.push(invalid(at.child("availableReplicas"), availableReplicas, "cannot be greater than readyReplicas"));
  return errors;
}

function templateWarnings({ spec = {} }: ReplicationController): string[] {
  return spec.template === undefined ? [] : podTemplateWarnings(spec.template, path.child("template"));
}

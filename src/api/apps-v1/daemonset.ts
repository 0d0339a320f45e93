import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { validatePodTemplateSpec } from "../core-v1/pod/template.ts";
import { podTemplateWarnings } from "../core-v1/pod/warnings.ts";
import { validateCount, validateCounts, validateNotDecremented } from "../meta/counts.ts";
import { internalForm, isSemanticallyEqual } from "../meta/internal-form.ts";
import { validateLabelSelector } from "../meta/labels.ts";
import { numberOrPercent, validateAtMostWhole, validateNumberOrPercent } from "../meta/number-or-percent.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import {
  defaultTemplate,
  parseSelector,
  prepareTemplate,
  validateEndlessPods,
  validateNotEmpty,
  validateSameSelector,
  validateTemplateLabels,
} from "./pod-controller-rules.ts";
import { bumpTemplateGeneration, keepTemplateGeneration, normalizeTemplateGeneration } from "./template-generation.ts";
import type { DaemonSet, DaemonSetStatus, DaemonSetUpdateStrategy, RollingUpdateDaemonSet } from "./types.ts";

const specPath = FieldPath.root("spec");

export const daemonSets = defineKind<DaemonSet>({
  gvk: { group: "apps", version: "v1", kind: "DaemonSet" },
  nameRule: subdomainName,
  generation: (set, old) => !isSemanticallyEqual("api.apps.v1.DaemonSetSpec", set.spec ?? {}, old.spec ?? {}),
  defaults: applyDefaults,
  create: {
    prepare(set, context) {
      delete set.status;
      normalizeTemplateGeneration(set, 1);
      prepareTemplate(set.spec?.template, undefined, context);
    },
    validate: validateDaemonSet,
    warnings: templateWarnings,
  },
  update: {
    prepare(set, old, context) {
      restoreMembers(set, old, "status");
      prepareTemplate(set.spec?.template, old.spec?.template, context);
      const isSameTemplate = isSemanticallyEqual("api.core.v1.PodTemplateSpec", set.spec?.template ?? {}, old.spec?.template ?? {});
      if (isSameTemplate) keepTemplateGeneration(set, old);
      else bumpTemplateGeneration(set, old);
    },
    validate: (set, old, context) => [...validateSameSelector(set.spec, old.spec, specPath), ...validateDaemonSet(set, context)],
    warnings: templateWarnings,
    resetFields: ["status"],
  },
  status: {
    prepare(set, old) {
      restoreMembers(set, old, "spec");
      keepTemplateGeneration(set, old);
    },
    validate: validateStatus,
    resetFields: ["spec"],
  },
});

function applyDefaults(set: DaemonSet): void {
  const spec = (set.spec ??= { template: {} });
  defaultTemplate(spec);
  normalizeTemplateGeneration(set, 0);
  const strategy = (spec.updateStrategy ??= {});
  strategy.type ||= "RollingUpdate";
  if (strategy.type === "RollingUpdate") (strategy.rollingUpdate ??= {}).maxUnavailable ??= 1;
  if (strategy.rollingUpdate !== undefined) {
    strategy.rollingUpdate.maxUnavailable ??= 0;
    strategy.rollingUpdate.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= 10;
}

function validateDaemonSet({ spec = { template: {} } }: DaemonSet, context: RuleContext): FieldError[] {
  const { template, selector } = spec;
  const templatePath = specPath.child("template");
  const parsed = parseSelector(selector);
  return [
    ...validateLabelSelector(selector, specPath.child("selector")),
    ...(parsed === undefined ? [] : validateTemplateLabels(template, parsed, templatePath)),
    ...(selector === undefined ? [] : validateNotEmpty(selector, "daemonset", specPath.child("selector"))),
    ...validatePodTemplateSpec(template, templatePath, context),
    ...validateEndlessPods(template.spec ?? {}, "DaemonSet", templatePath.child("spec")),
    ...validateCount(spec.minReadySeconds, specPath.child("minReadySeconds")),
    ...validateUpdateStrategy(spec.updateStrategy ?? {}, specPath.child("updateStrategy")),
    ...validateCount(spec.revisionHistoryLimit, specPath.child("revisionHistoryLimit")),
  ];
}

function validateUpdateStrategy(strategy: DaemonSetUpdateStrategy, path: FieldPath): FieldError[] {
  switch (strategy.type) {
    case "OnDelete":
      return [];
    case "RollingUpdate":
      return strategy.rollingUpdate === undefined
        ? [required(path.child("rollingUpdate"))]
        : validateRollingUpdate(strategy.rollingUpdate, path.child("rollingUpdate"));
    default:
      return [notSupported(path, internalForm("api.apps.v1.DaemonSetUpdateStrategy", strategy), ["RollingUpdate", "OnDelete"])];
  }
}

function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDaemonSet, path: FieldPath): FieldError[] {
  const unavailablePath = path.child("maxUnavailable");
  const surgePath = path.child("maxSurge");
  const errors = [
    ...validateNumberOrPercent(maxUnavailable, unavailablePath),
    ...validateAtMostWhole(maxUnavailable, unavailablePath),
    ...validateNumberOrPercent(maxSurge, surgePath),
    ...validateAtMostWhole(maxSurge, surgePath),
  ];
  const hasUnavailable = numberOrPercent(maxUnavailable) !== 0;
  const hasSurge = numberOrPercent(maxSurge) !== 0;
  if (hasUnavailable && hasSurge) errors.push(invalid(surgePath, maxSurge, "may not be set when maxUnavailable is non-zero"));
  if (!hasUnavailable && !hasSurge) errors.push(required(unavailablePath, "cannot be 0 when maxSurge is 0"));
  return errors;
}

const counts = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "observedGeneration",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "collisionCount",
] as const;

function validateStatus({ status }: DaemonSet, old: DaemonSet): FieldError[] {
  const path = FieldPath.root("status");
  return [
    ...validateCounts<Partial<DaemonSetStatus>>(status ?? {}, counts, path),
    ...validateNotDecremented(status?.collisionCount, old.status?.collisionCount, path.child("collisionCount")),
  ];
}

function templateWarnings({ spec }: DaemonSet): string[] {
  return podTemplateWarnings(spec?.template ?? {}, specPath.child("template"));
}

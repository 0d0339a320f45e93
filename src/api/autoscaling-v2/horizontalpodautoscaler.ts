import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { validateCounts } from "../meta/counts.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import { defaultBehavior, validateBehavior } from "./behavior.ts";
import { validateMetrics } from "./metrics.ts";
import { isLegalApiVersion, validateScaleTarget } from "./target-reference.ts";
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec } from "./types.ts";

const specPath = FieldPath.root("spec");

export const horizontalPodAutoscalers = defineKind<HorizontalPodAutoscaler>({
  gvk: { group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler" },
  nameRule: subdomainName,
  generation: (autoscaler, old) => !isSemanticallyEqual("api.autoscaling.v2.HorizontalPodAutoscalerSpec", autoscaler.spec ?? {}, old.spec ?? {}),
  defaults(autoscaler) {
    const spec = specOf(autoscaler);
    spec.minReplicas ??= 1;
    if ((spec.metrics ?? []).length === 0)
      spec.metrics = [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } }];
    if (spec.behavior !== undefined) defaultBehavior(spec.behavior);
  },
  create: {
    prepare(autoscaler) {
      delete autoscaler.status;
    },
    validate: (autoscaler, context) => validateSpec(specOf(autoscaler), undefined, context),
  },
  update: {
    prepare: (autoscaler, old) => restoreMembers(autoscaler, old, "status"),
    validate: (autoscaler, old, context) => validateSpec(specOf(autoscaler), specOf(old), context),
    resetFields: ["status"],
  },
  status: {
    prepare: (autoscaler, old) => restoreMembers(autoscaler, old, "spec"),
    validate: ({ status }) => validateCounts(status ?? { desiredReplicas: 0 }, ["currentReplicas", "desiredReplicas"], FieldPath.root("status")),
    resetFields: ["spec"],
  },
});

function validateSpec(spec: HorizontalPodAutoscalerSpec, old: HorizontalPodAutoscalerSpec | undefined, context: RuleContext): FieldError[] {
  const { minReplicas = 1, maxReplicas = 0 } = spec;
  const path = specPath.child("maxReplicas");
  const wasLegalTarget = old === undefined || isLegalApiVersion(old.scaleTargetRef ?? {});
  // (What scales to zero already may go on when the gate is turned off.)
  const mayBeZero = context.isEnabled("HPAScaleToZero") || old?.minReplicas === 0;
  return [
    ...(minReplicas === 0 && !mayBeZero ? [invalid(specPath.child("minReplicas"), minReplicas, "must be greater than or equal to 1")] : []),
    ...(maxReplicas < minReplicas ? [invalid(path, maxReplicas, "must be greater than or equal to `minReplicas`")] : []),
    ...validateScaleTarget(spec.scaleTargetRef ?? {}, !wasLegalTarget, specPath.child("scaleTargetRef")),
    ...validateMetrics(spec.metrics ?? [], minReplicas, specPath.child("metrics")),
    ...(spec.behavior === undefined ? [] : validateBehavior(spec.behavior, specPath.child("behavior"))),
    // Rules of the declarative kind come after all others.
    ...validateCounts(spec, ["minReplicas"], specPath),
    ...(maxReplicas === 0 ? [required(path)] : maxReplicas < 0 ? [invalid(path, maxReplicas, "must be greater than or equal to 1")] : []),
  ];
}

function specOf(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscalerSpec {
  return (autoscaler.spec ??= {} as HorizontalPodAutoscalerSpec);
}

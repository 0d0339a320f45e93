/** How fast an autoscaler may go (API reference "HorizontalPodAutoscalerBehavior v2 autoscaling"). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { validateNotNegative } from "../core-v1/resource-names.ts";
import type { HorizontalPodAutoscalerBehavior, HPAScalingPolicy, HPAScalingRules } from "./types.ts";

/** Fills both directions, also one that is not there. */
export function defaultBehavior(behavior: HorizontalPodAutoscalerBehavior): void {
  const doubled = { type: "Percent", value: 100, periodSeconds: 15 };
  behavior.scaleUp = {
    stabilizationWindowSeconds: 0,
    selectPolicy: "Max",
    policies: [{ type: "Pods", value: 4, periodSeconds: 15 }, { ...doubled }],
    ...behavior.scaleUp,
  };
  behavior.scaleDown = { selectPolicy: "Max", policies: [doubled], ...behavior.scaleDown };
}

export function validateBehavior({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior, path: FieldPath): FieldError[] {
  return [
    ...(scaleUp === undefined ? [] : validateRules(scaleUp, path.child("scaleUp"))),
    ...(scaleDown === undefined ? [] : validateRules(scaleDown, path.child("scaleDown"))),
  ];
}

const maxWindowSeconds = 3600;
const maxPeriodSeconds = 1800;
const selections = ["Disabled", "Max", "Min"];
const policyTypes = ["Percent", "Pods"];

function validateRules({ stabilizationWindowSeconds: seconds = 0, selectPolicy, policies = [], tolerance }: HPAScalingRules, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const windowPath = path.child("stabilizationWindowSeconds");
  if (seconds < 0) errors.push(invalid(windowPath, seconds, "must be greater than or equal to zero"));
  if (seconds > maxWindowSeconds) errors.push(invalid(windowPath, seconds, `must be less than or equal to ${maxWindowSeconds}`));
  if (selectPolicy !== undefined && !selections.includes(selectPolicy)) errors.push(notSupported(path.child("selectPolicy"), selectPolicy, selections));
  if (policies.length === 0) errors.push(required(path.child("policies"), "must specify at least one Policy"));
  errors.push(...policies.flatMap((policy, index) => validatePolicy(policy, path.child("policies").index(index))));
  if (tolerance !== undefined) errors.push(...validateNotNegative(tolerance, path.child("tolerance")));
  return errors;
}

function validatePolicy({ type = "", value = 0, periodSeconds = 0 }: HPAScalingPolicy, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (!policyTypes.includes(type)) errors.push(notSupported(path.child("type"), type, policyTypes));
  if (value <= 0) errors.push(invalid(path.child("value"), value, "must be greater than zero"));
  if (periodSeconds <= 0) errors.push(invalid(path.child("periodSeconds"), periodSeconds, "must be greater than zero"));
  if (periodSeconds > maxPeriodSeconds) errors.push(invalid(path.child("periodSeconds"), periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`));
  return errors;
}

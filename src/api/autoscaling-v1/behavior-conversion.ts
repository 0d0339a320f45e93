/** The annotation that holds an autoscaler's behavior: with Go's names of the fields, and null for what is absent. */
import type { HorizontalPodAutoscalerBehavior, HPAScalingPolicy, HPAScalingRules } from "../autoscaling-v2/types.ts";

type Internal = Readonly<Record<string, unknown>>;

/** Undefined when there is nothing in it. */
export function behaviorFromInternal(value: unknown): HorizontalPodAutoscalerBehavior | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { ScaleUp, ScaleDown } = value as Internal;
  const behavior = {
    ...(isThere(ScaleUp) && { scaleUp: rulesFrom(ScaleUp as Internal) }),
    ...(isThere(ScaleDown) && { scaleDown: rulesFrom(ScaleDown as Internal) }),
  };
  return Object.keys(behavior).length === 0 ? undefined : behavior;
}

function rulesFrom({ StabilizationWindowSeconds, SelectPolicy, Policies, Tolerance }: Internal): HPAScalingRules {
  return {
    ...(isThere(StabilizationWindowSeconds) && { stabilizationWindowSeconds: StabilizationWindowSeconds as number }),
    ...(isThere(SelectPolicy) && { selectPolicy: SelectPolicy as string }),
    ...(Array.isArray(Policies) && { policies: Policies.map(policyFrom) }),
    ...(isThere(Tolerance) && { tolerance: Tolerance as string }),
  };
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function policyFrom({ Type, Value, PeriodSeconds }: Internal): HPAScalingPolicy {
  return { type: (Type ?? "") as string, value: (Value ?? 0) as number, periodSeconds: (PeriodSeconds ?? 0) as number };
}

import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { HPAScalingRules, HorizontalPodAutoscalerSpec } from "../../api/autoscaling-v2/types.ts";

/**
 * What becomes of a recommendation: it is held against those of the last minutes, then against how fast and how far the size may change
 * (documentation page "Horizontal Pod Autoscaling", Configurable scaling behavior).
 */
export function limitSize(
  spec: DeepReadonly<HorizontalPodAutoscalerSpec>,
  history: ScalingHistory,
  sizes: { current: number; wanted: number },
  nowMs: number,
): LimitedSize {
  const up = { ...defaultUp, ...spec.behavior?.scaleUp };
  const down = { ...defaultDown, ...spec.behavior?.scaleDown };
  const stable = stabilized(history, sizes, { upMs: seconds(up.stabilizationWindowSeconds), downMs: seconds(down.stabilizationWindowSeconds) }, nowMs);
  const { current } = sizes;
  const min = spec.minReplicas ?? 1;
  if (stable.size > current) {
    const pace = Math.max(current, paceLimit(up, history, current, nowMs, "up"));
    const most = Math.min(pace, spec.maxReplicas);
    if (stable.size <= most) return { ...stable, limit: withinRange };
    return { ...stable, size: most, limit: pace < spec.maxReplicas ? fasterUp : tooMany };
  }
  if (stable.size < current) {
    const pace = Math.min(current, paceLimit(down, history, current, nowMs, "down"));
    const least = Math.max(pace, min);
    if (stable.size >= least) return { ...stable, limit: withinRange };
    return { ...stable, size: least, limit: pace > min ? fasterDown : min === 0 ? tooFewForNone : tooFew };
  }
  if (sizes.wanted > spec.maxReplicas && current === spec.maxReplicas) return { ...stable, limit: tooMany };
  return { ...stable, limit: withinRange };
}

export interface LimitedSize {
  readonly size: number;
  /** For the condition AbleToScale. */
  readonly stability: Reason;
  /** For the condition ScalingLimited. */
  readonly limit: Reason & { readonly isLimited: boolean };
}
export interface Reason {
  readonly reason: string;
  readonly message: string;
}

/** What is remembered of one autoscaler; instants in ms. */
export interface ScalingHistory {
  readonly recommendations: readonly { readonly atMs: number; readonly size: number }[];
  /** How the size was changed: positive up, negative down. */
  readonly changes: readonly { readonly atMs: number; readonly by: number }[];
}

const defaultUp: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const defaultDown: HPAScalingRules = { stabilizationWindowSeconds: 300, selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };

const ready: Reason = { reason: "ReadyForNewScale", message: "recommended size matches current size" };
const heldUp: Reason = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation",
};
const heldDown: Reason = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
};
const withinRange = { isLimited: false, reason: "DesiredWithinRange", message: "the desired count is within the acceptable range" };
const tooMany = { isLimited: true, reason: "TooManyReplicas", message: "the desired replica count is more than the maximum replica count" };
const tooFew = { isLimited: true, reason: "TooFewReplicas", message: "the desired replica count is less than the minimum replica count" };
const tooFewForNone = { isLimited: true, reason: "TooFewReplicas", message: "the desired replica count is zero" };
const fasterUp = { isLimited: true, reason: "ScaleUpLimit", message: "the desired replica count is increasing faster than the maximum scale rate" };
const fasterDown = { isLimited: true, reason: "ScaleDownLimit", message: "the desired replica count is decreasing faster than the maximum scale rate" };

function seconds(value: number | undefined): number {
  return (value ?? 0) * 1000;
}

function stabilized(
  { recommendations }: ScalingHistory,
  { current, wanted }: { current: number; wanted: number },
  windows: { upMs: number; downMs: number },
  nowMs: number,
): { size: number; stability: Reason } {
  const since = (windowMs: number) => recommendations.filter(({ atMs }) => atMs > nowMs - windowMs).map(({ size }) => size);
  const lowest = Math.min(wanted, ...since(windows.upMs));
  const highest = Math.max(wanted, ...since(windows.downMs));
  const size = Math.min(Math.max(current, lowest), Math.max(lowest, highest));
  if (size === wanted) return { size, stability: ready };
  return { size, stability: size > wanted ? heldUp : heldDown };
}

function paceLimit(rules: DeepReadonly<HPAScalingRules>, { changes }: ScalingHistory, current: number, nowMs: number, direction: "up" | "down"): number {
  if (rules.selectPolicy === "Disabled") return current;
  const sign = direction === "up" ? 1 : -1;
  const limits = (rules.policies ?? []).map(({ type, value, periodSeconds }) => {
    const recent = changes.filter(({ atMs }) => atMs > nowMs - seconds(periodSeconds));
    const start = current - recent.reduce((sum, { by }) => sum + by, 0);
    if (type === "Pods") return start + sign * value;
    return direction === "up" ? Math.ceil(start * (1 + value / 100)) : Math.floor(start * (1 - value / 100));
  });
  const isLargest = (rules.selectPolicy === "Min") !== (direction === "up");
  return isLargest ? Math.max(...limits) : Math.min(...limits);
}

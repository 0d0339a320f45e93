import { quantityMilli } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { HorizontalPodAutoscaler } from "../../api/autoscaling-v2/types.ts";
import type { Tolerance } from "./replica-count.ts";

/** What the size alone decides, before anything is measured. */
export function verdict({ spec, status }: DeepReadonly<HorizontalPodAutoscaler>, current: number): Verdict {
  const least = spec?.minReplicas ?? 1;
  const most = spec?.maxReplicas ?? 0;
  const isOurZero = status?.conditions?.some((condition) => condition.type === "ScaledToZero" && condition.status === "True") === true;
  if (current === 0 && least !== 0 && !isOurZero) return { kind: "disabled" };
  if (current > most) return { kind: "outside", size: most, reason: "Current number of replicas above Spec.MaxReplicas" };
  if (current < least) return { kind: "outside", size: least, reason: "Current number of replicas below Spec.MinReplicas" };
  return { kind: "measure" };
}

/**
 * - disabled: somebody sized it to nothing, which turns autoscaling off
 * - outside: it is brought back into its bounds, whatever is measured
 */
export type Verdict =
  | { readonly kind: "disabled" }
  | { readonly kind: "outside"; readonly size: number; readonly reason: string }
  | { readonly kind: "measure" };

/** By how much a measurement may be off, up and down, as shares (KEP-4951). */
export function toleranceOf({ spec }: DeepReadonly<HorizontalPodAutoscaler>, fallback: number): Tolerance {
  const own = (value: string | number | undefined) => (value === undefined ? fallback : quantityMilli(value) / 1000);
  return { up: own(spec?.behavior?.scaleUp?.tolerance), down: own(spec?.behavior?.scaleDown?.tolerance) };
}

import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Taint, Toleration } from "../../../api/core-v1/types.ts";

/** Whether one of the tolerations covers the taint (Kubernetes documentation, "Taints and Tolerations"). */
export function isTolerated(taint: DeepReadonly<Taint>, tolerations: readonly DeepReadonly<Toleration>[] | undefined): boolean {
  return tolerations?.some((toleration) => tolerates(toleration, taint)) === true;
}

function tolerates({ key = "", operator = "", value = "", effect = "" }: DeepReadonly<Toleration>, taint: DeepReadonly<Taint>): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return (operator === "" || operator === "Equal") && value === (taint.value ?? "");
}

/** Whether the taint keeps pods away that do not tolerate it. */
export function keepsAway(taint: DeepReadonly<Taint>): boolean {
  return taint.effect === "NoSchedule" || taint.effect === "NoExecute";
}

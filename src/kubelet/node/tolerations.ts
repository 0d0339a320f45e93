/** Whether a pod may be where a taint is (documentation page "Taints and Tolerations"). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Taint, Toleration } from "../../api/core-v1/types.ts";

export function tolerates(toleration: DeepReadonly<Toleration>, taint: DeepReadonly<Taint>): boolean {
  const { key = "", operator = "Equal", value = "", effect = "" } = toleration;
  if (effect !== "" && effect !== taint.effect) return false;
  if (key === "") return operator === "Exists";
  return key === taint.key && (operator === "Exists" || value === (taint.value ?? ""));
}

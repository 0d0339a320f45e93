/** DefaultTolerationSeconds: a pod stays five minutes on a node that is not ready or cannot be reached, unless it says otherwise. */
import type { Pod, Toleration } from "../../../api/core-v1/types.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";

const seconds = 300;
const taints = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

export const defaultTolerationSeconds: AdmissionPlugin = { name: "DefaultTolerationSeconds", operations: new Set(["CREATE", "UPDATE"]), resources: new Set(["/pods"]), mutate };

function mutate({ object, subresource }: AdmissionRequest): void {
  if (subresource !== "") return;
  const spec = ((object as unknown as Pod).spec ??= {});
  const existing = spec.tolerations ?? [];
  const added = taints.filter((taint) => !existing.some((toleration) => tolerates(toleration, taint)));
  if (added.length > 0) spec.tolerations = [...existing, ...added.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: seconds }))];
}

function tolerates({ key = "", effect = "" }: Toleration, taint: string): boolean {
  return (key === taint || key === "") && (effect === "NoExecute" || effect === "");
}

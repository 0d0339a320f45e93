/** DefaultTolerationSeconds: a pod stays for a while (five minutes) on a node that is not ready or cannot be reached, unless it says otherwise. */
import type { Pod, Toleration } from "../../../api/core-v1/types.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";

/** How long, in seconds. */
export interface TolerationSeconds {
  readonly notReady: number;
  readonly unreachable: number;
}

export function defaultTolerationSeconds({ notReady, unreachable }: TolerationSeconds = { notReady: 300, unreachable: 300 }): AdmissionPlugin {
  const secondsByTaint = [
    ["node.kubernetes.io/not-ready", notReady],
    ["node.kubernetes.io/unreachable", unreachable],
  ] as const;
  return { name: "DefaultTolerationSeconds", operations: new Set(["CREATE", "UPDATE"]), resources: new Set(["/pods"]), mutate };

  function mutate({ object, subresource }: AdmissionRequest): void {
    if (subresource !== "") return;
    const spec = ((object as unknown as Pod).spec ??= {});
    const existing = spec.tolerations ?? [];
    const added = secondsByTaint.filter(([taint]) => !existing.some((toleration) => tolerates(toleration, taint)));
    if (added.length > 0)
      spec.tolerations = [...existing, ...added.map(([key, tolerationSeconds]) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds }))];
  }
}

function tolerates({ key = "", effect = "" }: Toleration, taint: string): boolean {
  return (key === taint || key === "") && (effect === "NoExecute" || effect === "");
}

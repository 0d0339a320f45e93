/** Requests and limits as the runtime takes them (documentation page "Resource Management for Pods and Containers"). Pure. */
import { quantityMilli, quantityValue } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { AnyContainer, SpecContainer } from "../pod-sync/runtime-names.ts";
import { isSidecar, containersOf } from "../pod-sync/runtime-names.ts";
import type { LinuxContainerResources } from "../runtime/cri-messages.ts";

const minShares = 2;
const maxShares = 262_144;
const minQuota = 1000;
export const cpuPeriodMicros = 100_000;

export function linuxResources(pod: DeepReadonly<Pod>, spec: SpecContainer, memoryCapacityBytes: number): LinuxContainerResources {
  const { requests = {}, limits: own = {} } = spec.container.resources ?? {};
  // What has no limit of its own may use all that the pod may.
  const limits = { ...pod.spec?.resources?.limits, ...own };
  const request = requests["cpu"] ?? own["cpu"];
  const limit = limits["cpu"] === undefined ? 0 : quantityMilli(limits["cpu"]);
  return {
    cpu_shares: cpuShares(request === undefined ? 0 : quantityMilli(request)),
    ...(limit > 0 && { cpu_period: cpuPeriodMicros, cpu_quota: cpuQuota(limit) }),
    ...(limits["memory"] !== undefined && { memory_limit_in_bytes: quantityValue(limits["memory"]) }),
    oom_score_adj: oomScore(pod, spec, memoryCapacityBytes),
  };
}

/** Microseconds in a period. */
export function cpuQuota(milliCpu: number): number {
  return Math.max(minQuota, (milliCpu * cpuPeriodMicros) / 1000);
}

export function cpuShares(milliCpu: number): number {
  return milliCpu === 0 ? minShares : Math.min(maxShares, Math.max(minShares, Math.floor((milliCpu * 1024) / 1000)));
}

/** Who dies first when memory runs out: -997 for Guaranteed, 1000 for BestEffort, between by the share of memory asked for. */
export function oomScore(pod: DeepReadonly<Pod>, spec: SpecContainer, memoryCapacityBytes: number): number {
  const qosClass = pod.status?.qosClass ?? "BestEffort";
  if (isNodeCritical(pod) || qosClass === "Guaranteed") return -997;
  if (qosClass === "BestEffort") return 1000;
  const score = (container: AnyContainer) => {
    const memory = container.resources?.requests?.["memory"];
    return Math.floor(1000 - (1000 * (memory === undefined ? 0 : quantityValue(memory))) / memoryCapacityBytes);
  };
  // A sidecar must not die before those it serves.
  const own = isSidecar(spec)
    ? Math.min(
        ...containersOf(pod)
          .filter(({ kind }) => kind === "containers")
          .map(({ container }) => score(container)),
        score(spec.container),
      )
    : score(spec.container);
  return Math.min(999, Math.max(3, own));
}

function isNodeCritical(pod: DeepReadonly<Pod>): boolean {
  return pod.spec?.priorityClassName === "system-node-critical";
}

/** In which order pods end when the machine goes down, and how long each may take (documentation page "Node Shutdowns"). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { KubeletSettings, ShutdownStep } from "../configuration/settings.ts";
import { criticalPriority } from "../eviction/ranking.ts";

export interface ShutdownGroup {
  /** What the group gets, even when its pods end sooner or want more. */
  readonly seconds: number;
  readonly pods: readonly DeepReadonly<Pod>[];
}

type ShutdownSettings = Pick<KubeletSettings, "shutdownGracePeriodMs" | "shutdownGracePeriodCriticalPodsMs" | "shutdownGracePeriodByPodPriority">;

/** Empty where the node does not see to its pods' ends. */
export function shutdownSteps({
  shutdownGracePeriodMs: all,
  shutdownGracePeriodCriticalPodsMs: critical,
  shutdownGracePeriodByPodPriority: steps,
}: ShutdownSettings): readonly ShutdownStep[] {
  if (steps.length > 0) return steps.toSorted((a, b) => a.priority - b.priority);
  if (all === 0) return [];
  return [
    { priority: 0, shutdownGracePeriodSeconds: (all - critical) / 1000 },
    { priority: criticalPriority, shutdownGracePeriodSeconds: critical / 1000 },
  ];
}

/** The least important first; a pod belongs to the highest step that is not above it, or else to the lowest. */
export function planShutdown(pods: readonly DeepReadonly<Pod>[], settings: ShutdownSettings): ShutdownGroup[] {
  const steps = shutdownSteps(settings);
  const stepOf = (pod: DeepReadonly<Pod>) =>
    Math.max(
      0,
      steps.findLastIndex(({ priority }) => priority <= (pod.spec?.priority ?? 0)),
    );
  return steps
    .map(({ shutdownGracePeriodSeconds: seconds }, index) => ({ seconds, pods: pods.filter((pod) => stepOf(pod) === index) }))
    .filter(({ pods: own }) => own.length > 0);
}

/** All that is needed; the machine has to wait so long. */
export function shutdownMs(settings: ShutdownSettings): number {
  return shutdownSteps(settings).reduce((sum, { shutdownGracePeriodSeconds }) => sum + shutdownGracePeriodSeconds * 1000, 0);
}

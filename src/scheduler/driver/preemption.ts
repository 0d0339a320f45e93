import { isAbort } from "../../base/task-group.ts";
import { isNotFound } from "../../apimachinery/status.ts";
import { referenceTo, resources } from "../../client/index.ts";
import type { Log } from "../../base/log.ts";
import type { PodCondition } from "../../api/core-v1/types.ts";
import type { Client, SeriesEventRecorder } from "../../client/index.ts";
import type { PreemptionGate } from "../plugins/preemption/preemption-gate.ts";
import type { SchedulingQueue } from "../queue/scheduling-queue.ts";
import type { PodGroups } from "../state/pod-groups.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { PodWrites } from "./pod-writes.ts";

/**
 * Has victims leave so that a pod can come. The pod waits until all but one were asked to; the last one is asked after that, so that its
 * leaving finds the pod waiting for it.
 */
export async function preempt(plan: PreemptionPlan, driver: PreemptionDriver): Promise<void> {
  const { pod, nodeName } = plan;
  const { gate, queue, log, signal } = driver;
  const waiting = plan.victims.filter(({ isTerminating }) => !isTerminating);
  try {
    await tellGroups(waiting, pod, driver);
    await Promise.all(waiting.slice(0, -1).map((victim) => evict(victim, { pod, nodeName }, driver)));
    gate.end(pod.uid);
    const last = waiting.at(-1);
    if (last !== undefined) await evict(last, { pod, nodeName }, driver);
  } catch (error) {
    if (isAbort(error, signal)) return;
    log.error("A preemption failed", { pod: `${pod.namespace}/${pod.name}`, node: nodeName, error });
    gate.end(pod.uid);
    queue.activate(pod.uid);
    return;
  }
  if (queue.entryOf(pod.uid)?.gatedBy === "DefaultPreemption") queue.activate(pod.uid);
}

export interface PreemptionPlan {
  readonly pod: PodInfo;
  readonly nodeName: string;
  readonly victims: readonly PodInfo[];
}

export interface PreemptionDriver {
  readonly client: Client;
  readonly recorders: ReadonlyMap<string, SeriesEventRecorder>;
  readonly writes: PodWrites;
  readonly gate: PreemptionGate;
  readonly queue: SchedulingQueue;
  /** Where groups of pods are served. */
  readonly podGroups: PodGroups | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Says on groups that leave as a whole why they have to. */
async function tellGroups(victims: readonly PodInfo[], pod: PodInfo, { podGroups, writes }: PreemptionDriver): Promise<void> {
  const groups = new Map(victims.flatMap((victim) => podGroups?.groupFor(victim)?.group ?? []).map((group) => [group.metadata.uid, group]));
  for (const group of groups.values()) {
    if (group.spec?.disruptionMode?.all === undefined) continue;
    const { status, reason, message } = disruption(pod);
    await writes.updateGroup(group, { type: "DisruptionTarget", status, reason, message, lastTransitionTime: writes.nowText() });
  }
}

const disruption = ({ pod }: PodInfo) =>
  ({
    status: "True",
    reason: "PreemptionByScheduler",
    message: `${pod.spec?.schedulerName ?? ""}: preempting to accommodate a higher priority pod`,
  }) as const;

/** Says on the victim why it has to leave, and deletes it. One that is gone already has left. */
async function evict(
  victim: PodInfo,
  { pod, nodeName }: { pod: PodInfo; nodeName: string },
  { client, recorders, writes, signal }: PreemptionDriver,
): Promise<void> {
  const { namespace, name, uid } = victim;
  const generation = victim.pod.metadata.generation;
  const condition: PodCondition = {
    type: "DisruptionTarget",
    ...disruption(pod),
    lastTransitionTime: writes.nowText(),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
  await writes.updateStatus(victim.pod, { condition });
  try {
    await client.delete(resources.pods, namespace, name, { preconditions: { uid }, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return;
  }
  recorders.get(pod.pod.spec?.schedulerName ?? "")?.record(referenceTo(resources.pods, victim.pod), {
    type: "Normal",
    reason: "Preempted",
    action: "Preempting",
    note: `Preempted by pod ${pod.uid} on node ${nodeName}`,
  });
}

/**
 * Asks everybody on the node whether a pod may run: shutdown, pressure, the node's resources and rules, CPUs and devices. A critical pod
 * that finds no room gets it from others. Driven by the pods' workers; has no state of its own.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";
import type { Log } from "../../base/log.ts";
import { referenceTo, resources } from "../../client/index.ts";
import type { EventSink } from "../../client/index.ts";
import { refusedUnderPressure } from "../eviction/admission.ts";
import { isCriticalPod } from "../eviction/ranking.ts";
import type { PressureCondition } from "../eviction/thresholds.ts";
import { podLabel } from "../pod-sync/runtime-names.ts";
import type { Admission, Rejection } from "../pod-sync/node-context.ts";
import type { PodWorker } from "../pod-sync/pod-worker.ts";
import { judgeAdmission } from "./admission.ts";
import { planPreemption } from "./preemption.ts";

export class PodAdmission {
  readonly #options: PodAdmissionOptions;

  constructor(options: PodAdmissionOptions) {
    this.#options = options;
  }

  admit(pod: DeepReadonly<Pod>): Admission {
    const { shutdown, pressure, node, allowedSysctls, managers } = this.#options;
    const early = shutdown() ?? refusedUnderPressure(pod, pressure());
    if (early !== undefined) return { outcome: "refused", rejection: early };
    const object = node();
    if (object !== undefined) {
      const others = this.#othersThan(pod).map(({ grantedPod }) => grantedPod);
      const { fault, shortages } = judgeAdmission(pod, { node: object, others, allowedSysctls });
      if (shortages.length > 0 && fault === undefined && isCriticalPod(pod)) {
        const plan = planPreemption(pod, shortages, others);
        if (plan.outcome === "victims") return { outcome: "preempts", makeRoom: () => this.#makeRoom(pod, plan.victims) };
        const message = `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: ${plan.message}`;
        return { outcome: "refused", rejection: { reason: "UnexpectedAdmissionError", message } };
      }
      // A critical pod is told what no room would help against.
      const told = isCriticalPod(pod) ? (fault ?? shortages[0]?.rejection) : (sysctlFault(fault) ?? shortages[0]?.rejection ?? fault);
      if (told !== undefined) return { outcome: "refused", rejection: told };
    }
    const rejection = managers.admit(pod);
    return rejection === undefined ? { outcome: "taken" } : { outcome: "refused", rejection };
  }

  #othersThan(pod: DeepReadonly<Pod>): PodWorker[] {
    return [...this.#options.workers()].filter((worker) => worker.isHolding && worker.uid !== pod.metadata.uid);
  }

  /** Ends the victims, each in its own time, and asks who hands out CPUs and devices when nothing of them is left. */
  async #makeRoom(pod: DeepReadonly<Pod>, victims: readonly DeepReadonly<Pod>[]): Promise<Rejection | undefined> {
    const { events, log, managers } = this.#options;
    const uids = new Set(victims.map(({ metadata }) => metadata.uid));
    const ending = this.#othersThan(pod).filter(({ uid }) => uids.has(uid));
    await Promise.all(
      ending.map((worker) => {
        log.info("A pod gives way to a critical one", { pod: podLabel(worker.pod), to: podLabel(pod) });
        events.record(referenceTo(resources.pods, worker.pod), { type: "Warning", reason: preempting.reason, message: preempting.message });
        return worker.end(preempting, worker.pod.spec?.terminationGracePeriodSeconds ?? 30);
      }),
    );
    return managers.admit(pod);
  }
}

export interface PodAdmissionOptions {
  readonly allowedSysctls: readonly string[];
  readonly events: EventSink;
  readonly log: Log;
  readonly managers: { admit(pod: DeepReadonly<Pod>): Rejection | undefined };
  /** Why the node takes none at all. */
  shutdown(): Rejection | undefined;
  pressure(): readonly PressureCondition[];
  /** Undefined while it is not registered. */
  node(): DeepReadonly<Node> | undefined;
  workers(): Iterable<PodWorker>;
}

const preempting = {
  phase: "Failed",
  reason: "Preempting",
  message: "Preempted in order to admit critical pod",
  isDisruption: true,
  disruptionMessage: "Pod was preempted by Kubelet to accommodate a critical pod.",
} as const;

/** Sysctls are looked at before resources. */
function sysctlFault(fault: Rejection | undefined): Rejection | undefined {
  return fault?.reason === "SysctlForbidden" ? fault : undefined;
}

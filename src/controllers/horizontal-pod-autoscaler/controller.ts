import { formatTime } from "../../apimachinery/time.ts";
import { parseLabelSelector, matchesLabels } from "../../apimachinery/selectors/label-selector.ts";
import { referenceTo, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { evaluateMetric, MetricError } from "./evaluation.ts";
import { limitSize } from "./limits.ts";
import { MetricSources } from "./metric-sources.ts";
import { ScaleTargets } from "./scale-target.ts";
import { ScalingMemory } from "./memory.ts";
import { StatusDraft } from "./status.ts";
import { toleranceOf, verdict } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { HorizontalPodAutoscaler } from "../../api/autoscaling-v2/types.ts";
import type { Controller, ControllerContext } from "../../operator/index.ts";
import type { Evaluation } from "./evaluation.ts";
import type { ScaleTarget } from "./scale-target.ts";

/** Sizes workloads by what is measured. Keys are HorizontalPodAutoscalers; each is looked at every `periodMs`. */
export function horizontalPodAutoscalerController(options: AutoscalerOptions): Controller {
  const run = new Autoscaling(options);
  return defineController({
    name: "horizontal-pod-autoscaler-controller",
    account: "horizontal-pod-autoscaler",
    workers: options.workers ?? 5,
    watches: [
      watch(resources.horizontalPodAutoscalers, {
        keys: ownKey,
        isRelevant: ({ object, old }) => old === undefined || old.metadata.generation !== object.metadata.generation,
      }),
      watch(resources.pods),
    ],
    reconcile: (key, context) => run.reconcile(key, context),
  });
}

export interface AutoscalerOptions {
  readonly periodMs: number;
  /** A deviation that is let be, as a share. */
  readonly tolerance: number;
  readonly workers?: number;
}

class Autoscaling {
  readonly #options: AutoscalerOptions;
  readonly #memory = new ScalingMemory();
  readonly #targets = new ScaleTargets();

  constructor(options: AutoscalerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, context: ControllerContext): Promise<void> {
    const { namespace, name } = splitKey(key);
    const autoscaler = context.caches.of(resources.horizontalPodAutoscalers).get(namespace, name);
    if (autoscaler === undefined) return this.#memory.forget(key);
    const draft = new StatusDraft(autoscaler, context.clock.nowMs());
    await this.#size(key, autoscaler, draft, context);
    await context.carryOut(key, { actions: draft.actions(), requeueAfterMs: this.#options.periodMs });
  }

  async #size(key: string, autoscaler: DeepReadonly<HorizontalPodAutoscaler>, draft: StatusDraft, context: ControllerContext): Promise<void> {
    const { spec } = autoscaler;
    if (spec === undefined) return;
    let target: ScaleTarget;
    try {
      target = await this.#targets.read(autoscaler.metadata.namespace ?? "", spec.scaleTargetRef, context);
    } catch (error) {
      const { message } = error as Error;
      warn(autoscaler, "FailedGetScale", message, context);
      return draft.condition("AbleToScale", false, "FailedGetScale", `the HPA controller was unable to get the target's current scale: ${message}`);
    }
    draft.condition("AbleToScale", true, "SucceededGetScale", "the HPA controller was able to get the target's current scale");
    const current = target.scale.spec?.replicas ?? 0;
    const bound = verdict(autoscaler, current);
    if (bound.kind === "disabled") {
      draft.set({ desiredReplicas: 0 });
      if (current === 0) draft.set({ currentReplicas: 0 });
      return draft.condition("ScalingActive", false, "ScalingDisabled", "scaling is disabled since the replica count of the target is zero");
    }
    if (bound.kind === "outside") return this.#rescale(key, { autoscaler, target, draft }, { size: bound.size, reason: bound.reason }, context);
    const wanted = await this.#measure(autoscaler, target, draft, context);
    if (wanted === undefined) return draft.set({ currentReplicas: current });
    const nowMs = context.clock.nowMs();
    const history = this.#memory.recommend(key, { atMs: nowMs, size: wanted.replicas, current });
    const { size, stability, limit } = limitSize(spec, history, { current, wanted: wanted.replicas }, nowMs);
    draft.condition("AbleToScale", true, stability.reason, stability.message);
    draft.condition("ScalingActive", true, "ValidMetricFound", `the HPA was able to successfully calculate a replica count from ${wanted.name}`);
    draft.condition("ScalingLimited", limit.isLimited, limit.reason, limit.message);
    const reason = size > current ? `${wanted.name} above target` : "All metrics below target";
    await this.#rescale(key, { autoscaler, target, draft }, { size, reason }, context);
  }

  async #rescale(key: string, subject: Subject, { size, reason }: { size: number; reason: string }, context: ControllerContext): Promise<void> {
    const { autoscaler, target, draft } = subject;
    const current = target.scale.spec?.replicas ?? 0;
    const nowMs = context.clock.nowMs();
    if (size !== current) {
      try {
        await this.#targets.write(target, size, context);
      } catch (error) {
        const { message } = error as Error;
        warn(autoscaler, "FailedRescale", `New size: ${size}; reason: ${reason}; error: ${message}`, context);
        draft.condition("AbleToScale", false, "FailedUpdateScale", `the HPA controller was unable to update the target scale: ${message}`);
        return draft.set({ currentReplicas: current });
      }
      draft.condition("AbleToScale", true, "SucceededRescale", `the HPA controller was able to update the target scale to ${size}`);
      draft.set({ lastScaleTime: formatTime(nowMs) });
      this.#memory.scaled(key, { atMs: nowMs, by: size - current });
      context.events.record(referenceTo(resources.horizontalPodAutoscalers, autoscaler), {
        type: "Normal",
        reason: "SuccessfulRescale",
        message: `New size: ${size}; reason: ${reason}`,
      });
    }
    if (size === 0) draft.condition("ScaledToZero", true, "ScaledToZero", "the HPA controller scaled the workload to zero");
    else draft.condition("ScaledToZero", false, "NotScaledToZero", "the HPA controller did not scale the workload to zero");
    draft.set({ currentReplicas: current, desiredReplicas: size });
  }

  /** The largest size that a metric asks for; undefined when too little could be measured. */
  async #measure(
    autoscaler: DeepReadonly<HorizontalPodAutoscaler>,
    { scale }: ScaleTarget,
    draft: StatusDraft,
    context: ControllerContext,
  ): Promise<Evaluation | undefined> {
    const labelSelector = scale.status?.selector ?? "";
    if (labelSelector === "") {
      warn(autoscaler, "SelectorRequired", "selector is required", context);
      draft.condition("ScalingActive", false, "InvalidSelector", "the HPA target's scale is missing a selector");
      return undefined;
    }
    const namespace = autoscaler.metadata.namespace ?? "";
    const selector = parseLabelSelector(labelSelector);
    const pods = context.caches
      .of(resources.pods)
      .list(namespace)
      .filter(({ metadata }) => matchesLabels(selector, metadata.labels));
    const sizes = { current: scale.spec?.replicas ?? 0, present: scale.status?.replicas ?? 0 };
    const subject = { namespace, labelSelector, pods, ...sizes, tolerance: toleranceOf(autoscaler, this.#options.tolerance), nowMs: context.clock.nowMs() };
    const sources = new MetricSources(context.client, this.#targets.discovered, context.signal);
    const found: Evaluation[] = [];
    const failures: MetricError[] = [];
    const metrics = autoscaler.spec?.metrics ?? [];
    const statuses = [];
    for (const metric of metrics) {
      try {
        const evaluation = await evaluateMetric(metric, subject, sources);
        found.push(evaluation);
        statuses.push(evaluation.status);
      } catch (error) {
        if (!(error instanceof MetricError)) throw error;
        failures.push(error);
        statuses.push({ type: "" });
        warn(autoscaler, error.reason, error.message, context);
      }
    }
    draft.set({ currentMetrics: statuses });
    const largest = found.toSorted((left, right) => right.replicas - left.replicas)[0];
    const first = failures[0];
    // With a metric missing, the others may make it larger but not smaller.
    if (first === undefined || (largest !== undefined && largest.replicas >= sizes.current)) return largest;
    draft.condition("ScalingActive", false, first.reason, `the HPA was unable to compute the replica count: ${first.message}`);
    warn(
      autoscaler,
      "FailedComputeMetricsReplicas",
      `invalid metrics (${failures.length} invalid out of ${metrics.length}), first error is: ${first.summary}`,
      context,
    );
    return undefined;
  }
}

interface Subject {
  readonly autoscaler: DeepReadonly<HorizontalPodAutoscaler>;
  readonly target: ScaleTarget;
  readonly draft: StatusDraft;
}

function warn(autoscaler: DeepReadonly<HorizontalPodAutoscaler>, reason: string, message: string, { events }: ControllerContext): void {
  events.record(referenceTo(resources.horizontalPodAutoscalers, autoscaler), { type: "Warning", reason, message });
}

import { parseTime } from "../../apimachinery/time.ts";
import { isNotFound } from "../../apimachinery/status.ts";
import { patchAction } from "../../operator/index.ts";
import type { Action } from "../../operator/index.ts";
import { podFromTemplate } from "../pods/pod-from-template.ts";
import { resources } from "../../client/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Job } from "../../api/batch-v1/types.ts";
import type { Container, Pod } from "../../api/core-v1/types.ts";

export const trackingFinalizer = "batch.kubernetes.io/job-tracking";
const indexKey = "batch.kubernetes.io/job-completion-index";
const failureCountKey = "batch.kubernetes.io/job-index-failure-count";
const ignoredCountKey = "batch.kubernetes.io/job-index-ignored-failure-count";

/** A pod of a Job; with an index for an Indexed Job, and the failures its index had before. */
export function jobPod(job: DeepReadonly<Job>, index?: number, failures?: IndexFailures): Pod {
  const pod = podFromTemplate(job.spec?.template ?? {}, resources.jobs, job);
  pod.metadata.finalizers = [...(pod.metadata.finalizers ?? []), trackingFinalizer];
  if (index === undefined) return pod;
  const text = String(index);
  pod.metadata.generateName = `${job.metadata.name}-${text}-`;
  pod.metadata.labels = { ...pod.metadata.labels, [indexKey]: text };
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [indexKey]: text,
    ...(failures !== undefined && { [failureCountKey]: String(failures.counted) }),
    ...(failures !== undefined && failures.ignored > 0 && { [ignoredCountKey]: String(failures.ignored) }),
  };
  const spec = pod.spec!;
  spec.hostname = `${job.metadata.name}-${text}`;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) tellIndex(container);
  return pod;
}

export interface IndexFailures {
  readonly counted: number;
  readonly ignored: number;
}

/** Takes the finalizer off a pod that is counted, or that counts as nothing. */
export function releasePod(pod: DeepReadonly<Pod>): Action {
  return release(pod, { uid: pod.metadata.uid }, []);
}

/** Takes the finalizer off a pod that has not ended, and does then what follows; one that may have ended meanwhile is looked at again. */
export function releaseActivePod(pod: DeepReadonly<Pod>, followUps: readonly Action[]): Action {
  const { uid, resourceVersion } = pod.metadata;
  return release(pod, { uid, resourceVersion }, followUps);
}

function release(
  pod: DeepReadonly<Pod>,
  precondition: { uid?: string | undefined; resourceVersion?: string | undefined },
  followUps: readonly Action[],
): Action {
  const metadata = { ...precondition, "$deleteFromPrimitiveList/finalizers": [trackingFinalizer] };
  return patchAction(
    resources.pods,
    pod,
    { type: "strategic", body: { metadata } },
    { onDone: () => followUps, onError: (error) => ({ severity: isNotFound(error) ? "ignore" : "continue" }) },
  );
}

/** The index of a pod; undefined when it has none. */
export function indexOf({ metadata }: DeepReadonly<Pod>): number | undefined {
  const text = metadata.annotations?.[indexKey];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

export function failuresBefore({ metadata }: DeepReadonly<Pod>): IndexFailures {
  return { counted: Number(metadata.annotations?.[failureCountKey] ?? 0), ignored: Number(metadata.annotations?.[ignoredCountKey] ?? 0) };
}

export function isTracked({ metadata }: DeepReadonly<Pod>): boolean {
  return metadata.finalizers?.includes(trackingFinalizer) === true;
}

/** When the last of a pod's containers ended, in ms; undefined when nobody said. */
export function finishedMs({ status }: DeepReadonly<Pod>): number | undefined {
  const times = (status?.containerStatuses ?? []).flatMap(({ state }) => (state?.terminated?.finishedAt ? [parseTime(state.terminated.finishedAt)] : []));
  return times.length === 0 ? undefined : Math.max(...times);
}

function tellIndex(container: Container): void {
  if (container.env?.some(({ name }) => name === "JOB_COMPLETION_INDEX") === true) return;
  const fieldRef = { fieldPath: `metadata.labels['${indexKey}']` };
  container.env = [...(container.env ?? []), { name: "JOB_COMPLETION_INDEX", valueFrom: { fieldRef } }];
}

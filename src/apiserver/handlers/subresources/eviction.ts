/** POST pods/eviction: a deletion that respects disruption budgets (documentation page "API-initiated Eviction"). */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import type { PodDisruptionBudget, Eviction } from "../../../api/policy-v1/types.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { matchesLabels, selectorFromObject } from "../../../apimachinery/selectors/label-selector.ts";
import { StatusError, badRequestError, notFoundError } from "../../../apimachinery/status.ts";
import { formatTime } from "../../../apimachinery/time.ts";
import { deleteObject } from "../../registry/delete.ts";
import { checkedDeleteOptions } from "../../registry/delete-options.ts";
import type { DeleteOptions, RawDeleteOptions } from "../../registry/delete-options.ts";
import { parseWriteOptions } from "../../registry/options.ts";
import type { WriteOptions } from "../../registry/options.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { findObject, findObjects } from "../../registry/rule-context.ts";
import { updateObject } from "../../registry/update.ts";
import { statusResponse } from "../../http/write-response.ts";
import type { RequestContext } from "../../request-context.ts";
import { decodeBody } from "../writing/decode-body.ts";
import { negotiateFor } from "../respond.ts";

const evictionType = { group: "policy", version: "v1", kind: "Eviction", schema: typeRegistry.kind("policy", "v1", "Eviction")! };

/** Pods named in a budget's status may be this many before it is taken for stuck. */
const disruptedPodsLimit = 2000;

export async function handleEviction(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFor(context, []);
  const options = parseWriteOptions(context.query, "CreateOptions");
  const eviction = readEviction(context, options);
  const { namespace, name } = context.info;
  const admitted = {
    context,
    operation: "CREATE",
    definition,
    subresource: "eviction",
    namespace,
    name,
    object: eviction as unknown as KubeObject,
    oldObject: undefined,
    isDryRun: options.isDryRun,
  } as const;
  await context.server.admission.mutate(admitted);
  if ((eviction.metadata.name ?? "") !== name) throw badRequestError("name in URL does not match name in Eviction object");
  const pod = findObject(context.server, "/pods", namespace, name) as unknown as Pod | undefined;
  if (pod === undefined) throw notFoundError(definition, name);
  await context.server.admission.validate(admitted);
  const asked = checkedDeleteOptions((eviction.deleteOptions ?? {}) as RawDeleteOptions);
  const deletion: DeleteOptions = { ...asked, isDryRun: options.isDryRun || asked.isDryRun };
  if (!canIgnoreBudgets(pod)) await takeFromBudget(context, pod, { ...options, isDryRun: deletion.isDryRun });
  await markEvicted(context, definition, pod, { ...options, isDryRun: deletion.isDryRun });
  await deleteObject({ context, definition, namespace, name, options: deletion });
  return statusResponse({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, form);
}

/** The body may also name the older version of the group. */
function readEviction(context: RequestContext, options: WriteOptions): Eviction {
  const text = Buffer.from(context.request.body).toString("latin1");
  const expected = text.includes('"policy/v1beta1"') ? { ...evictionType, version: "v1beta1" } : evictionType;
  const eviction = decodeBody(context, expected, options.fieldValidation);
  context.audit?.noteRequest(eviction, expected);
  return eviction as unknown as Eviction;
}

/** Pods that do not count: finished, not started, already leaving. */
function canIgnoreBudgets(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase === "Succeeded" || phase === "Failed" || phase === "Pending" || pod.metadata.deletionTimestamp !== undefined;
}

async function takeFromBudget(context: RequestContext, pod: Pod, options: WriteOptions): Promise<void> {
  const namespace = pod.metadata.namespace!;
  const budgets = (findObjects(context.server, "policy/poddisruptionbudgets", namespace) as unknown as PodDisruptionBudget[]).filter(
    (budget) => budget.spec?.selector !== undefined && matchesLabels(selectorFromObject(budget.spec.selector), pod.metadata.labels ?? {}),
  );
  if (budgets.length > 1)
    throw new StatusError({ message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.", code: 500 });
  const budget = budgets[0];
  if (budget === undefined) return;
  const isReady = (pod.status?.conditions ?? []).some((condition) => condition.type === "Ready" && condition.status === "True");
  if (!isReady && mayEvictUnhealthy(budget)) return;
  const definition = context.server.resources.find("policy", "v1", "poddisruptionbudgets")!;
  await updateObject({
    context,
    definition,
    namespace,
    name: budget.metadata.name!,
    subresource: "status",
    options,
    createsMissing: false,
    produce: (old) => disrupted(old as unknown as PodDisruptionBudget, pod, formatTime(context.server.clock.nowMs())) as unknown as KubeObject,
  });
}

function mayEvictUnhealthy(budget: PodDisruptionBudget): boolean {
  if (budget.spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  return (budget.status?.currentHealthy ?? 0) >= (budget.status?.desiredHealthy ?? 0) && (budget.status?.desiredHealthy ?? 0) > 0;
}

/** The budget with one disruption less, or a 429. */
function disrupted(old: PodDisruptionBudget, pod: Pod, now: string): PodDisruptionBudget {
  const budget = deepCopy(old);
  const status = (budget.status ??= {});
  const name = budget.metadata.name!;
  if ((status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0))
    throw tooManyDisruptions(`The disruption budget ${name} is still being processed by the server.`, 10);
  if ((status.disruptionsAllowed ?? 0) < 0) throw new StatusError({ message: "pdb disruptions allowed is negative", reason: "Forbidden", code: 403 });
  if (Object.keys(status.disruptedPods ?? {}).length > disruptedPodsLimit)
    throw new StatusError({ message: "DisruptedPods map too big - too many evictions not confirmed by PDB controller", reason: "Forbidden", code: 403 });
  if ((status.disruptionsAllowed ?? 0) === 0)
    throw tooManyDisruptions(
      `The disruption budget ${name} needs ${status.desiredHealthy ?? 0} healthy pods and has ${status.currentHealthy ?? 0} currently`,
      0,
    );
  status.disruptionsAllowed = (status.disruptionsAllowed ?? 0) - 1;
  status.disruptedPods = { ...status.disruptedPods, [pod.metadata.name!]: now };
  if (status.disruptionsAllowed === 0) {
    const others = (status.conditions ?? []).filter((condition) => condition.type !== "DisruptionAllowed");
    status.conditions = [
      ...others,
      {
        type: "DisruptionAllowed",
        status: "False",
        observedGeneration: budget.metadata.generation ?? 0,
        lastTransitionTime: now,
        reason: "InsufficientPods",
        message: "",
      },
    ];
  }
  return budget;
}

function tooManyDisruptions(detail: string, retryAfterSeconds: number): StatusError {
  return new StatusError({
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    reason: "TooManyRequests",
    details: { causes: [{ reason: "DisruptionBudget", message: detail }], ...(retryAfterSeconds > 0 && { retryAfterSeconds }) },
    code: 429,
  });
}

/** Condition DisruptionTarget, which tells controllers that the pod did not fail by itself (KEP-3329). */
async function markEvicted(context: RequestContext, definition: ResourceDefinition, pod: Pod, options: WriteOptions): Promise<void> {
  if (pod.metadata.deletionTimestamp !== undefined) return;
  const now = formatTime(context.server.clock.nowMs());
  await updateObject({
    context,
    definition,
    namespace: pod.metadata.namespace!,
    name: pod.metadata.name!,
    subresource: "status",
    options,
    createsMissing: false,
    produce(old) {
      if (old === undefined) throw notFoundError(definition, pod.metadata.name!);
      const next = deepCopy(old) as unknown as Pod;
      const rest = (next.status?.conditions ?? []).filter((condition) => condition.type !== "DisruptionTarget");
      next.status = {
        ...next.status,
        conditions: [
          ...rest,
          { type: "DisruptionTarget", status: "True", lastTransitionTime: now, reason: "EvictionByEvictionAPI", message: "Eviction API: evicting" },
        ],
      };
      return next as unknown as KubeObject;
    },
  });
}

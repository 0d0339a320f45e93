import { sleep } from "../../../base/clock.ts";
import type { Clock } from "../../../base/clock.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { DeviceRequestAllocationResult, ResourceClaim } from "../../../api/resource-v1/types.ts";

/** Whether a claim's devices are ready for its pod to be bound (KEP-5007): all say so, some do not yet, or one says that it will never be. */
export function readiness({ status }: DeepReadonly<ResourceClaim>): "ready" | "waiting" | { readonly failure: string } {
  let isWaiting = false;
  for (const result of status?.allocation?.devices?.results ?? []) {
    const isTrue = (type: string) => conditionsOf(status, result).some((one) => one.type === type && one.status === "True");
    const failure = result.bindingFailureConditions?.find(isTrue);
    if (failure !== undefined) return { failure: `device ${result.driver}/${result.pool}/${result.device} has condition ${failure}` };
    if (result.bindingConditions?.every(isTrue) === false) isWaiting = true;
  }
  return isWaiting ? "waiting" : "ready";
}

/** Whether the devices did not become ready, and the claim has to be given others. */
export function isHopeless(claim: DeepReadonly<ResourceClaim>, nowMs: number, timeoutMs: number): boolean {
  const answer = readiness(claim);
  if (typeof answer === "object") return true;
  const allocatedAt = claim.status?.allocation?.allocationTimestamp;
  return answer === "waiting" && allocatedAt !== undefined && nowMs - Date.parse(allocatedAt) > timeoutMs;
}

/** Waits until the devices of all claims are ready, by looking as Kubernetes does. Answers why they will not be, or undefined. */
export async function untilReady(
  look: () => readonly (DeepReadonly<ResourceClaim> | undefined)[],
  wait: ReadyWait,
  signal: AbortSignal,
): Promise<string | undefined> {
  const endMs = wait.clock.nowMs() + wait.timeoutMs;
  for (let isTold = false; ; isTold = true) {
    const answers = look().map((claim) => (claim?.status?.allocation === undefined ? { failure: "a claim lost its devices" } : readiness(claim)));
    const failed = answers.find((answer) => typeof answer === "object");
    if (failed !== undefined) return failed.failure;
    if (answers.every((answer) => answer === "ready")) return undefined;
    if (wait.clock.nowMs() >= endMs) return "timed out waiting for binding conditions";
    if (!isTold) wait.onWaiting();
    await sleep(wait.clock, lookMs, signal);
  }
}

export interface ReadyWait {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Called once, when they are not ready at first. */
  readonly onWaiting: () => void;
}

const lookMs = 1000;

function conditionsOf(status: DeepReadonly<ResourceClaim>["status"], { driver, pool, device, shareID }: DeepReadonly<DeviceRequestAllocationResult>) {
  const own = status?.devices?.find((one) => one.driver === driver && one.pool === pool && one.device === device && one.shareID === shareID);
  return own?.conditions ?? [];
}

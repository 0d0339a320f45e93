import { cidrContains, cidrContainsCidr, parseCidr, parseIp } from "../../apimachinery/net.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { formatTime, parseTime } from "../../apimachinery/time.ts";
import { edited, resources } from "../../client/index.ts";
import { nothingToDo, updateAction, updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ServiceCIDR } from "../../api/networking-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/** A range of service addresses is ready once a finalizer holds it; it goes when no address is left that has no other range (KEP-1880). */
export function planServiceCidr({ serviceCidr, others, addresses }: ServiceCidrSnapshot, nowMs: number): Plan {
  const { finalizers = [], deletionTimestamp } = serviceCidr.metadata;
  const isHeld = finalizers.includes(finalizer);
  if (deletionTimestamp === undefined) {
    const ready = condition(serviceCidr, { status: "True", reason: "", message: "Kubernetes Service CIDR is ready" }, nowMs);
    return { actions: isHeld ? ready(serviceCidr) : [withFinalizers(serviceCidr, [...finalizers, finalizer], ready)] };
  }
  if (!isHeld) return nothingToDo;
  if (isNeeded(serviceCidr, others, addresses)) {
    const message = "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR";
    return { actions: condition(serviceCidr, { status: "False", reason: "Terminating", message }, nowMs)(serviceCidr) };
  }
  // API servers need a moment to hear that nothing is to be taken from it any more.
  const leftMs = parseTime(deletionTimestamp) + graceMs - nowMs;
  if (leftMs > 0) return { actions: [], requeueAfterMs: leftMs };
  return {
    actions: [
      withFinalizers(
        serviceCidr,
        finalizers.filter((name) => name !== finalizer),
        () => [],
      ),
    ],
    reasons: ["no address needs it"],
  };
}

export interface ServiceCidrSnapshot {
  readonly serviceCidr: DeepReadonly<ServiceCIDR>;
  /** The others that are not going. */
  readonly others: readonly DeepReadonly<ServiceCIDR>[];
  /** All addresses in use. */
  readonly addresses: readonly string[];
}

const finalizer = "networking.k8s.io/service-cidr-finalizer";
const graceMs = 10_000;

function isNeeded({ spec }: DeepReadonly<ServiceCIDR>, others: readonly DeepReadonly<ServiceCIDR>[], addresses: readonly string[]): boolean {
  const rangesOf = (cidrs: readonly string[]) => cidrs.map((text) => parseCidr(text)).filter((cidr) => cidr !== undefined);
  const otherRanges = rangesOf(others.flatMap((other) => other.spec?.cidrs ?? []));
  const own = rangesOf(spec?.cidrs ?? []).filter((range) => !otherRanges.some((other) => cidrContainsCidr(other, range)));
  return addresses
    .map((text) => parseIp(text))
    .some((ip) => ip !== undefined && own.some((range) => cidrContains(range, ip)) && !otherRanges.some((other) => cidrContains(other, ip)));
}

function withFinalizers(serviceCidr: DeepReadonly<ServiceCIDR>, finalizers: string[], then: (now: DeepReadonly<ServiceCIDR>) => Action[]): Action {
  const updated = edited<ServiceCIDR>(serviceCidr, (draft) => {
    draft.metadata.finalizers = finalizers;
  });
  return updateAction(resources.serviceCIDRs, updated, { onError: whenGone, onDone: then });
}

function condition({ status }: DeepReadonly<ServiceCIDR>, wanted: { status: string; reason: string; message: string }, nowMs: number) {
  const known = status?.conditions?.find(({ type }) => type === "Ready");
  const lastTransitionTime = known?.status === wanted.status ? known.lastTransitionTime : formatTime(nowMs);
  const next = { type: "Ready", ...wanted, lastTransitionTime };
  return (serviceCidr: DeepReadonly<ServiceCIDR>): Action[] => {
    if (known !== undefined && deepEqual({ ...known, reason: known.reason ?? "" }, next)) return [];
    const updated = edited<ServiceCIDR>(serviceCidr, (draft) => {
      draft.status = { ...draft.status, conditions: [...(draft.status?.conditions ?? []).filter(({ type }) => type !== "Ready"), next] };
    });
    return [updateStatusAction(resources.serviceCIDRs, updated, { onError: whenGone })];
  };
}

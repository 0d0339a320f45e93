/** What a pod asks for and may use as a whole (KEP 753 for what init containers add, KEP 2837 for pod-level resources). Pure. */
import { addQuantities, quantityMilli } from "../../apimachinery/quantity.ts";
import type { QuantityLike } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { isSidecar, ofKind } from "../pod-sync/runtime-names.ts";

export type Amounts = Record<string, QuantityLike>;

/** By the spec: a node asks for those of all its pods whenever one comes. */
const knownRequests = new WeakMap<object, Readonly<Amounts>>();

/** The sum of what runs together, or the largest of what runs before; with the overhead. */
export function podRequests(pod: DeepReadonly<Pod>): Readonly<Amounts> {
  let requests = pod.spec && knownRequests.get(pod.spec);
  if (requests !== undefined) return requests;
  requests = withOverhead(pod, { ...together(pod, "requests"), ...pod.spec?.resources?.requests }, { isAdded: true });
  if (pod.spec !== undefined) knownRequests.set(pod.spec, requests);
  return requests;
}

/** Of those resources that some container has a limit of. */
export function podLimits(pod: DeepReadonly<Pod>): Amounts {
  return withOverhead(pod, { ...together(pod, "limits"), ...pod.spec?.resources?.limits }, { isAdded: false });
}

function together(pod: DeepReadonly<Pod>, member: "requests" | "limits"): Amounts {
  const total: Amounts = {};
  for (const { container } of ofKind(pod, "containers")) add(total, container.resources?.[member] ?? {});
  const sidecars: Amounts = {};
  const before: Amounts = {};
  for (const spec of ofKind(pod, "initContainers")) {
    const own = spec.container.resources?.[member] ?? {};
    if (isSidecar(spec)) {
      add(sidecars, own);
      raise(before, sidecars);
    } else {
      const beside = { ...sidecars };
      add(beside, own);
      raise(before, beside);
    }
  }
  add(total, sidecars);
  raise(total, before);
  return total;
}

/** A limit that is not there stays unlimited. */
function withOverhead(pod: DeepReadonly<Pod>, total: Amounts, { isAdded }: { isAdded: boolean }): Amounts {
  for (const [name, amount] of Object.entries(pod.spec?.overhead ?? {})) if (isAdded || total[name] !== undefined) add(total, { [name]: amount });
  return total;
}

function add(into: Amounts, from: Readonly<Amounts>): void {
  for (const [name, amount] of Object.entries(from)) into[name] = into[name] === undefined ? amount : addQuantities(into[name], amount);
}

function raise(into: Amounts, from: Readonly<Amounts>): void {
  for (const [name, amount] of Object.entries(from)) if (into[name] === undefined || quantityMilli(amount) > quantityMilli(into[name])) into[name] = amount;
}

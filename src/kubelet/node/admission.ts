/** Whether the node takes a pod that was bound to it, with Kubernetes' reasons and texts. Pure. */
import { quantityMilli, quantityValue } from "../../apimachinery/quantity.ts";
import type { QuantityLike } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";
import type { Rejection } from "../pod-sync/node-context.ts";
import { isSidecar, ofKind } from "../pod-sync/runtime-names.ts";
import { podRequests } from "../resources/pod-requests.ts";
import { allowsNode, selectable } from "../../api/core-v1/node-matching.ts";
import { tolerates } from "./tolerations.ts";

/** What stands against a pod on a node: some fault that nothing cures, or else too little of some resources. Neither: taken. */
export interface AdmissionVerdict {
  readonly fault?: Rejection;
  readonly shortages: readonly Shortage[];
}

/** Amounts in the resource's own unit; of CPU in thousandths. */
export interface Shortage {
  readonly resource: string;
  readonly missing: number;
  readonly rejection: Rejection;
}

/** `others`: pods that the node has taken and not given back; `allowedSysctls`: beside the safe ones, `*` at the end for all that begin so. */
export function judgeAdmission(
  pod: DeepReadonly<Pod>,
  { node, others, allowedSysctls }: { node: DeepReadonly<Node>; others: readonly DeepReadonly<Pod>[]; allowedSysctls: readonly string[] },
): AdmissionVerdict {
  const shortages = shortagesOf(pod, node, others);
  const fault = forbiddenSysctl(pod, allowedSysctls) ?? unsuitableNode(pod, node) ?? takenPort(pod, others) ?? untoleratedTaint(pod, node);
  return { shortages, ...(fault !== undefined && { fault }) };
}

/** What the node has too little of for the pod, beside `others`. */
export function shortagesOf(pod: DeepReadonly<Pod>, node: DeepReadonly<Node>, others: readonly DeepReadonly<Pod>[]): Shortage[] {
  const allocatable = node.status?.allocatable ?? {};
  const shortages: Shortage[] = [];
  const capacityPods = quantityValue(allocatable["pods"] ?? 0);
  if (others.length + 1 > capacityPods) shortages.push(outOf("pods", 1, others.length, capacityPods));
  const used = others.map(podRequests);
  for (const [name, amount] of Object.entries(podRequests(pod))) {
    // What the node does not know of (extended resources) is no reason to refuse.
    if (allocatable[name] === undefined) continue;
    const requested = amountOf(name, amount);
    const taken = used.reduce((sum, requests) => sum + (requests[name] === undefined ? 0 : amountOf(name, requests[name])), 0);
    const capacity = amountOf(name, allocatable[name]);
    if (requested > 0 && requested + taken > capacity) shortages.push(outOf(name, requested, taken, capacity));
  }
  return shortages;
}

export function amountOf(resource: string, amount: QuantityLike): number {
  return resource === "cpu" ? quantityMilli(amount) : quantityValue(amount);
}

function outOf(resource: string, requested: number, used: number, capacity: number): Shortage {
  const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { resource, missing: requested + used - capacity, rejection: { reason: `OutOf${resource}`, message } };
}

function unsuitableNode(pod: DeepReadonly<Pod>, node: DeepReadonly<Node>): Rejection | undefined {
  return allowsNode(pod.spec, selectable(node))
    ? undefined
    : { reason: "NodeAffinity", message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector" };
}

function takenPort(pod: DeepReadonly<Pod>, others: readonly DeepReadonly<Pod>[]): Rejection | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const taken = others.flatMap(hostPorts);
  const isTaken = wanted.some((port) =>
    taken.some(
      (other) => other.port === port.port && other.protocol === port.protocol && (other.ip === port.ip || other.ip === "0.0.0.0" || port.ip === "0.0.0.0"),
    ),
  );
  return isTaken ? { reason: "NodePorts", message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports" } : undefined;
}

function hostPorts(pod: DeepReadonly<Pod>): { ip: string; port: number; protocol: string }[] {
  return [...ofKind(pod, "containers"), ...ofKind(pod, "initContainers").filter(isSidecar)].flatMap(({ container }) =>
    (container.ports ?? [])
      .filter(({ hostPort = 0 }) => hostPort > 0)
      .map(({ hostIP = "", hostPort = 0, protocol = "TCP" }) => ({ ip: hostIP === "" ? "0.0.0.0" : hostIP, port: hostPort, protocol })),
  );
}

function untoleratedTaint(pod: DeepReadonly<Pod>, node: DeepReadonly<Node>): Rejection | undefined {
  const tolerations = pod.spec?.tolerations ?? [];
  const isLeft = (node.spec?.taints ?? []).some((taint) => taint.effect === "NoExecute" && !tolerations.some((toleration) => tolerates(toleration, taint)));
  return isLeft ? { reason: "TaintToleration", message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate" } : undefined;
}

/** Sysctls that cannot harm others (documentation page "Using sysctls in a Kubernetes Cluster"). */
const safeSysctls = new Set([
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_wmem",
  "net.ipv4.tcp_slow_start_after_idle",
  "net.ipv4.tcp_notsent_lowat",
]);

function forbiddenSysctl({ spec }: DeepReadonly<Pod>, allowed: readonly string[]): Rejection | undefined {
  const isAllowed = (name: string) =>
    safeSysctls.has(name) || allowed.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
  for (const { name } of spec?.securityContext?.sysctls ?? []) {
    const dotted = name.replaceAll("/", ".");
    const refused = !isAllowed(dotted)
      ? "not allowlisted"
      : dotted.startsWith("net.") && spec?.hostNetwork === true
        ? "not allowed with host net enabled"
        : /^(kernel\.(sem|shm|msg)|fs\.mqueue\.)/.test(dotted) && spec?.hostIPC === true
          ? "not allowed with host ipc enabled"
          : undefined;
    if (refused !== undefined) return { reason: "SysctlForbidden", message: `forbidden sysctl: ${JSON.stringify(dotted)} ${refused}` };
  }
  return undefined;
}

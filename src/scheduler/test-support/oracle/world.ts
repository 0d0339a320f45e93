import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, Service } from "../../../api/core-v1/types.ts";

import type { PodDisruptionBudget } from "../../../api/policy-v1/types.ts";
import type { ResourceClaim, ResourceSlice } from "../../../api/resource-v1/types.ts";

/** A cluster as the oracle sees it: the API's objects and nothing worked out. Written apart from the scheduler, for its tests. */
export interface World {
  readonly nodes: readonly Node[];
  readonly pods: readonly Placed[];
  readonly services: readonly Service[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly volumes: readonly PersistentVolume[];
  readonly budgets: readonly PodDisruptionBudget[];
  readonly slices: readonly ResourceSlice[];
  readonly deviceClaims: readonly ResourceClaim[];
}
export interface Placed {
  readonly pod: Pod;
  readonly nodeName: string;
}

export const nameOf = (node: Node) => node.metadata.name!;
export const labelsOf = ({ metadata }: Node | Pod): Record<string, string> => metadata.labels ?? {};
export const podsOn = ({ pods }: World, node: Node) => pods.filter(({ nodeName }) => nodeName === nameOf(node)).map(({ pod }) => pod);

export const milli = (text: string) => (text.endsWith("m") ? Number(text.slice(0, -1)) : Number(text) * 1000);
const units: Record<string, number> = { Mi: 2 ** 20, Gi: 2 ** 30 };
export const whole = (text: string) => Number(text.replace(/[MG]i$/, "")) * (units[text.slice(-2)] ?? 1);
export const amount = (name: string, text: string) => (name === "cpu" ? milli(text) : whole(text));

/** What a pod asks for of a resource; `ifNone` for each container that says nothing. */
export function requested({ spec }: Pod, name: string, ifNone = 0): number {
  return spec!.containers!.reduce((sum, { resources }) => {
    const text = resources?.requests?.[name];
    return sum + (text === undefined ? ifNone : amount(name, String(text)));
  }, 0);
}

export function allocatable(node: Node, name: string): number {
  const text = node.status?.allocatable?.[name];
  return text === undefined ? 0 : amount(name, String(text));
}

export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** One requirement on labels, of nodes or pods. */
export function holds({ key, operator, values = [] }: Requirement, labels: Record<string, string>): boolean {
  const value = labels[key];
  if (operator === "Exists") return value !== undefined;
  if (operator === "DoesNotExist") return value === undefined;
  if (operator === "In") return value !== undefined && values.includes(value);
  if (operator === "NotIn") return value === undefined || !values.includes(value);
  if (value === undefined || !/^\d+$/.test(value)) return false;
  return operator === "Gt" ? Number(value) > Number(values[0]) : Number(value) < Number(values[0]);
}

export interface Selector {
  readonly matchLabels?: Record<string, string>;
  readonly matchExpressions?: readonly Requirement[];
}

export function selects(selector: Selector | undefined, labels: Record<string, string>): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value) && matchExpressions.every((one) => holds(one, labels));
}

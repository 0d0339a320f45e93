/** RuntimeClass: a pod takes over its class's overhead and scheduling (documentation page "Runtime Class"). */
import type { Pod } from "../../../api/core-v1/types.ts";
import type { RuntimeClass } from "../../../api/node-v1/types.ts";
import { compareQuantities } from "../../../apimachinery/quantity.ts";
import { StatusError } from "../../../apimachinery/status.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";
import { mergeTolerations } from "./tolerations.ts";

type Amounts = Readonly<Record<string, string | number>>;

export const runtimeClass: AdmissionPlugin = { name: "RuntimeClass", operations: new Set(["CREATE"]), resources: new Set(["/pods"]), mutate, validate };

function mutate(request: AdmissionRequest): void {
  if (request.subresource !== "") return;
  const spec = ((request.object as unknown as Pod).spec ??= {});
  const found = classOf(request, spec.runtimeClassName);
  const overhead = found?.overhead?.podFixed;
  if (found?.overhead !== undefined) {
    if (spec.overhead !== undefined && !sameAmounts(overhead ?? {}, spec.overhead))
      throw refuse(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    if (overhead !== undefined) spec.overhead = { ...overhead };
  }
  const { nodeSelector, tolerations } = found?.scheduling ?? {};
  for (const [key, value] of Object.entries(nodeSelector ?? {})) {
    const own = spec.nodeSelector?.[key];
    if (own !== undefined && own !== value)
      throw refuse(request, `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`);
  }
  if (nodeSelector !== undefined) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector };
  if (found?.scheduling !== undefined) {
    const merged = mergeTolerations(spec.tolerations ?? [], tolerations ?? []);
    if (merged.length > 0) spec.tolerations = merged;
  }
}

function validate(request: AdmissionRequest): void {
  if (request.subresource !== "") return;
  const spec = (request.object as unknown as Pod).spec ?? {};
  const found = classOf(request, spec.runtimeClassName);
  if (found?.overhead !== undefined) {
    if (!sameAmounts(found.overhead.podFixed ?? {}, spec.overhead ?? {}))
      throw refuse(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  } else if (spec.overhead !== undefined) {
    throw refuse(request, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
}

function classOf(request: AdmissionRequest, name: string | undefined): RuntimeClass | undefined {
  if (name === undefined) return undefined;
  if (name === "") throw new StatusError({ message: "resource name may not be empty", code: 500 });
  const found = findObject(request.context.server, "node.k8s.io/runtimeclasses", "", name);
  if (found === undefined) throw refuse(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  return found as unknown as RuntimeClass;
}

function sameAmounts(left: Amounts, right: Amounts): boolean {
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => right[name] !== undefined && compareQuantities(left[name]!, right[name]!) === 0);
}

/** PodResizeValidator: a pod is not resized beyond what its node has at all (KEP-1287). */
import type { Node, Pod } from "../../../api/core-v1/types.ts";
import { compareQuantities, quantityMilli, quantityValue } from "../../../apimachinery/quantity.ts";
import type { QuantityLike } from "../../../apimachinery/quantity.ts";
import { StatusError } from "../../../apimachinery/status.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";
import { podAmounts } from "./pod-resources.ts";

export const podResizeValidator: AdmissionPlugin = { name: "PodResizeValidator", operations: new Set(["UPDATE"]), resources: new Set(["/pods"]), validate };

function validate(request: AdmissionRequest): void {
  if (request.subresource !== "resize") return;
  const spec = (request.object as unknown as Pod).spec ?? {};
  if ((spec.nodeName ?? "") === "") return;
  const node = findObject(request.context.server, "/nodes", "", spec.nodeName!) as unknown as Node | undefined;
  if (node === undefined) throw refuse(request, `node ${JSON.stringify(spec.nodeName)} not found`);
  const requested = podAmounts(spec, "requests", { withOverhead: true });
  const faults = (["cpu", "memory"] as const).flatMap((name) => {
    const wanted = requested.get(name);
    const available = node.status?.allocatable?.[name] ?? 0;
    if (wanted === undefined || compareQuantities(wanted, available) <= 0) return [];
    const show = (amount: QuantityLike) => (name === "cpu" ? quantityMilli(amount) : quantityValue(amount));
    return [`${name}, requested: ${show(wanted)}, allocatable: ${show(available)}`];
  });
  if (faults.length === 0) return;
  const { status } = refuse(request, `node didn't have enough allocatable resources: ${faults.join("; ")}`);
  throw new StatusError({ ...status, details: { ...status.details, causes: [{ reason: "NodeCapacity" }] } });
}

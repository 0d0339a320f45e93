/** PodTopologyLabels: a pod gets the zone and region of the node it is put on (KEP-4742). */
import type { Binding, Pod } from "../../../api/core-v1/types.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";

const copied = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

export const podTopologyLabels: AdmissionPlugin = { name: "PodTopologyLabels", operations: new Set(["CREATE"]), resources: new Set(["/pods"]), mutate };

function mutate({ context, object, subresource }: AdmissionRequest): void {
  if (subresource !== "" && subresource !== "binding") return;
  const { target } = object as unknown as Binding;
  const nodeName =
    subresource === "binding"
      ? (target?.kind ?? "Node") === "Node" || target?.kind === ""
        ? target?.name
        : undefined
      : (object as unknown as Pod).spec?.nodeName;
  if (nodeName === undefined || nodeName === "") return;
  const labels = findObject(context.server, "/nodes", "", nodeName)?.metadata.labels ?? {};
  const found = copied.filter((label) => labels[label] !== undefined).map((label) => [label, labels[label]!] as const);
  if (found.length > 0) object!.metadata.labels = { ...object!.metadata.labels, ...Object.fromEntries(found) };
}

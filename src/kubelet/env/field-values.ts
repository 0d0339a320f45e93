/** The downward API: fields of the pod and resources of its containers as text (documentation page "Downward API"). Pure. */
import { quantityMilli, quantityValue, toQuantity } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, ResourceFieldSelector } from "../../api/core-v1/types.ts";
import { containersOf } from "../pod-sync/runtime-names.ts";

/** What is known of the pod beyond its object. */
export interface PodFacts {
  readonly podIPs: readonly string[];
  readonly nodeAddress: string;
  /** Stands in for limits that are not set. */
  readonly allocatable: Readonly<Record<string, string>>;
}

/** The value of a `fieldRef`; throws an Error with Kubernetes' text for a path that is not supported. */
export function fieldValue(pod: DeepReadonly<Pod>, facts: PodFacts, fieldPath: string): string {
  const { metadata, spec } = pod;
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(fieldPath);
  if (subscript !== null) return metadata[subscript[1] as "labels" | "annotations"]?.[subscript[2]!] ?? "";
  switch (fieldPath) {
    case "metadata.name":
      return metadata.name ?? "";
    case "metadata.namespace":
      return metadata.namespace ?? "";
    case "metadata.uid":
      return metadata.uid ?? "";
    case "metadata.labels":
      return mapText(metadata.labels);
    case "metadata.annotations":
      return mapText(metadata.annotations);
    case "spec.nodeName":
      return spec?.nodeName ?? "";
    case "spec.serviceAccountName":
      return spec?.serviceAccountName ?? "";
    case "status.hostIP":
      return facts.nodeAddress;
    case "status.hostIPs":
      return facts.nodeAddress;
    case "status.podIP":
      return facts.podIPs[0] ?? "";
    case "status.podIPs":
      return facts.podIPs.join(",");
    default:
      throw new Error(`unsupported fieldPath: ${fieldPath}`);
  }
}

/** The value of a `resourceFieldRef`, in units of the divisor, rounded up. */
export function resourceValue(pod: DeepReadonly<Pod>, facts: PodFacts, selector: DeepReadonly<ResourceFieldSelector>, ownName: string): string {
  const name = selector.containerName === undefined || selector.containerName === "" ? ownName : selector.containerName;
  const container = containersOf(pod).find((spec) => spec.container.name === name)?.container;
  if (container === undefined) throw new Error(`container ${name} not found`);
  const [member, ...rest] = selector.resource.split(".");
  const resource = rest.join(".");
  if (member !== "limits" && member !== "requests") throw new Error(`unsupported container resource : ${selector.resource}`);
  const stated = container.resources?.[member]?.[resource];
  const amount = stated ?? (member === "limits" ? facts.allocatable[resource] : undefined) ?? "0";
  const isZero = selector.divisor === undefined || toQuantity(selector.divisor).unscaled === 0n;
  const divisor = isZero ? "1" : selector.divisor!;
  if (resource === "cpu") return String(Math.ceil(quantityMilli(amount) / quantityMilli(divisor)));
  return String(Math.ceil(quantityValue(amount) / quantityValue(divisor)));
}

/** One `key="value"` line each, sorted; quoted as Go does. */
function mapText(map: Readonly<Record<string, string>> = {}): string {
  return Object.keys(map)
    .toSorted()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join("\n");
}

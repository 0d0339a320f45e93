import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain, subdomainName } from "../../apimachinery/names.ts";
import { compareQuantities } from "../../apimachinery/quantity.ts";
import { nodeLabelDeprecation } from "../deprecated-node-labels.ts";
import { validateLabelSelector } from "../meta/labels.ts";
import { defineKind } from "../strategy.ts";
import { immutable } from "../update-rules.ts";
import type { CSIStorageCapacity } from "./types.ts";

export const csiStorageCapacities = defineKind<CSIStorageCapacity>({
  gvk: { group: "storage.k8s.io", version: "v1", kind: "CSIStorageCapacity" },
  nameRule: subdomainName,
  generation: "none",
  create: { validate: validateCapacity, warnings: topologyWarnings },
  update: {
    validate: (capacity, old) => [
      ...validateCapacity(capacity),
      ...immutable(FieldPath.root("nodeTopology"), capacity.nodeTopology, old.nodeTopology),
      ...immutable(FieldPath.root("storageClassName"), capacity.storageClassName, old.storageClassName),
    ],
    warnings: topologyWarnings,
    allowsUnconditional: false,
  },
});

function validateCapacity({ storageClassName = "", capacity, nodeTopology }: CSIStorageCapacity): FieldError[] {
  const errors = invalidEach(FieldPath.root("storageClassName"), storageClassName, isDns1123Subdomain(storageClassName));
  if (capacity !== undefined && compareQuantities(capacity, 0) < 0)
    errors.push(invalid(FieldPath.root("capacity"), String(capacity), "must be greater than or equal to 0"));
  return [...errors, ...validateLabelSelector(nodeTopology, FieldPath.root("nodeTopology"))];
}

function topologyWarnings({ nodeTopology }: CSIStorageCapacity): string[] {
  const path = FieldPath.root("nodeTopology");
  const expressions = (nodeTopology?.matchExpressions ?? []).map(({ key }, index): [FieldPath, string, string] => [
    path.child("matchExpressions").index(index).child("key"),
    key,
    `${key} is `,
  ]);
  const labels = Object.keys(nodeTopology?.matchLabels ?? {}).map((key): [FieldPath, string, string] => [path.child("matchLabels", key), key, ""]);
  return [...expressions, ...labels].flatMap(([at, key, opening]) => {
    const deprecation = nodeLabelDeprecation(key);
    return deprecation === undefined ? [] : [`${at}: ${opening}${deprecation}`];
  });
}

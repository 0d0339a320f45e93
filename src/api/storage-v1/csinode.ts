import type { FieldError } from "../../apimachinery/field-error.ts";
import { duplicate, invalid, invalidEach, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isDns1123Subdomain, isQualifiedName, subdomainName } from "../../apimachinery/names.ts";
import { internalForm } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import { isSame, restoreMembers } from "../update-rules.ts";
import type { CSINode, CSINodeDriver } from "./types.ts";

export const csiNodes = defineKind<CSINode>({
  gvk: { group: "storage.k8s.io", version: "v1", kind: "CSINode" },
  nameRule: subdomainName,
  generation: "none",
  create: {
    prepare(node) {
      delete node.status;
    },
    validate: validateNode,
  },
  update: {
    prepare: (node, old) => restoreMembers(node, old, "status"),
    validate: validateNodeUpdate,
    resetFields: ["status"],
    allowsUnconditional: false,
  },
  status: {
    prepare: (node, old) => restoreMembers(node, old, "spec"),
    resetFields: ["spec"],
  },
  delete: { answer: "object" },
});

const maxNodeIdBytes = 256;
const path = FieldPath.root("spec", "drivers");

function validateNode({ spec }: CSINode): FieldError[] {
  const names = new Set<string>();
  return (spec?.drivers ?? []).flatMap((driver, index) => {
    const errors = validateDriver(driver, path.index(index));
    if (names.has(driver.name)) errors.push(duplicate(path.index(index).child("name"), driver.name));
    names.add(driver.name);
    return errors;
  });
}

function validateDriver({ name = "", nodeID = "", topologyKeys = [], allocatable }: CSINodeDriver, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (name === "") errors.push(required(at.child("name")));
  else errors.push(...invalidEach(at.child("name"), name, isDns1123Subdomain(name)));
  if (nodeID === "") errors.push(required(at.child("nodeID")));
  else if (byteLength(nodeID) > maxNodeIdBytes) errors.push(invalid(at.child("nodeID"), nodeID, `must be ${maxNodeIdBytes} characters or less`));
  const count = allocatable?.count;
  if (count !== undefined && count < 0) errors.push(invalid(at.child("allocatable", "count"), count, "must be greater than or equal to 0"));
  (topologyKeys ?? []).forEach((key, index, keys) => {
    if (keys.indexOf(key) < index) errors.push(duplicate(at, key));
    if (key === "") errors.push(required(at));
    errors.push(...invalidEach(at, key, isQualifiedName(key)));
  });
  return errors;
}

/** A driver may come, go, and tell another number of volumes; nothing else of it changes. */
function validateNodeUpdate(node: CSINode, old: CSINode): FieldError[] {
  const changed = (old.spec?.drivers ?? []).flatMap((oldDriver) =>
    (node.spec?.drivers ?? [])
      .filter(({ name }) => name === oldDriver.name)
      .filter((driver) => driver.nodeID !== oldDriver.nodeID || !isSame(driver.topologyKeys, oldDriver.topologyKeys))
      .map((driver) => invalid(path, internalForm("api.storage.v1.CSINodeDriver", { ...driver, allocatable: undefined }), "field is immutable")),
  );
  return [...validateNode(node), ...changed];
}

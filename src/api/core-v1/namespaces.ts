/** Namespaces (API reference "Namespace v1 core"). */
import { invalid, invalidEach } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isQualifiedName, labelName } from "../../apimachinery/names.ts";
import { validateFinalizerNames } from "../meta/object-meta.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import type { Namespace } from "./types.ts";

const nameLabel = "kubernetes.io/metadata.name";
const contentFinalizer = "kubernetes";

export const namespaces = defineKind<Namespace>({
  gvk: { group: "", version: "v1", kind: "Namespace" },
  nameRule: labelName,
  generation: "none",
  defaults: labelWithName,
  create: {
    prepare: (namespace) => {
      labelWithName(namespace);
      const spec = (namespace.spec ??= {});
      if (!(spec.finalizers ?? []).includes(contentFinalizer)) spec.finalizers = [...(spec.finalizers ?? []), contentFinalizer];
      namespace.status = { phase: "Active" };
    },
    validate: validateFinalizers,
  },
  update: { prepare: (namespace, old) => restoreMembers(namespace, old, "spec", "status"), resetFields: ["spec.finalizers", "status"] },
  status: {
    prepare: (namespace, old) => restoreMembers(namespace, old, "spec"),
    validate: validatePhase,
    resetFields: ["spec"],
  },
  subresources: { finalize: { prepare: (namespace, old) => restoreMembers(namespace, old, "status"), validate: validateFinalizers, resetFields: ["status"] } },
  delete: { answer: "object" },
  selectableFields: ({ status = {} }) => ({ "status.phase": status.phase ?? "" }),
});

/** Selectors can find a namespace by its name. */
function labelWithName({ metadata }: Namespace): void {
  if (metadata.name) (metadata.labels ??= {})[nameLabel] = metadata.name;
}

function validateFinalizers({ spec = {} }: Namespace): FieldError[] {
  const path = FieldPath.root("spec", "finalizers");
  return (spec.finalizers ?? []).flatMap((name, index) => {
    const [unknown] = validateFinalizerNames([name], path);
    return [...invalidEach(path.index(index), name, isQualifiedName(name)), ...(unknown === undefined ? [] : [{ ...unknown, field: path.index(index).toString() }])];
  });
}

function validatePhase({ metadata, status = {} }: Namespace): FieldError[] {
  const path = FieldPath.root("status", "Phase");
  const { phase = "" } = status;
  if (metadata.deletionTimestamp === undefined) return phase === "Active" ? [] : [invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  return phase === "Terminating" ? [] : [invalid(path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}

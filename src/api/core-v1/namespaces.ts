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
  defaults: (namespace) => {
    labelWithName(namespace);
    (namespace.status ??= {}).phase ||= "Active";
  },
  create: {
    prepare: (namespace) => {
      labelWithName(namespace);
      const spec = (namespace.spec ??= {});
      if (!(spec.finalizers ?? []).includes(contentFinalizer)) spec.finalizers = [...(spec.finalizers ?? []), contentFinalizer];
      namespace.status = { phase: "Active" };
    },
    validate: (namespace) => validateFinalizers(namespace, () => finalizersPath),
  },
  update: { prepare: (namespace, old) => restoreMembers(namespace, old, "spec", "status"), resetFields: ["status"] },
  status: {
    prepare: (namespace, old) => restoreMembers(namespace, old, "spec"),
    validate: validatePhase,
    resetFields: ["spec"],
  },
  subresources: {
    finalize: {
      prepare: (namespace, old) => restoreMembers(namespace, old, "status"),
      validate: (namespace) => validateFinalizers(namespace, (index) => finalizersPath.index(index)),
      resetFields: ["status"],
    },
  },
  delete: {
    answer: "object",
    holds: ({ spec = {} }) => (spec.finalizers ?? []).length > 0,
    mark: (namespace) => {
      (namespace.status ??= {}).phase = "Terminating";
    },
  },
  selectableFields: ({ status = {} }) => ({ "status.phase": status.phase ?? "" }),
});

/** Selectors can find a namespace by its name. */
function labelWithName({ metadata }: Namespace): void {
  if (metadata.name) (metadata.labels ??= {})[nameLabel] = metadata.name;
}

const finalizersPath = FieldPath.root("spec", "finalizers");

/** On creation paths leave out the index, as upstream's do. */
function validateFinalizers({ spec = {} }: Namespace, pathOf: (index: number) => FieldPath): FieldError[] {
  return (spec.finalizers ?? []).flatMap((name, index) => {
    const path = pathOf(index);
    return [...invalidEach(path, name, isQualifiedName(name)), ...validateFinalizerNames([name], path).map((error) => ({ ...error, field: path.toString() }))];
  });
}

function validatePhase({ metadata, status = {} }: Namespace): FieldError[] {
  const path = FieldPath.root("status", "Phase");
  const { phase = "" } = status;
  if (metadata.deletionTimestamp === undefined) return phase === "Active" ? [] : [invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  return phase === "Terminating" ? [] : [invalid(path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}

import type { FieldError } from "../../apimachinery/field-error.ts";
import { duplicate, invalidEach, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { isDns1123Label, subdomainName } from "../../apimachinery/names.ts";
import { validateOverhead } from "../core-v1/pod/resources.ts";
import { validateTolerations } from "../core-v1/pod/scheduling.ts";
import { nodeLabelDeprecation } from "../deprecated-node-labels.ts";
import { internalForm } from "../meta/internal-form.ts";
import { validateLabels } from "../meta/labels.ts";
import { defineKind } from "../strategy.ts";
import { immutable } from "../update-rules.ts";
import type { RuntimeClass, Scheduling } from "./types.ts";

export const runtimeClasses = defineKind<RuntimeClass>({
  gvk: { group: "node.k8s.io", version: "v1", kind: "RuntimeClass" },
  nameRule: subdomainName,
  generation: "none",
  create: { validate: validateRuntimeClass, warnings: selectorWarnings },
  update: {
    validate: (runtimeClass, old) => [...validateRuntimeClass(runtimeClass), ...immutable(FieldPath.root("handler"), runtimeClass.handler, old.handler, null)],
    warnings: selectorWarnings,
    allowsCreate: true,
    allowsUnconditional: false,
  },
});

function validateRuntimeClass({ handler = "", overhead, scheduling }: RuntimeClass): FieldError[] {
  const path = FieldPath.root("handler");
  return [
    ...(handler === "" ? [] : invalidEach(path, handler, isDns1123Label(handler))),
    ...(overhead === undefined ? [] : validateOverhead(overhead.podFixed ?? {}, FieldPath.root("overhead"))),
    ...(scheduling === undefined ? [] : validateScheduling(scheduling, FieldPath.root("scheduling"))),
    ...(handler === "" ? [required(path)] : []),
  ];
}

function validateScheduling({ nodeSelector, tolerations = [] }: Scheduling, path: FieldPath): FieldError[] {
  const at = path.child("tolerations");
  const repeated = tolerations.flatMap((toleration, index) => {
    const isRepeated = tolerations.slice(0, index).some((other) => deepEqual(other, toleration));
    return isRepeated ? [duplicate(at.index(index), internalForm("api.core.v1.Toleration", toleration))] : [];
  });
  return [...validateLabels(nodeSelector, path.child("nodeSelector")), ...validateTolerations(tolerations, at), ...repeated];
}

function selectorWarnings({ scheduling }: RuntimeClass): string[] {
  return Object.keys(scheduling?.nodeSelector ?? {}).flatMap((label) => {
    const deprecation = nodeLabelDeprecation(label);
    return deprecation === undefined ? [] : [`scheduling.nodeSelector: ${deprecation}`];
  });
}

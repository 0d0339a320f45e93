/** Workload: the templates of the groups of pods that a controller makes. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { validateUnion } from "../meta/union.ts";
import { defineKind } from "../strategy.ts";
import { immutable } from "../update-rules.ts";
import { validateTemplates } from "./pod-group-rules.ts";
import type { Workload } from "./types.ts";

const specPath = FieldPath.root("spec");

export const workloads = defineKind<Workload>({
  gvk: { group: "scheduling.k8s.io", version: "v1beta1", kind: "Workload" },
  nameRule: subdomainName,
  generation: "none",
  create: { validate: validateWorkload },
  update: {
    validate: (workload, old) => [
      ...validateWorkload(workload),
      ...(old.spec?.controllerRef === undefined ? [] : immutable(specPath.child("controllerRef"), workload.spec?.controllerRef, old.spec.controllerRef)),
      ...removedTemplates(workload, old),
    ],
    allowsUnconditional: false,
  },
});

function validateWorkload({ spec = {} }: Workload): FieldError[] {
  const { controllerRef, podGroupTemplates = [] } = spec;
  return [
    ...validateUnion(spec, ["podGroupTemplates", "compositePodGroupTemplates"], specPath),
    ...(controllerRef === undefined
      ? []
      : ["kind", "name"].filter((name) => !(controllerRef as Record<string, unknown>)[name]).map((name) => required(specPath.child("controllerRef", name)))),
    ...validateTemplates(podGroupTemplates, specPath.child("podGroupTemplates")),
  ];
}

function removedTemplates(workload: Workload, old: Workload): FieldError[] {
  const names = new Set(workload.spec?.podGroupTemplates?.map(({ name }) => name));
  return (old.spec?.podGroupTemplates ?? [])
    .filter(({ name }) => !names.has(name))
    .map(() => forbidden(specPath.child("podGroupTemplates"), "item may not be removed"));
}

import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import { validateBalancers, validateIngressSpec } from "./ingress-rules.ts";
import type { Ingress } from "./types.ts";

export const ingresses = defineKind<Ingress>({
  gvk: { group: "networking.k8s.io", version: "v1", kind: "Ingress" },
  nameRule: subdomainName,
  generation: "spec",
  create: {
    prepare(ingress) {
      delete ingress.status;
    },
    validate: (ingress) => [...validateIngressSpec(ingress.spec ?? {}, FieldPath.root("spec")), ...validateClassAnnotation(ingress)],
    warnings: classWarnings,
  },
  update: {
    prepare: (ingress, old) => restoreMembers(ingress, old, "status"),
    validate: (ingress) => validateIngressSpec(ingress.spec ?? {}, FieldPath.root("spec")),
    resetFields: ["status"],
  },
  status: {
    prepare: (ingress, old) => restoreMembers(ingress, old, "spec"),
    validate: (ingress) => validateBalancers(ingress.status?.loadBalancer?.ingress ?? [], FieldPath.root("status", "loadBalancer", "ingress")),
    resetFields: ["spec"],
  },
});

/** What named the class before `spec.ingressClassName` did. */
const classAnnotation = "kubernetes.io/ingress.class";

function validateClassAnnotation({ metadata, spec }: Ingress): FieldError[] {
  const annotated = metadata.annotations?.[classAnnotation];
  if (annotated === undefined || spec?.ingressClassName === undefined || annotated === spec.ingressClassName) return [];
  return [invalid(FieldPath.root("annotations", classAnnotation), annotated, "must match `ingressClassName` when both are specified")];
}

function classWarnings({ metadata }: Ingress): string[] {
  return metadata.annotations?.[classAnnotation] === undefined
    ? []
    : [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`];
}

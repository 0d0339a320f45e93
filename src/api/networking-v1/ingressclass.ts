import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalidEach, notSupported, required, tooLong } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isDns1123Label, subdomainName } from "../../apimachinery/names.ts";
import { validateDomainPath } from "../meta/domain-path.ts";
import { defineKind } from "../strategy.ts";
import { immutable } from "../update-rules.ts";
import { validateTypedReference } from "./references.ts";
import type { IngressClass, IngressClassParametersReference } from "./types.ts";

export const ingressClasses = defineKind<IngressClass>({
  gvk: { group: "networking.k8s.io", version: "v1", kind: "IngressClass" },
  nameRule: subdomainName,
  generation: "spec",
  defaults(ingressClass) {
    if (ingressClass.spec?.parameters !== undefined) ingressClass.spec.parameters.scope ??= "Cluster";
  },
  create: { validate: validateIngressClass },
  update: {
    validate: (ingressClass, old) => [
      ...immutable(FieldPath.root("spec", "controller"), ingressClass.spec?.controller, old.spec?.controller),
      ...validateIngressClass(ingressClass),
    ],
  },
});

const maxControllerBytes = 250;
const scopes = ["Cluster", "Namespace"];

function validateIngressClass({ spec = {} }: IngressClass): FieldError[] {
  const path = FieldPath.root("spec");
  const controller = validateController(spec.controller ?? "", path.child("controller"));
  return spec.parameters === undefined ? controller : [...controller, ...validateReference(spec.parameters, path.child("parameters"))];
}

/** A domain, a slash and a path. */
function validateController(controller: string, path: FieldPath): FieldError[] {
  if (controller === "") return [required(path)];
  if (byteLength(controller) > maxControllerBytes) return [tooLong(path, maxControllerBytes)];
  return validateDomainPath(controller, path);
}

function validateReference(parameters: IngressClassParametersReference, path: FieldPath): FieldError[] {
  const errors = validateTypedReference(parameters, path);
  const { scope, namespace } = parameters;
  if (scope === undefined) return [...errors, required(path.child("scope"))];
  if (!scopes.includes(scope)) errors.push(notSupported(path.child("scope"), scope, scopes));
  if (scope === "Namespace") {
    if (!namespace) errors.push(required(path.child("namespace"), "`parameters.scope` is set to 'Namespace'"));
    else errors.push(...invalidEach(path.child("namespace"), namespace, isDns1123Label(namespace)));
  }
  if (scope === "Cluster" && namespace !== undefined) errors.push(forbidden(path.child("namespace"), "`parameters.scope` is set to 'Cluster'"));
  return errors;
}

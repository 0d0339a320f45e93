import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain, isQualifiedName } from "../../apimachinery/names.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { validateConfiguration, validateSelector } from "./configuration.ts";
import { validateItems } from "./device-names.ts";
import type { DeviceClass } from "./types.ts";

const specPath = FieldPath.root("spec");

export const deviceClasses = defineKind<DeviceClass>({
  gvk: { group: "resource.k8s.io", version: "v1", kind: "DeviceClass" },
  nameRule: (name, isPrefix) => (isPrefix === true ? [] : isDns1123Subdomain(name, "bytes")),
  generation: ({ spec = {} }, old) => !isSemanticallyEqual("api.resource.v1.DeviceClassSpec", spec, old.spec ?? {}),
  create: { validate: validateClass },
  update: { validate: (deviceClass, _old, context) => validateClass(deviceClass, context) },
  delete: { answer: "object" },
});

const maxSelectors = 32;
const maxConfigurations = 32;

function validateClass({ spec = {} }: DeviceClass, context: RuleContext): FieldError[] {
  const { selectors, config, extendedResourceName } = spec;
  return [
    ...validateItems(selectors, maxSelectors, (selector, path) => validateSelector(selector, context, path), specPath.child("selectors")),
    ...validateItems(config, maxConfigurations, validateConfiguration, specPath.child("config")),
    ...(extendedResourceName === undefined ? [] : validateExtendedName(extendedResourceName, specPath.child("extendedResourceName"))),
  ];
}

/** Name under which pods may ask for the class as for an ordinary resource (KEP-5004). */
function validateExtendedName(name: string, path: FieldPath): FieldError[] {
  if (!name.includes("/")) return [invalid(path, name, "a name must be a domain-prefixed path, such as 'example.com/my-prop'")];
  if (/(^|\.)kubernetes\.io\//.test(name)) return [invalid(path, name, 'must not have "kubernetes.io/" domain')];
  if (name.startsWith("requests.")) return [invalid(path, name, 'must not have "requests." prefix')];
  // Quotas name it with this in front.
  return invalidEach(path, name, isQualifiedName(`requests.${name}`));
}

/** Rules of a definition's spec, in upstream's order (API reference "CustomResourceDefinitionSpec v1 apiextensions.k8s.io"). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain } from "../../apimachinery/names.ts";
import type { RuleContext } from "../strategy.ts";
import { validateConversion } from "./conversion-rules.ts";
import { internalDefinition, versionsForm } from "./internal-definition.ts";
import { validateLabel, validateNames } from "./names.ts";
import { validateDepth } from "./schema-depth.ts";
import { validateSettings } from "./settings.ts";
import type { CustomResourceDefinitionSpec, CustomResourceDefinitionVersion } from "./types.ts";

const scopes = ["Cluster", "Namespaced"];

export function validateDefinitionSpec(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec | undefined,
  context: RuleContext,
  path: FieldPath,
): FieldError[] {
  const tooDeep = validateDepth(spec.versions ?? [], path.child("versions"));
  if (tooDeep.length > 0) return tooDeep;
  const { common, versions, version } = internalDefinition(spec);
  const all = spec.versions ?? [];
  const names = new Set(all.map(({ name }) => name));
  const versionsPath = path.child("versions");
  const requiredNames = (["plural", "singular", "kind", "listKind"] as const).filter((name) => !spec.names[name]);
  return [
    ...validateGroup(spec.group ?? "", path.child("group")),
    ...(!spec.scope ? [required(path.child("scope"))] : scopes.includes(spec.scope) ? [] : [notSupported(path.child("scope"), spec.scope, scopes)]),
    ...all.flatMap(({ schema }, index) =>
      schema?.openAPIV3Schema === undefined ? [required(versionsPath.index(index).child("schema", "openAPIV3Schema"))] : [],
    ),
    ...versions.flatMap((item, index) => validateVersion(item, context, versionsPath.index(index))),
    ...(names.size < all.length ? [invalid(versionsPath, versionsForm(versions), "must contain unique version names")] : []),
    ...(all.filter(({ storage }) => storage).length === 1
      ? []
      : [invalid(versionsPath, versionsForm(spec.versions && versions), "must have exactly one version marked as storage version")]),
    ...(version === "" ? [] : validateLabel(version, path.child("version"))),
    ...requiredNames.map((name) => required(path.child("names", name))),
    ...validateNames(spec.names, path.child("names")),
    ...validateSettings(common, "validation", context, path),
    ...(spec.conversion === undefined ? [] : validateConversion(spec.conversion, old?.conversion, path.child("conversion"))),
  ];
}

function validateGroup(group: string, path: FieldPath): FieldError[] {
  if (group === "") return [required(path)];
  const faults = isDns1123Subdomain(group);
  if (faults.length > 0) return [invalid(path, group, faults.join(","))];
  return group.includes(".") ? [] : [invalid(path, group, "should be a domain with at least one dot")];
}

function validateVersion(version: CustomResourceDefinitionVersion, context: RuleContext, path: FieldPath): FieldError[] {
  return [
    ...validateLabel(version.name ?? "", path.child("name")),
    ...validateDeprecationWarning(version, path.child("deprecationWarning")),
    ...validateSettings(version, "schema", context, path),
  ];
}

const maxWarningBytes = 256;

function validateDeprecationWarning({ deprecated, deprecationWarning: warning }: CustomResourceDefinitionVersion, path: FieldPath): FieldError[] {
  if (warning === undefined) return [];
  const errors: FieldError[] = [];
  if (deprecated !== true) errors.push(invalid(path, warning, "can only be set for deprecated versions"));
  if (warning === "") errors.push(invalid(path, warning, "must not be an empty string"));
  if (Buffer.byteLength(warning) > maxWarningBytes) errors.push(invalid(path, warning, `must be <= ${maxWarningBytes} characters`));
  // Go counts bytes, and knows one printable space.
  const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (unprintable !== null) {
    const index = Buffer.byteLength(warning.slice(0, unprintable.index));
    errors.push(invalid(path, warning, `must only contain printable UTF-8 characters; non-printable character found at index ${index}`));
  }
  return errors;
}

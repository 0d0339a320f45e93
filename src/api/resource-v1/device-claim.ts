/** Rules of what a claim asks for, alone or as a template, with their defaults. */
import { numberOf } from "../../apimachinery/json.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain, isLabelValue } from "../../apimachinery/names.ts";
import { validateLabelName } from "../meta/labels.ts";
import type { RuleContext } from "../strategy.ts";
import { validateConfiguration, validateSelector } from "./configuration.ts";
import { validateFullyQualifiedName, validateItems, validateLabelText, validateQualifiedName, validateUnique } from "./device-names.ts";
import type { DeviceClaim, DeviceClaimConfiguration, DeviceConstraint, DeviceRequest, DeviceToleration, ExactDeviceRequest } from "./types.ts";

const maxRequests = 32;
const maxAlternatives = 8;
const maxSelectors = 32;
const maxTolerations = 16;
const maxConstraints = 32;
const maxConfigurations = 32;

export function defaultClaim({ requests }: DeviceClaim): void {
  for (const { exactly, firstAvailable = [] } of requests ?? []) {
    for (const request of exactly === undefined ? firstAvailable : [exactly, ...firstAvailable]) {
      request.allocationMode ||= "ExactCount";
      if (request.allocationMode === "ExactCount") request.count ||= 1;
      for (const toleration of request.tolerations ?? []) toleration.operator ||= "Equal";
    }
  }
}

/** Drops what is behind feature gates. */
export function prepareClaim({ requests }: DeviceClaim, context: RuleContext): void {
  if (context.isEnabled("DRADerivedAttributes")) return;
  for (const { exactly, firstAvailable = [] } of requests ?? [])
    for (const request of [exactly, ...firstAvailable]) if (request !== undefined) delete request.derivedAttributes;
}

export function validateClaim(claim: DeviceClaim, context: RuleContext, path: FieldPath): FieldError[] {
  // Lists without omitempty may be null.
  const [requests, constraints, config] = [claim.requests ?? [], claim.constraints ?? [], claim.config ?? []];
  const names = requestNames(claim);
  return [
    ...validateItems(requests, maxRequests, (request, at) => validateRequest(request, context, at), path.child("requests")),
    ...validateItems(constraints, maxConstraints, (constraint, at) => validateConstraint(constraint, names, at), path.child("constraints")),
    ...validateItems(config, maxConfigurations, (configuration, at) => validateClaimConfiguration(configuration, names, at), path.child("config")),
    // Rules of the declarative kind come after all others.
    ...validateUnique(requests, ({ name }) => name ?? "", path.child("requests")),
    ...requests.flatMap(({ firstAvailable }, index) =>
      validateUnique(firstAvailable, ({ name }) => name ?? "", path.child("requests").index(index).child("firstAvailable")),
    ),
  ];
}

/** Names that other parts of a claim may use: of requests, and of alternatives behind a slash. */
export function requestNames({ requests }: DeviceClaim): Set<string> {
  return new Set((requests ?? []).flatMap(({ name, firstAvailable = [] }) => [name, ...firstAvailable.map((alternative) => `${name}/${alternative.name}`)]));
}

export function validateRequestReference(name: string, names: ReadonlySet<string>, path: FieldPath): FieldError[] {
  return names.has(name) ? [] : [invalid(path, name, "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'")];
}

/** Administrators may look into devices in use, from namespaces that are labelled for it (KEP-5018). */
export function validateAdminAccess({ requests }: DeviceClaim, context: RuleContext): FieldError[] {
  const namespace = context.find("/namespaces", "", context.namespace);
  if (namespace?.metadata.labels?.["resource.kubernetes.io/admin-access"] === "true") return [];
  const text = "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace";
  return (requests ?? []).flatMap(({ exactly }, index) =>
    exactly?.adminAccess === true ? [forbidden(FieldPath.root("spec", "devices", "requests").index(index).child("adminAccess"), text)] : [],
  );
}

function validateRequest({ name = "", exactly, firstAvailable = [] }: DeviceRequest, context: RuleContext, path: FieldPath): FieldError[] {
  const errors = validateLabelText(name, path.child("name"));
  const alternative = (item: ExactDeviceRequest & { name?: string }, at: FieldPath) => [
    ...validateLabelText(item.name ?? "", at.child("name")),
    ...validateExactly(item, context, at),
  ];
  errors.push(...validateItems(firstAvailable, maxAlternatives, alternative, path.child("firstAvailable")));
  if (exactly !== undefined) errors.push(...validateExactly(exactly, context, path.child("exactly")));
  const text = "exactly one of `exactly` or `firstAvailable` is required";
  if (exactly === undefined && firstAvailable.length === 0) errors.push(required(path, text));
  if (exactly !== undefined && firstAvailable.length > 0) errors.push(invalid(path, undefined, `${text}, but multiple fields are set`));
  return errors;
}

function validateExactly(
  { deviceClassName = "", selectors, allocationMode = "", count = 0, tolerations, capacity }: ExactDeviceRequest,
  context: RuleContext,
  path: FieldPath,
): FieldError[] {
  const at = path.child("deviceClassName");
  return [
    ...(deviceClassName === "" ? [required(at)] : invalidEach(at, deviceClassName, isDns1123Subdomain(deviceClassName))),
    ...validateItems(selectors, maxSelectors, (selector, selectorPath) => validateSelector(selector, context, selectorPath), path.child("selectors")),
    ...validateMode(allocationMode, count, path),
    ...validateItems(tolerations, maxTolerations, validateToleration, path.child("tolerations")),
    ...Object.keys(capacity?.requests ?? {})
      .sort()
      .flatMap((name) => validateQualifiedName(name, path.child("capacity", "requests").key(name))),
  ];
}

function validateMode(mode: string, count: number, path: FieldPath): FieldError[] {
  switch (mode) {
    case "ExactCount":
      return numberOf(count) > 0 ? [] : [invalid(path.child("count"), count, "must be greater than zero")];
    case "All":
      return count === 0 ? [] : [invalid(path.child("count"), count, "must not be specified when allocationMode is 'All'")];
    default:
      return [notSupported(path.child("allocationMode"), mode, ["All", "ExactCount"])];
  }
}

export const taintEffects = ["NoExecute", "NoSchedule", "None"];

function validateToleration({ key = "", operator = "", value = "", effect = "" }: DeviceToleration, path: FieldPath): FieldError[] {
  const errors = key === "" ? [] : validateLabelName(key, path.child("key"));
  if (operator === "Exists" && value !== "") errors.push(invalid(path.child("value"), value, "must be empty for operator `Exists`"));
  else if (operator === "Equal") errors.push(...invalidEach(path.child("value"), value, isLabelValue(value)));
  else if (operator !== "Exists") errors.push(notSupported(path.child("operator"), operator, ["Equal", "Exists"]));
  return effect === "" || taintEffects.includes(effect) ? errors : [...errors, notSupported(path.child("effect"), effect, taintEffects)];
}

function validateConstraint({ requests, matchAttribute, distinctAttribute }: DeviceConstraint, names: ReadonlySet<string>, path: FieldPath): FieldError[] {
  const errors = validateReferences(requests, names, path);
  if (matchAttribute !== undefined) return [...errors, ...validateFullyQualifiedName(matchAttribute, path.child("matchAttribute"))];
  if (distinctAttribute !== undefined) return [...errors, ...validateFullyQualifiedName(distinctAttribute, path.child("distinctAttribute"))];
  return [...errors, required(path, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set')];
}

function validateClaimConfiguration(configuration: DeviceClaimConfiguration, names: ReadonlySet<string>, path: FieldPath): FieldError[] {
  return [...validateReferences(configuration.requests, names, path), ...validateConfiguration(configuration, path)];
}

export function validateReferences(requests: readonly string[] | undefined, names: ReadonlySet<string>, path: FieldPath): FieldError[] {
  const at = path.child("requests");
  return [
    ...validateItems(requests, maxRequests, (name, itemPath) => validateRequestReference(name, names, itemPath), at),
    ...validateUnique(requests, (name) => name, at),
  ];
}

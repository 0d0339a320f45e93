/** Rules of requests, limits and claims: of a container, and of a pod as a whole (KEP 2837). */
import { sortedKeys } from "../../../apimachinery/json.ts";
import { duplicate, forbidden, invalid, invalidEach, notFound, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { isDns1123Label, isDns1123Subdomain } from "../../../apimachinery/names.ts";
import type { ObjectMeta } from "../../../apimachinery/object.ts";
import { compareQuantities } from "../../../apimachinery/quantity.ts";
import { internalForm } from "../../meta/internal-form.ts";
import { fillsHugePages, isHugePages, isOvercommitAllowed, quantityText, validateContainerResourceName, validateResourceAmount } from "../resource-names.ts";
import type { ResourceList } from "../resource-names.ts";
import type { PodResourceClaim, PodSpec, ResourceClaim, ResourceRequirements } from "../types.ts";
import { isPodLevelResource, sumOfRequests } from "./resource-defaults.ts";

export function validateResources(
  resources: ResourceRequirements,
  claims: ReadonlySet<string>,
  path: FieldPath,
  validateName = validateContainerResourceName,
): FieldError[] {
  const { limits = {}, requests = {} } = resources;
  const errors: FieldError[] = [];
  for (const name of sortedKeys(limits)) {
    const at = path.child("limits").key(name);
    errors.push(...validateName(name, at), ...validateResourceAmount(name, limits[name]!, at), ...validateHugePages(name, limits[name]!, at));
  }
  for (const name of sortedKeys(requests)) {
    const request = requests[name]!;
    const at = path.child("requests").key(name);
    errors.push(
      ...validateName(name, at),
      ...validateResourceAmount(name, request, at),
      ...validateAgainstLimit(name, request, limits[name], path),
      ...validateHugePages(name, request, at),
    );
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory")) errors.push(forbidden(path, "HugePages require cpu or memory"));
  return [...errors, ...validateClaims(resources.claims ?? [], claims, path.child("claims"))];
}

/** Requests and limits of a pod as a whole. */
export function validatePodLevelResources(spec: PodSpec, claims: ReadonlySet<string>, path: FieldPath): FieldError[] {
  const { resources } = spec;
  if (resources === undefined) return [];
  if (spec.os?.name === "windows") return [forbidden(path, "may not be set for a windows pod")];
  const errors = (resources.claims ?? []).length > 0 ? [forbidden(path.child("claims"), "claims may not be set for Resources at pod-level")] : [];
  return [...errors, ...validateResources(resources, claims, path, validatePodLevelName), ...validateConsistency(spec, path)];
}

/** Overhead is told as limits. */
export function validateOverhead(overhead: ResourceList, path: FieldPath): FieldError[] {
  return validateResources({ limits: overhead }, new Set(), path);
}

/** The pod's claims; the names of those that have one are returned. */
export function validatePodClaims(
  claims: readonly PodResourceClaim[],
  metadata: ObjectMeta | undefined,
  path: FieldPath,
): { errors: FieldError[]; names: Set<string> } {
  const names = new Set<string>();
  const errors = claims.flatMap((claim, index) => {
    const at = path.index(index);
    const { name = "", resourceClaimName, resourceClaimTemplateName } = claim;
    const faults: FieldError[] = [];
    if (name === "") faults.push(required(at.child("name")));
    else if (names.has(name)) faults.push(duplicate(at.child("name"), name));
    else faults.push(...validateClaimName(claim, metadata, at.child("name")));
    if (name !== "") names.add(name);
    const shown = () => internalForm("api.core.v1.PodResourceClaim", claim);
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined)
      faults.push(invalid(at, shown(), "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"));
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined)
      faults.push(invalid(at, shown(), "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
    for (const field of ["resourceClaimName", "resourceClaimTemplateName"] as const) {
      if (claim[field] !== undefined) faults.push(...invalidEach(at.child(field), claim[field], isDns1123Subdomain(claim[field])));
    }
    return faults;
  });
  return { errors, names };
}

function validateClaimName({ name, resourceClaimTemplateName }: PodResourceClaim, metadata: ObjectMeta | undefined, path: FieldPath): FieldError[] {
  const errors = invalidEach(path, name, isDns1123Label(name));
  if (errors.length > 0 || metadata === undefined || resourceClaimTemplateName === undefined) return errors;
  const claimName = `${metadata.name ?? ""}-${name}`;
  return isDns1123Subdomain(claimName).map((fault) => invalid(path, claimName, `final ResourceClaim name: ${fault}`));
}

function validateHugePages(name: string, amount: string | number, path: FieldPath): FieldError[] {
  const text = quantityText(amount);
  return isHugePages(name) && !fillsHugePages(name, amount) ? [invalid(path, text, `${text} is not positive integer multiple of ${name}`)] : [];
}

function validateAgainstLimit(name: string, request: string | number, limit: string | number | undefined, path: FieldPath): FieldError[] {
  if (limit === undefined) return isOvercommitAllowed(name) ? [] : [required(path.child("limits"), "Limit must be set for non overcommitable resources")];
  const order = compareQuantities(request, limit);
  if (order !== 0 && !isOvercommitAllowed(name))
    return [invalid(path.child("requests"), quantityText(request), `must be equal to ${name} limit of ${quantityText(limit)}`)];
  return order > 0 ? [invalid(path.child("requests"), quantityText(request), `must be less than or equal to ${name} limit of ${quantityText(limit)}`)] : [];
}

function validateClaims(claims: readonly ResourceClaim[], known: ReadonlySet<string>, path: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return claims.flatMap(({ name = "", request = "" }, index) => {
    const at = path.index(index);
    const errors: FieldError[] = [];
    if (name === "") {
      errors.push(required(at));
    } else {
      const key = request === "" ? name : `${name}/${request}`;
      if (seen.has(key)) errors.push(duplicate(at, key));
      seen.add(key);
      if (!known.has(name)) {
        const missing = notFound(at, name);
        const names = known.size === 0 ? " which is empty" : `: ${[...known].sort().join(", ")}`;
        errors.push({ ...missing, message: `${missing.message}: must be one of the names in pod.spec.resourceClaims${names}` });
      }
    }
    if (request !== "") errors.push(...invalidEach(at.child("request"), request, isDns1123Label(request)));
    return errors;
  });
}

function validatePodLevelName(name: string, path: FieldPath): FieldError[] {
  return isPodLevelResource(name) ? [] : [notSupported(path, name, ["cpu", "hugepages-", "memory"])];
}

/** The pod's requests cover what its containers ask for together, its limits what each of them may use. */
function validateConsistency(spec: PodSpec, path: FieldPath): FieldError[] {
  const { requests = {}, limits = {} } = spec.resources ?? {};
  const errors: FieldError[] = [];
  const sums = sumOfRequests(spec);
  for (const name of sortedKeys(sums)) {
    const request = requests[name];
    if (request === undefined || compareQuantities(sums[name]!, request) <= 0) continue;
    errors.push(
      invalid(path.child("requests").key(name), quantityText(request), `must be greater than or equal to aggregate container requests of ${sums[name]}`),
    );
  }
  (spec.containers ?? []).forEach((container, index) => {
    const own: ResourceList = container.resources?.limits ?? {};
    for (const name of sortedKeys(own)) {
      const limit = limits[name];
      if (limit === undefined || compareQuantities(own[name]!, limit) <= 0) continue;
      errors.push(
        invalid(
          path.child("containers").index(index).key(name).child("limits"),
          quantityText(own[name]!),
          `must be less than or equal to pod limits of ${quantityText(limit)}`,
        ),
      );
    }
  });
  return errors;
}

/** Names of compute resources: standard ones, native ones, extended ones, huge pages. */
import { invalid, invalidEach } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isQualifiedName } from "../../apimachinery/names.ts";
import { compareQuantities, milli, parseQuantity, roundUpQuantity, toQuantity } from "../../apimachinery/quantity.ts";
import type { QuantityLike } from "../../apimachinery/quantity.ts";

export type ResourceList = Record<string, string | number>;

const containerResources = ["cpu", "memory", "ephemeral-storage"];
const integerResources = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const standardResources = new Set([
  ...containerResources,
  ...containerResources.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...integerResources,
  "storage",
  "requests.storage",
]);
const quotaOnlyResources = new Set([
  ...containerResources.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
  ...integerResources,
  "requests.storage",
]);

export function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

export function isStandardResource(name: string): boolean {
  return standardResources.has(name) || isHugePages(name) || name.startsWith("requests.hugepages-");
}

/** Whether a name without a domain may be limited by a ResourceQuota. */
export function isStandardQuotaResource(name: string): boolean {
  return quotaOnlyResources.has(name) || isHugePages(name) || name.startsWith("requests.hugepages-");
}

export function isStandardContainerResource(name: string): boolean {
  return containerResources.includes(name) || isHugePages(name);
}

/** Without a domain, or with kubernetes.io. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

export function isExtendedResource(name: string): boolean {
  return !isNativeResource(name) && !name.startsWith("requests.") && isQualifiedName(`requests.${name}`).length === 0;
}

export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

export function isIntegerResource(name: string): boolean {
  return integerResources.includes(name) || isExtendedResource(name);
}

/** A name that a quota, a node or a limit range may speak of. */
export function validateResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = invalidEach(path, name, isQualifiedName(name));
  if (errors.length === 0 && !name.includes("/") && !isStandardResource(name))
    errors.push(invalid(path, name, "must be a standard resource type or fully qualified"));
  return errors;
}

/** A name that a container may ask for. */
export function validateContainerResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = validateResourceName(name, path);
  if (!name.includes("/")) {
    if (!isStandardContainerResource(name)) errors.push(invalid(path, name, "must be a standard resource for containers"));
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

/** An amount of a resource: not negative, whole where the resource is counted. */
export function validateResourceAmount(name: string, amount: QuantityLike, path: FieldPath): FieldError[] {
  const errors = validateNotNegative(amount, path);
  if (isIntegerResource(name) && !isWhole(amount)) errors.push(invalid(path, quantityText(amount), "must be an integer"));
  return errors;
}

export function validateNotNegative(amount: QuantityLike, path: FieldPath): FieldError[] {
  return compareQuantities(amount, 0) < 0 ? [invalid(path, quantityText(amount), "must be greater than or equal to 0")] : [];
}

export function isWhole(amount: QuantityLike): boolean {
  return compareQuantities(amount, roundUpQuantity(amount, 0)) === 0;
}

/** Whether an amount of huge pages fills whole pages of the size in the name. */
export function fillsHugePages(name: string, amount: QuantityLike): boolean {
  try {
    const page = parseQuantity(name.slice("hugepages-".length));
    if (page.unscaled <= 0n || !isWhole(page)) return false;
    return bytesOf(amount) % bytesOf(page) === 0n;
  } catch {
    return false;
  }
}

export function quantityText(amount: QuantityLike): string {
  return typeof amount === "object" ? amount.text : String(amount);
}

/** Amounts are stored in thousandths at the finest. */
export function roundResourceList(list: ResourceList | undefined): void {
  for (const [name, amount] of Object.entries(list ?? {})) list![name] = roundUpQuantity(amount, milli).text;
}

function bytesOf(amount: QuantityLike): bigint {
  const { unscaled, scale } = roundUpQuantity(toQuantity(amount), 0);
  return unscaled * 10n ** BigInt(Math.max(scale, 0));
}

/** The single bounds of a LimitRange, and how a pod that exceeds one is told. */
import { compareQuantities, isZeroQuantity, quantityMilli, quantityValue, toQuantity } from "../../../apimachinery/quantity.ts";
import type { Quantity } from "../../../apimachinery/quantity.ts";
import type { Amounts } from "../pods/pod-resources.ts";

export interface Asked {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

type Bound = string | number;

export function atLeast(type: string, name: string, bound: Bound, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const rule = `minimum ${name} usage per ${type} is ${textOf(bound)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (compareQuantities(request, bound) < 0) return `${rule}, but request is ${request.text}`;
  return limit !== undefined && compareQuantities(limit, bound) < 0 ? `${rule}, but limit is ${limit.text}` : undefined;
}

export function atMost(type: string, name: string, bound: Bound, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const rule = `maximum ${name} usage per ${type} is ${textOf(bound)}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (compareQuantities(limit, bound) > 0) return `${rule}, but limit is ${limit.text}`;
  return request !== undefined && compareQuantities(request, bound) > 0 ? `${rule}, but request is ${request.text}` : undefined;
}

export function requestAtMost(type: string, name: string, bound: Bound, { requests }: Asked): string | undefined {
  const request = requests.get(name);
  const rule = `maximum ${name} usage per ${type} is ${textOf(bound)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  return compareQuantities(request, bound) > 0 ? `${rule}, but request is ${request.text}` : undefined;
}

export function ratioAtMost(type: string, name: string, bound: Bound, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const rule = `${name} max limit to request ratio per ${type} is ${textOf(bound)}`;
  if (request === undefined || isZeroQuantity(request)) return `${rule}, but no request is specified or request is 0`;
  if (limit === undefined || isZeroQuantity(limit)) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = ratioOf(limit, request);
  return ratio > quantityMilli(bound) / 1000 ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

/** In thousandths where both are small enough for that, as the amounts are counted elsewhere. */
function ratioOf(limit: Quantity, request: Quantity): number {
  const isSmall = quantityValue(limit) <= Number.MAX_SAFE_INTEGER / 1000 && quantityValue(request) <= Number.MAX_SAFE_INTEGER / 1000;
  return isSmall ? quantityMilli(limit) / quantityMilli(request) : quantityValue(limit) / quantityValue(request);
}

const textOf = (bound: Bound) => toQuantity(bound).text;

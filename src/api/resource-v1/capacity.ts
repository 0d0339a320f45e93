/** Capacities of devices that several claims may share, and how much each may ask for (KEP-5075). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { duplicate, forbidden, invalid, required, tooMany } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { compareQuantities, quantityMilli, toQuantity } from "../../apimachinery/quantity.ts";
import type { QuantityLike } from "../../apimachinery/quantity.ts";
import { quantityText } from "../core-v1/resource-names.ts";
import type { CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity } from "./types.ts";

const maxValidValues = 10;

export function validateCapacity({ value = "0", requestPolicy }: DeviceCapacity, isShared: boolean, path: FieldPath): FieldError[] {
  if (requestPolicy === undefined) return [];
  const at = path.child("requestPolicy");
  return isShared ? validatePolicy(requestPolicy, value, at) : [forbidden(at, "allowMultipleAllocations must be true")];
}

function validatePolicy({ default: usual, validValues = [], validRange }: CapacityRequestPolicy, max: QuantityLike, path: FieldPath): FieldError[] {
  const hasChoice = validValues.length > 0 || validRange !== undefined;
  if (validValues.length > 0 && validRange !== undefined)
    return [forbidden(path, 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time')];
  if (usual === undefined) return hasChoice ? [required(path.child("default"), "required when `validValues` or `validRange` is specified")] : [];
  const errors =
    compareQuantities(usual, max) > 0 ? [invalid(path.child("default"), quantityText(usual), `default is more than capacity value: ${quantityText(max)}`)] : [];
  if (validValues.length > 0) errors.push(...validateValues(usual, validValues, max, path.child("validValues")));
  if (validRange !== undefined) errors.push(...validateRange(usual, validRange, max, path.child("validRange")));
  return errors;
}

function validateValues(usual: QuantityLike, values: readonly (number | string)[], max: QuantityLike, path: FieldPath): FieldError[] {
  const errors = values.length > maxValidValues ? [tooMany(path, values.length, maxValidValues)] : [];
  values.forEach((value, index) => {
    if (compareQuantities(value, max) > 0)
      errors.push(invalid(path.index(index), quantityText(value), `option is larger than capacity value: ${quantityText(max)}`));
    if (values.slice(0, index).some((other) => compareQuantities(other, value) === 0)) errors.push(duplicate(path.index(index), quantityText(value)));
  });
  const isListed = values.some((value) => compareQuantities(value, usual) === 0);
  return isListed ? errors : [...errors, invalid(path, quantityText(usual), "default value is not valid according to the requestPolicy")];
}

function validateRange(usual: QuantityLike, { min, max, step }: CapacityRequestPolicyRange, capacity: QuantityLike, path: FieldPath): FieldError[] {
  if (min === undefined) return [required(path.child("min"), "required when `validRange` is specified")];
  const errors: FieldError[] = [];
  const text = (amount: QuantityLike) => quantityText(amount);
  if (compareQuantities(min, capacity) > 0) errors.push(invalid(path.child("min"), text(min), `min is larger than capacity value: ${text(capacity)}`));
  if (compareQuantities(usual, min) < 0) errors.push(invalid(path.child("default"), text(usual), `default is less than min: ${text(min)}`));
  if (max !== undefined) {
    if (compareQuantities(min, max) > 0) errors.push(invalid(path.child("max"), text(max), `min is larger than max: ${text(min)}`));
    if (compareQuantities(max, capacity) > 0) errors.push(invalid(path.child("max"), text(max), `max is larger than capacity value: ${text(capacity)}`));
    if (compareQuantities(usual, max) > 0) errors.push(invalid(path.child("default"), text(usual), `default is more than max: ${text(max)}`));
  }
  if (step !== undefined) {
    for (const [name, value] of [
      ["default", usual],
      ["max", max],
    ] as const) {
      if (value !== undefined && !isStep(value, min, step))
        errors.push(invalid(path.child("step"), text(step), `${name} is not a multiple of the step from min`));
    }
  }
  return errors;
}

function isStep(value: QuantityLike, min: QuantityLike, step: QuantityLike): boolean {
  const unit = quantityMilli(toQuantity(step));
  return unit > 0 && (quantityMilli(toQuantity(value)) - quantityMilli(toQuantity(min))) % unit === 0;
}

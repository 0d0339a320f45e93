import { compareQuantities, formatQuantity, subtractQuantities, toQuantity } from "../../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Quantity } from "../../../apimachinery/quantity.ts";
import type { CapacityRequestPolicy, CapacityRequirements, Device } from "../../../api/resource-v1/types.ts";

/** By the capacity's name. */
export type Consumption = ReadonlyMap<string, Quantity>;

/**
 * How much of each capacity a request takes from a device that others may share: what it asks for, rounded as the capacity's policy says, or the
 * default (KEP-5075). Undefined when the device never has so much, or has no such capacity.
 */
export function consumptionOf(device: DeepReadonly<Device>, wanted: DeepReadonly<CapacityRequirements> | undefined): Consumption | undefined {
  const capacities = device.capacity ?? {};
  const requests = wanted?.requests ?? {};
  if (Object.keys(requests).some((name) => capacities[name] === undefined)) return undefined;
  const taken = new Map<string, Quantity>();
  for (const [name, { value, requestPolicy }] of Object.entries(capacities)) {
    const asked = toQuantity(requests[name] ?? requestPolicy?.default ?? value);
    const share = requestPolicy === undefined ? asked : rounded(asked, requestPolicy);
    if (share === undefined || compareQuantities(share, value) > 0) return undefined;
    taken.set(name, share);
  }
  return taken;
}

/** The next share that the policy allows; undefined when all are smaller. */
function rounded(asked: Quantity, { validValues, validRange }: DeepReadonly<CapacityRequestPolicy>): Quantity | undefined {
  if (validValues !== undefined && validValues.length > 0)
    return validValues
      .map(toQuantity)
      .toSorted(compareQuantities)
      .find((value) => compareQuantities(value, asked) >= 0);
  const { min = "0", max, step } = validRange ?? {};
  const raised = compareQuantities(asked, min) < 0 ? toQuantity(min) : step === undefined ? asked : toStep(asked, toQuantity(min), toQuantity(step));
  return max !== undefined && compareQuantities(raised, max) > 0 ? undefined : raised;
}

/** The next of `min`, `min + step`, `min + 2 * step`, …, in the format of what was asked for. */
function toStep(asked: Quantity, min: Quantity, step: Quantity): Quantity {
  const above = subtractQuantities(asked, min);
  const scale = Math.min(above.scale, min.scale, step.scale);
  const units = (value: Quantity) => value.unscaled * 10n ** BigInt(value.scale - scale);
  const size = units(step);
  if (size <= 0n || units(above) % size === 0n) return asked;
  const unscaled = units(min) + (units(above) / size + 1n) * size;
  return { unscaled, scale, format: asked.format, text: formatQuantity(unscaled, scale, asked.format) };
}

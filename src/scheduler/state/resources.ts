import { quantityMilli, quantityValue } from "../../apimachinery/quantity.ts";

/** Amounts of compute resources in the units that scheduling counts in. Immutable. */
export interface Resources {
  readonly milliCpu: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
  /** Extended resources and huge pages by name, in whole units; undefined when there are none. */
  readonly scalars: ReadonlyMap<string, number> | undefined;
}

export type ResourceList = Readonly<Record<string, string | number>>;

export const noResources: Resources = { milliCpu: 0, memoryBytes: 0, ephemeralStorageBytes: 0, scalars: undefined };

/** Amounts of a resource list as the API has it; `pods` and names that nobody schedules by are left out. */
export function resourcesFrom(list: ResourceList | undefined): Resources {
  if (list === undefined) return noResources;
  let scalars: Map<string, number> | undefined;
  for (const name in list) if (isScalarResource(name)) (scalars ??= new Map()).set(name, amountOf(name, list[name]!));
  return {
    milliCpu: amountIn(list, "cpu"),
    memoryBytes: amountIn(list, "memory"),
    ephemeralStorageBytes: amountIn(list, "ephemeral-storage"),
    scalars,
  };
}

export function amountIn(list: ResourceList | undefined, name: string): number {
  const value = list?.[name];
  return value === undefined ? 0 : amountOf(name, value);
}

/** One amount by its resource's name. */
export function resourceAmount(resources: Resources, name: string): number {
  switch (name) {
    case "cpu":
      return resources.milliCpu;
    case "memory":
      return resources.memoryBytes;
    case "ephemeral-storage":
      return resources.ephemeralStorageBytes;
    default:
      return resources.scalars?.get(name) ?? 0;
  }
}

export function addResources(left: Resources, right: Resources): Resources {
  return combine(left, right, (a, b) => a + b);
}

export function subtractResources(left: Resources, right: Resources): Resources {
  return combine(left, right, (a, b) => a - b);
}

/** The larger of each amount. */
export function maxResources(left: Resources, right: Resources): Resources {
  return combine(left, right, Math.max);
}

/** Extended resources, huge pages and attachable volumes: counted by name. */
export function isScalarResource(name: string): boolean {
  if (name.startsWith("hugepages-") || name.startsWith("attachable-volumes-")) return true;
  return name.includes("/") && !name.startsWith("requests.");
}

function combine(left: Resources, right: Resources, how: (a: number, b: number) => number): Resources {
  return {
    milliCpu: how(left.milliCpu, right.milliCpu),
    memoryBytes: how(left.memoryBytes, right.memoryBytes),
    ephemeralStorageBytes: how(left.ephemeralStorageBytes, right.ephemeralStorageBytes),
    scalars: combineScalars(left.scalars, right.scalars, how),
  };
}

function combineScalars(left: Resources["scalars"], right: Resources["scalars"], how: (a: number, b: number) => number): Resources["scalars"] {
  if (right === undefined) return left;
  const sums = new Map(left);
  for (const [name, amount] of right) sums.set(name, how(sums.get(name) ?? 0, amount));
  return sums;
}

/** Templates repeat the same few texts thousands of times. */
const parsed = new Map<string, number>();
const parsedLimit = 10_000;

function amountOf(name: string, value: string | number): number {
  const key = name === "cpu" ? `m${value}` : String(value);
  let amount = parsed.get(key);
  if (amount === undefined) {
    amount = name === "cpu" ? quantityMilli(value) : quantityValue(value);
    if (parsed.size >= parsedLimit) parsed.clear();
    parsed.set(key, amount);
  }
  return amount;
}

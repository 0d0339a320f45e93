import { addQuantities, compareQuantities, quantityOf } from "../../../apimachinery/quantity.ts";
import { consumptionOf } from "./capacity.ts";
import { deviceKey } from "./device-pools.ts";
import { selects } from "./device-selector.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Quantity } from "../../../apimachinery/quantity.ts";
import type {
  CapacityRequirements,
  DeviceClass,
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceToleration,
  ResourceClaim,
} from "../../../api/resource-v1/types.ts";
import type { Consumption } from "./capacity.ts";
import type { DevicePool, PoolDevice } from "./device-pools.ts";
import type { DeviceUses } from "./device-uses.ts";

/** Devices chosen for a claim. */
export interface ClaimAllocation {
  readonly claim: DeepReadonly<ResourceClaim>;
  readonly picks: readonly Pick[];
}
export interface Pick {
  /** `main`, or `main/sub` for a choice of `firstAvailable`. */
  readonly request: string;
  readonly found: PoolDevice;
  readonly isAdmin: boolean;
  readonly tolerations: readonly DeepReadonly<DeviceToleration>[];
  /** Position among the alternatives of `firstAvailable`. */
  readonly rank: number | undefined;
  readonly className: string;
  /** Of a device that others may share; undefined for one that is taken whole. */
  readonly consumed: Consumption | undefined;
}

/**
 * Finds devices on a node for all claims together, the first that fit in the order of pools and devices, going back where a choice leads
 * nowhere (KEP-4381). Undefined when there is no way; an error when a selector cannot be evaluated or a pool is being changed.
 */
export function allocate(
  claims: readonly DeepReadonly<ResourceClaim>[],
  world: DeviceWorld,
): readonly ClaimAllocation[] | { readonly error: string } | undefined {
  try {
    const search = new Search(world);
    const slots = claims.flatMap((claim) => (claim.spec?.devices?.requests ?? []).map((request) => ({ claim, request })));
    const picks = search.solve(slots, 0);
    return picks && claims.map((claim) => ({ claim, picks: picks.filter((pick) => pick.claim === claim) }));
  } catch (error) {
    if (error instanceof AllocationError) return { error: error.message };
    throw error;
  }
}

export interface DeviceWorld {
  readonly pools: readonly DevicePool[];
  readonly classes: (name: string) => DeepReadonly<DeviceClass> | undefined;
  readonly uses: DeviceUses;
}

/** What one request, or one of its alternatives, asks for. */
interface Wanted {
  readonly name: string;
  readonly className: string;
  readonly selectors: readonly DeepReadonly<DeviceSelector>[];
  readonly isAll: boolean;
  readonly count: number;
  readonly isAdmin: boolean;
  readonly tolerations: readonly DeepReadonly<DeviceToleration>[];
  readonly capacity: DeepReadonly<CapacityRequirements> | undefined;
  readonly rank: number | undefined;
}
interface Slot {
  readonly claim: DeepReadonly<ResourceClaim>;
  readonly request: DeepReadonly<DeviceRequest>;
}
type Chosen = Pick & { readonly claim: DeepReadonly<ResourceClaim> };

class AllocationError extends Error {}

class Search {
  readonly #world: DeviceWorld;
  readonly #chosen: Chosen[] = [];

  constructor(world: DeviceWorld) {
    this.#world = world;
  }

  solve(slots: readonly Slot[], index: number): readonly Chosen[] | undefined {
    const slot = slots[index];
    if (slot === undefined) return [...this.#chosen];
    for (const wanted of alternatives(slot.request)) {
      const selected = this.#candidates(slot, wanted);
      // All of them means that none may be left out; otherwise those that are not to be had need no thought.
      const candidates = wanted.isAll ? selected : selected.filter((found) => this.#isFree(found, wanted));
      const count = wanted.isAll ? candidates.length : wanted.count;
      if (count === 0) continue;
      const found = this.#choose({ slot, wanted, candidates, count }, 0, () => this.solve(slots, index + 1));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #choose(
    step: { slot: Slot; wanted: Wanted; candidates: readonly PoolDevice[]; count: number },
    from: number,
    next: () => readonly Chosen[] | undefined,
  ): readonly Chosen[] | undefined {
    const { slot, wanted, candidates, count } = step;
    if (count === 0) return next();
    const isAnyShared = candidates.some(isShared);
    for (let index = from; index < candidates.length; index++) {
      if (!isAnyShared && candidates.length - index < count) return undefined;
      const found = candidates[index]!;
      if (this.#canTake(found, slot, wanted)) {
        const { name, isAdmin, tolerations, rank, className, capacity } = wanted;
        const consumed = isShared(found) ? consumptionOf(found.device, capacity) : undefined;
        this.#chosen.push({ claim: slot.claim, request: name, found, isAdmin, tolerations, rank, className, consumed });
        const from = isShared(found) && !wanted.isAll ? index : index + 1;
        const solution = this.#choose({ ...step, count: count - 1 }, from, next);
        if (solution !== undefined) return solution;
        this.#chosen.pop();
      }
      if (wanted.isAll) return undefined;
    }
    return undefined;
  }

  #candidates({ claim, request }: Slot, wanted: Wanted): readonly PoolDevice[] {
    const where = `claim ${claim.metadata.namespace}/${claim.metadata.name}`;
    const ofClass = this.#world.classes(wanted.className)?.spec?.selectors ?? [];
    const candidates = this.#world.pools.flatMap((pool) => {
      if (pool.isIncomplete) {
        if (wanted.isAll)
          throw new AllocationError(
            `${where}, request ${request.name}: asks for all devices, but resource pool ${pool.driver}/${pool.name} is currently being updated`,
          );
        return [];
      }
      return pool.devices.filter((device) => {
        const byClass = selects(ofClass, device);
        const answer = byClass === true ? selects(wanted.selectors, device) : byClass;
        if (typeof answer === "object") throw new AllocationError(`${where}: ${answer.error}`);
        return answer;
      });
    });
    // Those that need nobody to attach them first come first.
    return candidates.some(isAttached) ? [...candidates.filter((one) => !isAttached(one)), ...candidates.filter(isAttached)] : candidates;
  }

  /** Whether the device is there for a request, as far as earlier allocations go. */
  #isFree(found: PoolDevice, wanted: Wanted): boolean {
    if (!wanted.isAdmin && this.#world.uses.isTaken(keyOf(found))) return false;
    const isRepelled = found.taints.some(
      (taint) => (taint.effect === "NoSchedule" || taint.effect === "NoExecute") && !wanted.tolerations.some((one) => tolerates(one, taint)),
    );
    return !isRepelled && consumptionOf(found.device, wanted.capacity) !== undefined;
  }

  #canTake(found: PoolDevice, { claim }: Slot, wanted: Wanted): boolean {
    if (!this.#isFree(found, wanted)) return false;
    const key = keyOf(found);
    const others = this.#chosen.filter((one) => keyOf(one.found) === key);
    if (wanted.isAdmin && others.some((one) => one.claim === claim && one.request === wanted.name)) return false;
    if (!wanted.isAdmin && !(isShared(found) ? this.#hasCapacity(found, wanted, others) : others.every(({ isAdmin }) => isAdmin))) return false;
    const concerned = (claim.spec?.devices?.constraints ?? []).filter(({ requests = [] }) => requests.length === 0 || isNamed(requests, wanted.name));
    return concerned.every((constraint) => this.#keeps(constraint, found, claim)) && this.#hasCounters(found);
  }

  #keeps({ requests = [], matchAttribute, distinctAttribute }: DeepReadonly<DeviceConstraint>, found: PoolDevice, claim: DeepReadonly<ResourceClaim>): boolean {
    const others = this.#chosen.filter((one) => one.claim === claim && (requests.length === 0 || isNamed(requests, one.request)));
    const name = matchAttribute ?? distinctAttribute;
    if (name === undefined) return true;
    const value = attributeOf(found, name);
    if (value === undefined) return false;
    return others.every((one) => (attributeOf(one.found, name) === value) === (matchAttribute !== undefined));
  }

  /** Whether those who share a device leave enough of it. */
  #hasCapacity(found: PoolDevice, wanted: Wanted, others: readonly Chosen[]): boolean {
    const shares = consumptionOf(found.device, wanted.capacity) ?? [];
    const used = this.#world.uses.shared(keyOf(found));
    for (const [name, share] of shares) {
      let total = addQuantities(share, used?.get(name) ?? "0");
      for (const { consumed, isAdmin } of others) if (!isAdmin) total = addQuantities(total, consumed?.get(name) ?? "0");
      if (compareQuantities(total, found.device.capacity![name]!.value) > 0) return false;
    }
    return true;
  }

  /** Whether the pool's shared counters have enough left besides what devices in use consume. */
  #hasCounters(found: PoolDevice): boolean {
    const pool = this.#world.pools.find(({ driver, name }) => driver === found.driver && name === found.pool)!;
    const { uses } = this.#world;
    const isUsed = (one: PoolDevice) =>
      one === found || uses.isTaken(keyOf(one)) || uses.shared(keyOf(one)) !== undefined || this.#chosen.some((pick) => pick.found === one && !pick.isAdmin);
    const users = pool.devices.filter(isUsed);
    return (found.device.consumesCounters ?? []).every(({ counterSet, counters = {} }) => {
      const available = pool.counters.get(counterSet);
      return Object.keys(counters).every((name) => {
        const used = users.reduce<Quantity>(
          (sum, { device }) => {
            const own = device.consumesCounters?.find((one) => one.counterSet === counterSet)?.counters?.[name]?.value;
            return own === undefined ? sum : addQuantities(sum, own);
          },
          quantityOf(0, "decimalSI"),
        );
        return available?.[name] !== undefined && compareQuantities(used, available[name].value) <= 0;
      });
    });
  }
}

function alternatives({ name, exactly, firstAvailable }: DeepReadonly<DeviceRequest>): readonly Wanted[] {
  const one = (own: string, spec: Omit<NonNullable<typeof exactly>, never>, rank: number | undefined): Wanted => ({
    name: own,
    className: spec.deviceClassName,
    selectors: spec.selectors ?? [],
    isAll: spec.allocationMode === "All",
    count: spec.count ?? 1,
    isAdmin: spec.adminAccess === true,
    tolerations: spec.tolerations ?? [],
    capacity: spec.capacity,
    rank,
  });
  if (exactly !== undefined) return [one(name, exactly, undefined)];
  return (firstAvailable ?? []).map((sub, index) => one(`${name}/${sub.name}`, sub, index));
}

function isShared({ device }: PoolDevice): boolean {
  return device.allowMultipleAllocations === true;
}

function isAttached({ device }: PoolDevice): boolean {
  return (device.bindingConditions?.length ?? 0) > 0;
}

function keyOf({ driver, pool, device }: PoolDevice): string {
  return deviceKey({ driver, pool, device: device.name });
}

/** A constraint names a request, which means all of its alternatives, or one alternative. */
function isNamed(requests: readonly string[], name: string): boolean {
  return requests.includes(name) || requests.includes(name.split("/")[0]!);
}

function attributeOf({ driver, device }: PoolDevice, qualified: string): unknown {
  const [domain, name] = qualified.split("/") as [string, string];
  const attribute = device.attributes?.[qualified] ?? (domain === driver ? device.attributes?.[name] : undefined);
  return attribute?.string ?? attribute?.int ?? attribute?.bool ?? attribute?.version;
}

function tolerates(
  { key = "", operator = "Equal", value = "", effect = "" }: DeepReadonly<DeviceToleration>,
  taint: { key: string; value?: string; effect: string },
): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || value === (taint.value ?? "");
}

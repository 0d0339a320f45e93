import { nameOf } from "./world.ts";
import type { Node, Pod } from "../../../api/core-v1/types.ts";
import type { Device, DeviceRequest, ResourceClaim, ResourceSlice } from "../../../api/resource-v1/types.ts";
import type { World } from "./world.ts";

/** The one driver, and what its devices say of themselves. */
export const driver = "gpu.example.com";

/** Whether the node has free devices for all claims of the pod at once, by trying every choice. */
export function hasDevices(pod: Pod, node: Node, world: World): boolean {
  const claims = claimsOf(pod, world);
  if (claims.some((claim) => isElsewhere(claim, node))) return false;
  const open = claims.filter(({ status }) => status?.allocation === undefined);
  const wanted = open.flatMap((claim) => requestsOf(claim).map((request) => ({ claim, request })));
  const taken = takenIn(world);
  const free = devicesOf(node, world).filter((device) => !taken.has(keyOf(nameOf(node), device.name)));
  const all = devicesOf(node, world);
  const picks = new Map<ResourceClaim, Device[]>();
  const solve = (index: number, left: readonly Device[]): boolean => {
    const next = wanted[index];
    if (next === undefined) return open.every((claim) => isEven(claim, picks.get(claim) ?? []));
    const { exactly } = next.request;
    const isAsked = (device: Device) => selectsDevice(next.request, device);
    const mine = picks.get(next.claim) ?? [];
    const take = (chosen: readonly Device[]) => {
      picks.set(next.claim, [...mine, ...chosen]);
      const isSolved = solve(
        index + 1,
        left.filter((device) => !chosen.includes(device)),
      );
      picks.set(next.claim, mine);
      return isSolved;
    };
    if (exactly!.allocationMode !== "All") return choices(left.filter(isAsked), exactly!.count ?? 1).some(take);
    // All of them, and at least one; one that is in use cannot be had.
    const asked = all.filter(isAsked);
    return asked.length > 0 && asked.every((device) => left.includes(device)) && take(asked);
  };
  return solve(0, free);
}

/** What is wrong with the devices that were chosen for a claim; undefined when nothing is. */
export function faultOf(
  claim: ResourceClaim,
  chosen: readonly { readonly request: string; readonly device: string }[],
  on: { node: Node; world: World },
): string | undefined {
  const { node, world } = on;
  const devices = new Map(devicesOf(node, world).map((device) => [device.name, device]));
  const taken = takenIn(world);
  const names = chosen.map(({ device }) => device);
  if (new Set(names).size < names.length) return "a device is given twice";
  if (names.some((name) => taken.has(keyOf(nameOf(node), name)))) return "a device is in use";
  for (const request of requestsOf(claim)) {
    const given = chosen.filter((one) => one.request === request.name).map(({ device }) => devices.get(device));
    if (given.some((device) => device === undefined || !selectsDevice(request, device))) return `${request.name} did not ask for that device`;
    const { allocationMode, count = 1 } = request.exactly!;
    const expected = allocationMode === "All" ? [...devices.values()].filter((device) => selectsDevice(request, device)).length : count;
    if (given.length !== expected) return `${request.name} has ${given.length} devices instead of ${expected}`;
  }
  return isEven(
    claim,
    names.map((name) => devices.get(name)!),
  )
    ? undefined
    : "the devices differ in what they should have in common";
}

export function claimsOf({ spec, metadata }: Pod, { deviceClaims }: World): readonly ResourceClaim[] {
  return (spec?.resourceClaims ?? []).map(({ resourceClaimName }) =>
    deviceClaims.find((claim) => claim.metadata.name === resourceClaimName && claim.metadata.namespace === metadata.namespace)!,
  );
}

function isElsewhere({ status }: ResourceClaim, node: Node): boolean {
  const results = status?.allocation?.devices?.results ?? [];
  return results.some(({ pool }) => pool !== nameOf(node));
}

/** Pools are called as their nodes are. */
function takenIn({ deviceClaims }: World): ReadonlySet<string> {
  return new Set(deviceClaims.flatMap(({ status }) => (status?.allocation?.devices?.results ?? []).map(({ pool, device }) => keyOf(pool, device))));
}

const keyOf = (pool: string, device: string) => `${pool}/${device}`;

function devicesOf(node: Node, { slices }: World): readonly Device[] {
  return slices.filter(({ spec }: ResourceSlice) => spec?.nodeName === nameOf(node)).flatMap(({ spec }) => spec?.devices ?? []);
}

const requestsOf = ({ spec }: ResourceClaim): readonly DeviceRequest[] => spec?.devices?.requests ?? [];

/** The generator writes `device.attributes["DRIVER"].NAME == "VALUE"`, and for numbers `>=`. */
function selectsDevice({ exactly }: DeviceRequest, { attributes = {} }: Device): boolean {
  return (exactly?.selectors ?? []).every(({ cel }) => {
    const [, name = "", operator, value = ""] = /\.(\w+) (==|>=) (\S+)$/.exec(cel!.expression)!;
    const attribute = attributes[name];
    return operator === "==" ? attribute?.string === JSON.parse(value) : Number(attribute?.int) >= Number(value);
  });
}

function isEven({ spec }: ResourceClaim, devices: readonly Device[]): boolean {
  return (spec?.devices?.constraints ?? []).every(({ matchAttribute = "" }) => {
    const values = devices.map(({ attributes }) => attributes?.[matchAttribute.split("/")[1]!]?.string);
    return values.every((value) => value !== undefined && value === values[0]);
  });
}

/** Every way to take `count` of them. */
function choices<T>(items: readonly T[], count: number): T[][] {
  if (count === 0) return [[]];
  return items.flatMap((item, index) => choices(items.slice(index + 1), count - 1).map((rest) => [item, ...rest]));
}

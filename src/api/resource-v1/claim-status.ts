/** Rules of a claim's status: what was allocated, for whom, and what drivers report about it. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid, invalidEach, notSupported, required, tooLong, tooMany } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isDns1123Subdomain } from "../../apimachinery/names.ts";
import { parseCidr } from "../../apimachinery/net.ts";
import { validateNodeSelector } from "../core-v1/node-selector.ts";
import { validateConditions } from "../meta/conditions.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { validateConfiguration, validateParameters } from "./configuration.ts";
import { requestNames, validateReferences, validateRequestReference } from "./device-claim.ts";
import { validateDriverReference, validateItems, validateLabelText, validatePoolReference, validateUnique } from "./device-names.ts";
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
} from "./types.ts";

const path = FieldPath.root("status");
const maxConsumers = 256;
const maxResults = 32;
const maxConfigurations = 64;
const maxConditions = 8;
const maxAddresses = 16;

export function validateClaimStatus(claim: ResourceClaim, old: ResourceClaim): FieldError[] {
  const status = claim.status ?? {};
  const { allocation, reservedFor = [], devices = [] } = status;
  const before = old.status ?? {};
  const names = requestNames(claim.spec?.devices ?? {});
  const allocated = new Set((allocation?.devices?.results ?? []).map(deviceKey));
  const key = (consumer: ResourceClaimConsumerReference) => consumer.uid ?? "";
  const known = new Set((before.reservedFor ?? []).map(key));
  const isLeaving = claim.metadata.deletionTimestamp !== undefined;
  const isGrowing = isLeaving && reservedFor.some((consumer) => !known.has(key(consumer)));
  const isSettled = before.allocation !== undefined && allocation !== undefined;
  const isChanged = isSettled && !isSemanticallyEqual("api.resource.v1.AllocationResult", allocation, before.allocation);
  return [
    ...validateItems(reservedFor, maxConsumers, validateConsumer, path.child("reservedFor")),
    ...validateItems(devices, Number.POSITIVE_INFINITY, (device, at) => validateDeviceStatus(device, allocated, at), path.child("devices")),
    ...(reservedFor.length > 0 && allocation === undefined ? [forbidden(path.child("reservedFor"), "may not be specified when `allocated` is not set")] : []),
    ...(isGrowing ? [forbidden(path.child("reservedFor"), "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set")] : []),
    ...(allocation === undefined || isSettled ? [] : validateAllocation(allocation, names, path.child("allocation"))),
    // Rules of the declarative kind come after all others.
    ...(allocation === undefined || isSettled ? [] : validateResultNames(allocation, path.child("allocation", "devices", "results"))),
    ...validateUnique(reservedFor, key, path.child("reservedFor"), inOrder),
    ...validateUnique(devices, deviceKey, path.child("devices"), deviceId),
    ...(isChanged ? [invalid(path.child("allocation"), undefined, "field cannot be modified once set")] : []),
  ];
}

function validateConsumer({ apiGroup = "", ...consumer }: ResourceClaimConsumerReference, at: FieldPath): FieldError[] {
  return [
    ...(apiGroup === "" ? [] : invalidEach(at.child("apiGroup"), apiGroup, isDns1123Subdomain(apiGroup))),
    ...(["resource", "name", "uid"] as const).filter((field) => !consumer[field]).map((field) => required(at.child(field))),
  ];
}

function inOrder({ apiGroup, resource, name, uid }: ResourceClaimConsumerReference): unknown {
  return { ...(apiGroup && { apiGroup }), resource, name, uid };
}

function validateAllocation({ devices = {}, nodeSelector }: AllocationResult, names: ReadonlySet<string>, at: FieldPath): FieldError[] {
  const devicesPath = at.child("devices");
  return [
    ...validateItems(devices.results, maxResults, (result, itemPath) => validateResult(result, names, itemPath), devicesPath.child("results")),
    ...validateItems(
      devices.config,
      maxConfigurations,
      (configuration, itemPath) => validateAllocatedConfiguration(configuration, names, itemPath),
      devicesPath.child("config"),
    ),
    ...(nodeSelector === undefined ? [] : validateNodeSelector(nodeSelector, at.child("nodeSelector"))),
  ];
}

function validateResult({ request = "", device = "" }: DeviceRequestAllocationResult, names: ReadonlySet<string>, at: FieldPath): FieldError[] {
  return [...validateRequestReference(request, names, at.child("request")), ...validateLabelText(device, at.child("device"))];
}

function validateResultNames({ devices }: AllocationResult, at: FieldPath): FieldError[] {
  return (devices?.results ?? []).flatMap(({ driver = "", pool = "" }, index) => [
    ...validateDriverReference(driver, at.index(index).child("driver")),
    ...validatePoolReference(pool, at.index(index).child("pool")),
  ]);
}

const sources = ["FromClaim", "FromClass"];

function validateAllocatedConfiguration(configuration: DeviceAllocationConfiguration, names: ReadonlySet<string>, at: FieldPath): FieldError[] {
  const { source = "", requests } = configuration;
  return [
    ...(source === "" ? [required(at.child("source"))] : sources.includes(source) ? [] : [notSupported(at.child("source"), source, sources)]),
    ...validateReferences(requests, names, at),
    ...validateConfiguration(configuration, at),
  ];
}

type DeviceName = Pick<AllocatedDeviceStatus, "device" | "driver" | "pool" | "shareID">;

/** One text per device. */
export function deviceKey({ driver, pool, device, shareID }: DeviceName): string {
  return [driver, pool, device, shareID ?? ""].join("\n");
}

function deviceId({ driver = "", pool = "", device = "", shareID = "" }: DeviceName): unknown {
  return { Driver: driver, Pool: pool, Device: device, ShareID: shareID };
}

function validateDeviceStatus(status: AllocatedDeviceStatus, allocated: ReadonlySet<string>, at: FieldPath): FieldError[] {
  const { driver = "", pool = "", device = "", conditions = [], data, networkData } = status;
  return [
    ...validateDriverReference(driver, at.child("driver")),
    ...validatePoolReference(pool, at.child("pool")),
    ...validateLabelText(device, at.child("device")),
    ...(allocated.has(deviceKey(status)) ? [] : [invalid(at, deviceId(status), "must be an allocated device in the claim")]),
    ...(conditions.length > maxConditions ? [tooMany(at.child("conditions"), conditions.length, maxConditions)] : []),
    ...validateConditions(conditions, at.child("conditions")),
    ...(data === undefined ? [] : validateParameters(data, at.child("data"))),
    ...(networkData === undefined ? [] : validateNetwork(networkData, at.child("networkData"))),
  ];
}

function validateNetwork({ interfaceName = "", hardwareAddress = "", ips = [] }: NetworkDeviceData, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (byteLength(interfaceName) > 256) errors.push(tooLong(at.child("interfaceName"), 256));
  if (byteLength(hardwareAddress) > 128) errors.push(tooLong(at.child("hardwareAddress"), 128));
  const rule = (address: string, itemPath: FieldPath) =>
    parseCidr(address, false) === undefined ? [invalid(itemPath, address, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")] : [];
  return [...errors, ...validateItems(ips, maxAddresses, rule, at.child("ips")), ...validateUnique(ips, (address) => address, at.child("ips"))];
}

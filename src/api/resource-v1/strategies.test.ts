import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { RuleContext } from "../strategy.ts";
import { deviceClasses } from "./deviceclass.ts";
import { resourceClaims } from "./resourceclaim.ts";
import { resourceSlices } from "./resourceslice.ts";
import type { DeviceClaim, Device, ResourceClaim } from "./types.ts";

const context = { nowMs: 0, namespace: "n", isEnabled: () => false, find: () => undefined } as unknown as RuleContext;
const metadata = { name: "x" };

function made(devices: DeviceClaim): ResourceClaim {
  const claim: ResourceClaim = { metadata, spec: { devices } };
  resourceClaims.defaults!(claim, 0);
  return claim;
}

test("faults of claims", () => {
  const request = { name: "r", exactly: { deviceClassName: "c" } };
  const table: [claim: DeviceClaim, faults: string[]][] = [
    [{ requests: [request] }, []],
    [{ requests: [{ name: "r" }] }, ["spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"]],
    [
      { requests: [{ ...request, exactly: { ...request.exactly, allocationMode: "All", count: 2 } }] },
      ["spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"],
    ],
    [
      { requests: [request], constraints: [{ matchAttribute: "a" }] },
      ['spec.devices.constraints[0].matchAttribute: Invalid value: "a": a fully qualified name must be a domain and a name separated by a slash'],
    ],
    [
      { requests: [request], config: [{ opaque: { driver: "d", parameters: [] as never } }] },
      ['spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object'],
    ],
  ];
  for (const [claim, expected] of table)
    assert.deepEqual(resourceClaims.create.validate!(made(claim), context).map(fieldErrorText), expected, JSON.stringify(claim));
});

test("reports go with the devices that they are about", () => {
  const device = { driver: "d", pool: "p", device: "x" };
  const old: ResourceClaim = { ...made({}), status: { allocation: { devices: { results: [{ request: "r", ...device }] } }, devices: [device] } };
  const claim: ResourceClaim = { ...made({}), status: { devices: [device] } };
  resourceClaims.status!.prepare!(claim, old, context);
  assert.deepEqual(claim.status, { devices: [] });
});

test("faults of slices and classes", () => {
  const slice = (device: Partial<Device>) => ({
    metadata,
    spec: { driver: "d", nodeName: "n", pool: { name: "p", generation: 1, resourceSliceCount: 1 }, devices: [{ name: "a", ...device }] },
  });
  const faults = (device: Partial<Device>) => resourceSlices.create.validate!(slice(device), context).map(fieldErrorText);
  assert.deepEqual(faults({ attributes: { v: { version: "1.2.3" } } }), []);
  assert.deepEqual(faults({ attributes: { v: { version: "1.2" } } }), [
    'spec.devices[0].attributes[v].version: Invalid value: "1.2": must be a string compatible with semver.org spec 2.0.0',
  ]);
  assert.deepEqual(faults({ capacity: { m: { value: "1", requestPolicy: { default: "1" } } } }), [
    "spec.devices[0].capacity[m].requestPolicy: Forbidden: allowMultipleAllocations must be true",
  ]);
  assert.deepEqual(deviceClasses.create.validate!({ metadata, spec: { extendedResourceName: "kubernetes.io/x" } }, context).map(fieldErrorText), [
    'spec.extendedResourceName: Invalid value: "kubernetes.io/x": must not have "kubernetes.io/" domain',
  ]);
});

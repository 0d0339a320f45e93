import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { claimConversion, claimTemplateConversion, sliceConversion } from "./conversion.ts";

const old = "resource.k8s.io/v1beta1";
const stored = "resource.k8s.io/v1";

test("resource v1beta1: claims and templates there and back", () => {
  const table: [old: object, stored: object][] = [
    [
      { name: "r", deviceClassName: "c", count: 2 },
      { name: "r", exactly: { deviceClassName: "c", count: 2 } },
    ],
    [
      { name: "r", firstAvailable: [{ name: "a", deviceClassName: "c" }] },
      { name: "r", firstAvailable: [{ name: "a", deviceClassName: "c" }] },
    ],
    // Both at once stay both: validation refuses them.
    [
      { name: "r", deviceClassName: "c", firstAvailable: [{ name: "a" }] },
      { name: "r", exactly: { deviceClassName: "c" }, firstAvailable: [{ name: "a" }] },
    ],
    // A request that says nothing is an exact one: it is defaulted as such.
    [{ name: "r" }, { name: "r", exactly: {} }],
  ];
  for (const [oldRequest, storedRequest] of table) {
    const claim = (apiVersion: string, request: object) => ({
      apiVersion,
      kind: "ResourceClaim",
      metadata: { name: "a" },
      spec: { devices: { requests: [request] } },
    });
    deepEqual(claimConversion.toStored(claim(old, oldRequest)), claim(stored, storedRequest));
    deepEqual(claimConversion.fromStored(claim(stored, storedRequest)), claim(old, oldRequest));
    const template = (apiVersion: string, request: object) => ({
      apiVersion,
      kind: "ResourceClaimTemplate",
      metadata: { name: "a" },
      spec: { metadata: {}, spec: { devices: { requests: [request] } } },
    });
    deepEqual(claimTemplateConversion.toStored(template(old, oldRequest)), template(stored, storedRequest));
    deepEqual(claimTemplateConversion.fromStored(template(stored, storedRequest)), template(old, oldRequest));
  }
  deepEqual(claimConversion.toStored({ apiVersion: old, kind: "ResourceClaim", metadata: {} }), { apiVersion: stored, kind: "ResourceClaim", metadata: {} });
});

test("resource v1beta1: devices of slices", () => {
  const slice = (apiVersion: string, device: object) => ({
    apiVersion,
    kind: "ResourceSlice",
    metadata: { name: "a" },
    spec: { driver: "d", devices: [device] },
  });
  deepEqual(
    sliceConversion.toStored(slice(old, { name: "x", basic: { attributes: { a: { string: "b" } } } })),
    slice(stored, { name: "x", attributes: { a: { string: "b" } } }),
  );
  deepEqual(sliceConversion.fromStored(slice(stored, { name: "x", attributes: {} })), slice(old, { name: "x", basic: { attributes: {} } }));
  deepEqual(sliceConversion.toStored(slice(old, { name: "x" })), slice(stored, { name: "x" }));
});

import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { NodeInfo } from "../../state/node-info.ts";
import { podInfoOf } from "../../state/pod-info.ts";
import { clusterOf, listerOf, nodeOf, podOf, verdicts } from "../../test-support/cluster.ts";
import { isHopeless, readiness } from "./binding-conditions.ts";
import { consumptionOf } from "./capacity.ts";
import { usesOf } from "./device-uses.ts";
import { extendedClaim, servedResources } from "./extended-resources.ts";
import type { CapacityRequestPolicy, ResourceClaim } from "../../../api/resource-v1/types.ts";

const range = { default: "1G", validRange: { min: "1G", step: "1G", max: "8G" } };
const shares: { name: string; policy?: CapacityRequestPolicy; asked?: string; expect: string | undefined }[] = [
  { name: "all of it without a policy", expect: "10G" },
  { name: "what is asked for", asked: "4G", expect: "4G" },
  { name: "more than there is", asked: "11G", expect: undefined },
  { name: "the default", policy: range, expect: "1G" },
  { name: "up to a step", policy: range, asked: "2500M", expect: "3G" },
  { name: "up to the least", policy: range, asked: "5M", expect: "1G" },
  { name: "beyond the most", policy: range, asked: "8100M", expect: undefined },
  { name: "up to a valid value", policy: { default: "2G", validValues: ["2G", "8G"] }, asked: "3G", expect: "8G" },
  { name: "beyond all valid values", policy: { default: "2G", validValues: ["2G", "8G"] }, asked: "9G", expect: undefined },
];
for (const { name, policy, asked, expect } of shares)
  test(`a share of a device: ${name}`, () => {
    const device = { name: "nic", capacity: { bandwidth: { value: "10G", ...(policy !== undefined && { requestPolicy: policy }) } } };
    equal(consumptionOf(device, asked === undefined ? undefined : { requests: { bandwidth: asked } })?.get("bandwidth")?.text, expect);
  });

test("a share of a device: of a capacity that it does not have", () => {
  equal(consumptionOf({ name: "nic" }, { requests: { bandwidth: "1" } }), undefined);
});

test("uses: shares are summed up, administrators do not count", () => {
  const at = { request: "r", driver: "d", pool: "p" };
  const uses = usesOf([
    { ...at, device: "whole" },
    { ...at, device: "admin", adminAccess: true },
    { ...at, device: "nic", shareID: "1", consumedCapacity: { bandwidth: "1G" } },
    { ...at, device: "nic", shareID: "2", consumedCapacity: { bandwidth: "2500M" } },
  ]);
  deepEqual(
    ["whole", "admin", "nic"].map((name) => uses.isTaken(`d/p/${name}`)),
    [true, false, false],
  );
  equal(uses.shared("d/p/nic")?.get("bandwidth")?.text, "3500M");
});

const gpuClass = { metadata: { name: "gpu" }, spec: { extendedResourceName: "example.com/gpu" } };

test("extended resources: the claim asks for what the node leaves to devices, each container by itself", () => {
  const pod = podOf("p", { containers: [] });
  pod.spec!.initContainers = [{ name: "i", image: "img", resources: { requests: { "example.com/gpu": "1" } } }];
  pod.spec!.containers = [
    { name: "c", image: "img", resources: { requests: { cpu: "1", "example.com/gpu": "2", "deviceclass.resource.kubernetes.io/gpu": "1" } } },
  ];
  const info = podInfoOf(pod);
  const served = servedResources(info, listerOf(gpuClass));
  const made = extendedClaim(info, served, NodeInfo.of(nodeOf("a")))!;
  deepEqual(
    made.mappings.map(({ containerName, resourceName, requestName }) => `${containerName} ${resourceName} ${requestName}`),
    ["i example.com/gpu container-0-request-0", "c deviceclass.resource.kubernetes.io/gpu container-1-request-0", "c example.com/gpu container-1-request-1"],
  );
  deepEqual(
    made.claim.spec?.devices?.requests?.map(({ exactly }) => exactly?.count),
    [1, 1, 2],
  );
  const own = nodeOf("b", { allocatable: { "example.com/gpu": "4", "deviceclass.resource.kubernetes.io/gpu": "1" } });
  equal(extendedClaim(info, served, NodeInfo.of(own)), undefined);
});

test("extended resources: of two classes the newer one serves", () => {
  const info = podInfoOf(podOf("p", { requests: { "example.com/gpu": "1" } }));
  const older = { ...gpuClass, metadata: { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" } };
  const newer = { ...gpuClass, metadata: { name: "b", creationTimestamp: "2026-01-02T00:00:00Z" } };
  equal(servedResources(info, listerOf(older, newer)).get("example.com/gpu"), "b");
});

test("extended resources: a node without its own is left to devices, one with is not", () => {
  const nodes = [nodeOf("a"), nodeOf("b", { allocatable: { cpu: "4", memory: "8Gi", pods: "110", "example.com/gpu": "1" } })];
  const pod = podOf("p", { requests: { "example.com/gpu": "2" } });
  const withClass = clusterOf(nodes, { deviceClasses: listerOf(gpuClass) });
  deepEqual(verdicts("NodeResourcesFit", withClass, pod), { a: "fits", b: "unresolvable: Insufficient example.com/gpu" });
  deepEqual(verdicts("DynamicResources", withClass, pod), { a: "unresolvable: cannot allocate all claims", b: "fits" });
  deepEqual(verdicts("NodeResourcesFit", clusterOf(nodes), pod).a, "unresolvable: Insufficient example.com/gpu");
});

test("binding conditions: all have to be true, one failure is enough, and time runs out", () => {
  const claim = (...types: string[]): ResourceClaim => ({
    metadata: { name: "c" },
    status: {
      allocation: {
        allocationTimestamp: "2026-01-01T00:00:00Z",
        devices: { results: [{ request: "r", driver: "d", pool: "p", device: "x", bindingConditions: ["A", "B"], bindingFailureConditions: ["F"] }] },
      },
      devices: [
        {
          driver: "d",
          pool: "p",
          device: "x",
          conditions: types.map((type) => ({ type, status: "True", reason: "R", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" })),
        },
      ],
    },
  });
  equal(readiness(claim("A")), "waiting");
  equal(readiness(claim("A", "B")), "ready");
  deepEqual(readiness(claim("A", "B", "F")), { failure: "device d/p/x has condition F" });
  const startMs = Date.parse("2026-01-01T00:00:00Z");
  deepEqual(
    [599_000, 601_000].map((afterMs) => isHopeless(claim("A"), startMs + afterMs, 600_000)),
    [false, true],
  );
  equal(isHopeless(claim("A", "B"), startMs + 601_000, 600_000), false);
});

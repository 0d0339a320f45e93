import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { podInfoOf } from "../../state/pod-info.ts";
import { clusterOf, listerOf, nodeOf, pluginOf, podOf, verdicts } from "../../test-support/cluster.ts";
import { allocate } from "./allocate.ts";
import { poolsFor } from "./device-pools.ts";
import { NodeInfo } from "../../state/node-info.ts";
import type { Device, DeviceClaim, DeviceTaintRule, ExactDeviceRequest, ResourceClaim, ResourceSlice } from "../../../api/resource-v1/types.ts";

const gpu = { metadata: { name: "gpu" }, spec: { selectors: [{ cel: { expression: 'device.driver == "d"' } }] } };
const slice = (devices: Device[], more: Partial<NonNullable<ResourceSlice["spec"]>> = {}): ResourceSlice => ({
  metadata: { name: "s" },
  spec: { driver: "d", pool: { name: "a", generation: 1, resourceSliceCount: 1 }, nodeName: "a", devices, ...more },
});
const claim = (name: string, devices: DeviceClaim): ResourceClaim => ({ metadata: { name, namespace: "default", uid: name }, spec: { devices } });
const exactly = (name: string, more: Partial<ExactDeviceRequest> = {}) => ({ name, exactly: { deviceClassName: "gpu", ...more } });
const cel = (expression: string) => [{ cel: { expression } }];
const model = (name: string, value: string): Device => ({ name, attributes: { model: { string: value } } });
const shared = (name: string, value: string): Device => ({ name, allowMultipleAllocations: true, capacity: { bandwidth: { value } } });
const tainted: Device = { name: "x", taints: [{ key: "k", effect: "NoSchedule" }] };

const cases: {
  name: string;
  slices: ResourceSlice[];
  devices: DeviceClaim;
  rules?: DeviceTaintRule[];
  taken?: string[];
  expect: string[] | string | undefined;
}[] = [
  { name: "the first free device", slices: [slice([{ name: "x" }, { name: "y" }])], devices: { requests: [exactly("r")] }, taken: ["d/a/x"], expect: ["r=y"] },
  { name: "none left", slices: [slice([{ name: "x" }])], devices: { requests: [exactly("r")] }, taken: ["d/a/x"], expect: undefined },
  {
    name: "several",
    slices: [slice([{ name: "x" }, { name: "y" }, { name: "z" }])],
    devices: { requests: [exactly("r", { count: 2 })] },
    expect: ["r=x", "r=y"],
  },
  { name: "all", slices: [slice([{ name: "x" }, { name: "y" }])], devices: { requests: [exactly("r", { allocationMode: "All" })] }, expect: ["r=x", "r=y"] },
  {
    name: "all, but one is in use",
    slices: [slice([{ name: "x" }, { name: "y" }])],
    devices: { requests: [exactly("r", { allocationMode: "All" })] },
    taken: ["d/a/y"],
    expect: undefined,
  },
  {
    name: "for administrators devices in use too",
    slices: [slice([{ name: "x" }])],
    devices: { requests: [exactly("r", { adminAccess: true })] },
    taken: ["d/a/x"],
    expect: ["r=x"],
  },
  {
    name: "selected",
    slices: [slice([model("x", "1"), model("y", "2")])],
    devices: { requests: [exactly("r", { selectors: cel('device.attributes["d"].model == "2"') })] },
    expect: ["r=y"],
  },
  {
    name: "a selector that fails",
    slices: [slice([{ name: "x" }])],
    devices: { requests: [exactly("r", { selectors: cel('device.attributes["d"].speed > 1') })] },
    expect:
      "claim default/c: selector #0 on device d/a/x: CEL runtime error: no such key: speed. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields",
  },
  {
    name: "of one model, which takes going back",
    slices: [slice([model("x", "1"), model("y", "2"), model("z", "2")])],
    devices: { requests: [exactly("r", { count: 2 })], constraints: [{ matchAttribute: "d/model" }] },
    expect: ["r=y", "r=z"],
  },
  {
    name: "the first alternative that is there",
    slices: [slice([model("x", "1")])],
    devices: {
      requests: [
        {
          name: "r",
          firstAvailable: [
            { name: "best", deviceClassName: "gpu", selectors: cel('device.attributes["d"].model == "9"') },
            { name: "any", deviceClassName: "gpu" },
          ],
        },
      ],
    },
    expect: ["r/any=x"],
  },
  { name: "not tainted ones", slices: [slice([tainted, { name: "y" }])], devices: { requests: [exactly("r")] }, expect: ["r=y"] },
  {
    name: "unless they are tolerated",
    slices: [slice([tainted])],
    devices: { requests: [exactly("r", { tolerations: [{ operator: "Exists" }] })] },
    expect: ["r=x"],
  },
  {
    name: "nor those that a rule taints",
    slices: [slice([{ name: "x" }])],
    devices: { requests: [exactly("r")] },
    rules: [{ metadata: { name: "rule" }, spec: { deviceSelector: { device: "x" }, taint: { key: "k", effect: "NoExecute" } } }],
    expect: undefined,
  },
  {
    name: "of the newest generation",
    slices: [slice([{ name: "old" }]), slice([{ name: "new" }], { pool: { name: "a", generation: 2, resourceSliceCount: 1 } })],
    devices: { requests: [exactly("r")] },
    expect: ["r=new"],
  },
  {
    name: "not of a pool that is being changed",
    slices: [slice([{ name: "x" }], { pool: { name: "a", generation: 1, resourceSliceCount: 2 } })],
    devices: { requests: [exactly("r", { allocationMode: "All" })] },
    expect: "claim default/c, request r: asks for all devices, but resource pool d/a is currently being updated",
  },
  {
    name: "as far as shared counters go",
    slices: [
      slice(
        ["x", "y"].map((name) => ({ name, consumesCounters: [{ counterSet: "s", counters: { memory: { value: "6Gi" } } }] })),
        {
          sharedCounters: [{ name: "s", counters: { memory: { value: "10Gi" } } }],
        },
      ),
    ],
    devices: { requests: [exactly("r", { count: 2 })] },
    expect: undefined,
  },
  {
    name: "one device for two that share it",
    slices: [slice([shared("x", "10G")])],
    devices: { requests: [exactly("r", { count: 2, capacity: { requests: { bandwidth: "5G" } } })] },
    expect: ["r=x", "r=x"],
  },
  {
    name: "not more than there is of a shared device",
    slices: [slice([shared("x", "10G")])],
    devices: { requests: [exactly("r", { count: 2, capacity: { requests: { bandwidth: "6G" } } })] },
    expect: undefined,
  },
  {
    name: "those that need nobody to attach them first",
    slices: [slice([{ name: "x", bindingConditions: ["Attached"], bindingFailureConditions: ["Broken"] }, { name: "y" }])],
    devices: { requests: [exactly("r")] },
    expect: ["r=y"],
  },
];
for (const { name, slices, devices, rules = [], taken = [], expect } of cases)
  test(`devices: ${name}`, () => {
    const pools = poolsFor(NodeInfo.of(nodeOf("a")), slices, rules);
    const answer = allocate([claim("c", devices)], {
      pools,
      classes: (className) => (className === "gpu" ? gpu : undefined),
      uses: { isTaken: (key) => taken.includes(key), shared: () => undefined },
    });
    const shown =
      answer === undefined
        ? undefined
        : "error" in answer
          ? answer.error
          : answer.flatMap(({ picks }) => picks.map(({ request, found }) => `${request}=${found.device.name}`));
    deepEqual(shown, expect);
  });

const withClaim = podOf("p", { resourceClaims: [{ name: "dev", resourceClaimName: "c" }] });

test("devices: a pod is not queued before its claims are there", () => {
  const refusal = pluginOf("DynamicResources", clusterOf([])).preEnqueue!(podInfoOf(withClaim));
  deepEqual(refusal?.reasons, ['resourceclaim "c" not found']);
  const resourceClaims = listerOf(claim("c", { requests: [exactly("r")] }));
  equal(pluginOf("DynamicResources", clusterOf([], { resourceClaims })).preEnqueue!(podInfoOf(withClaim)), undefined);
});

test("devices: nodes without them, and classes that are missing", () => {
  const objects = { resourceClaims: listerOf(claim("c", { requests: [exactly("r")] })), resourceSlices: listerOf(slice([{ name: "x" }])) };
  const nodes = [nodeOf("a"), nodeOf("b")];
  deepEqual(verdicts("DynamicResources", clusterOf(nodes, { ...objects, deviceClasses: listerOf(gpu) }), withClaim), {
    a: "fits",
    b: "unresolvable: cannot allocate all claims",
  });
  deepEqual(verdicts("DynamicResources", clusterOf(nodes, objects), withClaim), { "*": "unresolvable: request r: device class gpu does not exist" });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Service } from "../api/core-v1/types.ts";
import { planService } from "./plan.ts";
import type { ServicePlan } from "./plan.ts";
import { endpointSlice } from "./testing-objects.ts";
import type { TestEndpoint } from "./testing-objects.ts";

const node = { nodeName: "n1", zone: "a" };
const here: TestEndpoint = { address: "10.244.0.5", nodeName: "n1" };
const there: TestEndpoint = { address: "10.244.1.5", nodeName: "n2" };
const far: TestEndpoint = { address: "10.244.2.5", nodeName: "n3" };
const going = (endpoint: TestEndpoint): TestEndpoint => ({ ...endpoint, conditions: { ready: false, serving: true, terminating: true } });
const unready = (endpoint: TestEndpoint): TestEndpoint => ({ ...endpoint, conditions: { ready: false, serving: false } });
const zoned = (endpoint: TestEndpoint, ...zones: string[]): TestEndpoint => ({ ...endpoint, hints: { forZones: zones.map((name) => ({ name })) } });
const noded = (endpoint: TestEndpoint, ...nodes: string[]): TestEndpoint => ({ ...endpoint, hints: { forNodes: nodes.map((name) => ({ name })) } });

type Row = readonly [title: string, spec: Service["spec"], endpoints: readonly TestEndpoint[], expected: readonly string[]];

/** One line for each frontend: kind, address, port, backends (or what happens without), then `inside` ones, masquerading and extras. */
const rows: readonly Row[] = [
  ["ready endpoints alone", {}, [here, unready(there)], ["clusterIP 10.0.0.1:80 > 10.244.0.5 outsiders"]],
  ["no endpoints", {}, [], ["clusterIP 10.0.0.1:80 > reject outsiders"]],
  ["only unready ones", {}, [unready(here)], ["clusterIP 10.0.0.1:80 > reject outsiders"]],
  ["terminating ones when none is ready", {}, [going(here), going(there), unready(far)], ["clusterIP 10.0.0.1:80 > 10.244.0.5,10.244.1.5 outsiders"]],
  ["internal policy Local", { internalTrafficPolicy: "Local" }, [here, there], ["clusterIP 10.0.0.1:80 > 10.244.0.5 outsiders"]],
  ["internal policy Local without one here", { internalTrafficPolicy: "Local" }, [there], ["clusterIP 10.0.0.1:80 > drop outsiders"]],
  ["internal policy Local, one here terminating", { internalTrafficPolicy: "Local" }, [going(here), there], ["clusterIP 10.0.0.1:80 > 10.244.0.5 outsiders"]],
  ["zones, hinted for ours", {}, [zoned(here, "a"), zoned(there, "b")], ["clusterIP 10.0.0.1:80 > 10.244.0.5 outsiders"]],
  ["zones, one without a hint", {}, [zoned(here, "a"), there], ["clusterIP 10.0.0.1:80 > 10.244.0.5,10.244.1.5 outsiders"]],
  ["zones, none for ours", {}, [zoned(here, "b"), zoned(there, "b")], ["clusterIP 10.0.0.1:80 > 10.244.0.5,10.244.1.5 outsiders"]],
  [
    "nodes before zones",
    {},
    [
      { ...noded(here, "n1"), hints: { forNodes: [{ name: "n1" }], forZones: [{ name: "a" }] } },
      { ...there, hints: { forNodes: [{ name: "n2" }], forZones: [{ name: "a" }] } },
    ],
    ["clusterIP 10.0.0.1:80 > 10.244.0.5 outsiders"],
  ],
  ["affinity", { sessionAffinity: "ClientIP" }, [here], ["clusterIP 10.0.0.1:80 > 10.244.0.5 outsiders sticky=10800"]],
  [
    "node port and external address",
    { type: "NodePort", externalIPs: ["192.0.2.1", "2001:db8::1"], ports: [{ port: 80, nodePort: 30000 }] },
    [here, there],
    [
      "clusterIP 10.0.0.1:80 > 10.244.0.5,10.244.1.5 outsiders",
      "externalIP 192.0.2.1:80 > 10.244.0.5,10.244.1.5 always",
      "nodePort :30000 > 10.244.0.5,10.244.1.5 always",
    ],
  ],
  [
    "external policy Local",
    { type: "NodePort", externalTrafficPolicy: "Local", ports: [{ port: 80, nodePort: 30000 }] },
    [here, there],
    ["clusterIP 10.0.0.1:80 > 10.244.0.5,10.244.1.5 outsiders", "nodePort :30000 > 10.244.0.5 inside 10.244.0.5,10.244.1.5 never"],
  ],
  [
    "external policy Local without one here",
    { type: "NodePort", externalTrafficPolicy: "Local", ports: [{ port: 80, nodePort: 30000 }] },
    [there],
    ["clusterIP 10.0.0.1:80 > 10.244.1.5 outsiders", "nodePort :30000 > drop inside 10.244.1.5 never"],
  ],
];

for (const [title, spec, endpoints, expected] of rows) {
  test(`plan: ${title}`, () => {
    const service: Service = { metadata: { namespace: "default", name: "s" }, spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }], ...spec } };
    assert.deepEqual(lines(planService(service, [endpointSlice(endpoints, 8080)], node)!), expected);
  });
}

test("plan: load balancer addresses, source ranges and the health check", () => {
  const service: Service = {
    metadata: { namespace: "default", name: "lb" },
    spec: {
      type: "LoadBalancer",
      clusterIP: "10.0.0.1",
      externalTrafficPolicy: "Local",
      healthCheckNodePort: 32000,
      loadBalancerSourceRanges: ["198.51.100.7/24", "2001:db8::/32"],
      ports: [{ port: 80 }],
    },
    status: { loadBalancer: { ingress: [{ ip: "203.0.113.1", ipMode: "VIP" }, { ip: "203.0.113.2", ipMode: "Proxy" }, { hostname: "x" }] } },
  };
  const plan = planService(service, [endpointSlice([here, there, going({ address: "10.244.0.6", nodeName: "n1" })], 8080)], node)!;
  assert.deepEqual(lines(plan)[1], "loadBalancerIP 203.0.113.1:80 > 10.244.0.5 inside 10.244.0.5,10.244.1.5 never from=198.51.100.0/24");
  assert.deepEqual(plan.healthCheck, { port: 32000, namespace: "default", name: "lb", localEndpoints: 1 });
});

test("plan: Services that are not this proxy's", () => {
  const slices = [endpointSlice([here], 8080)];
  const metadata = { namespace: "default", name: "s" };
  for (const service of [
    { metadata, spec: { clusterIP: "None", ports: [{ port: 80 }] } },
    { metadata, spec: { type: "ExternalName", externalName: "example.com" } },
    { metadata: { ...metadata, labels: { "service.kubernetes.io/service-proxy-name": "other" } }, spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }] } },
  ])
    assert.equal(planService(service, slices, node), undefined);
});

test("plan: ports match slices by name and protocol, families by address type", () => {
  const service: Service = {
    metadata: { namespace: "default", name: "s" },
    spec: {
      clusterIP: "10.0.0.1",
      clusterIPs: ["10.0.0.1", "fd00::1"],
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 53, protocol: "UDP" },
      ],
    },
  };
  const ports = [
    { name: "a", protocol: "TCP", port: 8080 },
    { name: "b", protocol: "TCP", port: 1 },
    { name: "b", protocol: "UDP", port: 5353 },
  ];
  const slices = [
    { metadata: {}, addressType: "IPv4", ports, endpoints: [{ addresses: ["10.244.0.5"] }] },
    { metadata: {}, addressType: "IPv6", ports, endpoints: [{ addresses: ["FD00:1:0::5"] }] },
  ];
  const backends = planService(service, slices, node)!.frontends.map(
    ({ protocol, address, backends: [backend] }) => `${protocol} ${address} > ${backend?.address} ${backend?.port}`,
  );
  assert.deepEqual(backends, [
    "tcp 10.0.0.1 > 10.244.0.5 8080",
    "udp 10.0.0.1 > 10.244.0.5 5353",
    "tcp fd00::1 > fd00:1::5 8080",
    "udp fd00::1 > fd00:1::5 5353",
  ]);
});

function lines(plan: ServicePlan): string[] {
  return plan.frontends.map((frontend) => {
    const addresses = (backends: readonly { address: string }[]) => backends.map(({ address }) => address).join(",");
    const { insideBackends: inside, affinitySeconds, sourceRanges } = frontend;
    const parts = [
      `${frontend.kind} ${frontend.address}:${frontend.port} >`,
      addresses(frontend.backends) || frontend.ifEmpty,
      ...(inside === undefined ? [] : [`inside ${addresses(inside)}`]),
      frontend.masquerade,
      ...(affinitySeconds === undefined ? [] : [`sticky=${affinitySeconds}`]),
      ...(sourceRanges === undefined ? [] : [`from=${sourceRanges.join(",")}`]),
    ];
    return parts.join(" ");
  });
}

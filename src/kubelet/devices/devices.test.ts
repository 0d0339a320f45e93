import { deepEqual, equal } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { BoundedQueue } from "../../base/bounded-queue.ts";
import type { Container, Pod } from "../../api/core-v1/types.ts";
import type { ResourceClaim } from "../../api/resource-v1/types.ts";
import type { Client } from "../../client/index.ts";
import { serveGrpc } from "../plugins/grpc-server.ts";
import { GrpcConnection } from "../runtime/containerd/grpc.ts";
import { ClaimManager, claimTables } from "./claim-manager.ts";
import { cdiDevices, claimFault, claimNames } from "./claim-plan.ts";
import { chooseDevices } from "./device-choice.ts";
import type { Device } from "./device-choice.ts";
import { DeviceManager } from "./device-manager.ts";
import { devicePluginTables } from "./device-plugin.ts";

const gpu = "example.com/gpu";
const wanting = (name: string, count: string, more: Partial<Container> = {}): Container => ({ name, resources: { limits: { [gpu]: count } }, ...more });
const pod = (uid: string, containers: Container[], initContainers: Container[] = []): Pod => ({
  metadata: { name: uid, uid, namespace: "default" },
  spec: { containers, initContainers },
});
const device = (id: string, isHealthy = true, numaNodes: number[] = []): Device => ({ id, isHealthy, numaNodes });

const choices: [name: string, pod: Pod, devices: Device[], taken: string[], expected: string][] = [
  ["the healthy ones", pod("p", [wanting("c", "1")]), [device("a", false), device("b")], [], '{"c":{"example.com/gpu":["b"]}}'],
  ["not those that others have", pod("p", [wanting("c", "1")]), [device("a"), device("b")], ["a"], '{"c":{"example.com/gpu":["b"]}}'],
  [
    "each container its own",
    pod("p", [wanting("c", "1"), wanting("d", "1")]),
    [device("a"), device("b")],
    [],
    '{"c":{"example.com/gpu":["a"]},"d":{"example.com/gpu":["b"]}}',
  ],
  [
    "again after an init container",
    pod("p", [wanting("c", "1")], [wanting("i", "1")]),
    [device("a")],
    [],
    '{"i":{"example.com/gpu":["a"]},"c":{"example.com/gpu":["a"]}}',
  ],
  [
    "not again after a sidecar",
    pod("p", [wanting("c", "1")], [wanting("s", "1", { restartPolicy: "Always" })]),
    [device("a")],
    [],
    `requested number of devices unavailable for ${gpu}. Requested: 1, Available: 0`,
  ],
  [
    "too many",
    pod("p", [wanting("c", "2")]),
    [device("a"), device("b", false)],
    [],
    `requested number of devices unavailable for ${gpu}. Requested: 2, Available: 1`,
  ],
  ["what no plugin has is no device", pod("p", [{ name: "c", resources: { limits: { "example.com/other": "1", cpu: "1" } } }]), [device("a")], [], "{}"],
];
for (const [name, subject, devices, taken, expected] of choices) {
  test(`devices: ${name}`, () => {
    const answer = chooseDevices({ pod: subject, devices: new Map([[gpu, devices]]), taken: new Map([[gpu, new Set(taken)]]) });
    equal(answer.outcome === "chosen" ? JSON.stringify(answer.allocation) : answer.message, expected);
  });
}

type Message = Record<string, unknown>;

/** A device plugin on a socket; `show` sends a list of its devices. */
async function startPlugin(
  directory: string,
  allocate: (ids: string[]) => Message,
): Promise<AsyncDisposable & { show(devices: Message[]): void; started: string[][] }> {
  const lists = new BoundedQueue<Message>(10);
  const started: string[][] = [];
  const server = await serveGrpc(join(directory, "gpu.sock"), "v1beta1.DevicePlugin", devicePluginTables, {
    ListAndWatch: { messages: ["Empty", "ListAndWatchResponse"], stream: (_request, signal) => lists.drain(signal) },
    Allocate: {
      messages: ["AllocateRequest", "AllocateResponse"],
      answer: async (request) => ({
        container_responses: (request["container_requests"] as { devices_ids: string[] }[]).map(({ devices_ids }) => allocate(devices_ids)),
      }),
    },
    GetPreferredAllocation: {
      messages: ["PreferredAllocationRequest", "PreferredAllocationResponse"],
      answer: async (request) => ({
        container_responses: (request["container_requests"] as { available_deviceIDs: string[]; allocation_size: number }[]).map(
          ({ available_deviceIDs, allocation_size }) => ({ deviceIDs: available_deviceIDs.toReversed().slice(0, allocation_size) }),
        ),
      }),
    },
    PreStartContainer: {
      messages: ["PreStartContainerRequest", "PreStartContainerResponse"],
      answer: async ({ devices_ids }) => (started.push(devices_ids as string[]), {}),
    },
  });
  return { show: (devices) => void lists.offer({ devices }), started, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test("a device plugin registers, its devices are counted and given out, and gone with it", async () => {
  const directory = await mkdtemp(join(tmpdir(), "cor-dev-"));
  const stop = new AbortController();
  let changed = Promise.withResolvers<void>();
  const nextChange = async () => {
    await changed.promise;
    changed = Promise.withResolvers();
  };
  const clock = systemClock();
  const options = { directory, clock, log: silentLog, onChange: () => changed.resolve() };
  const manager = new DeviceManager(options);
  const running = manager.run(stop.signal);
  await manager.serving;
  await using plugin = await startPlugin(directory, (ids) => {
    if (ids.includes("bad")) throw new Error("it is on fire");
    return {
      envs: { GPU: ids.join() },
      mounts: [{ container_path: "/lib", host_path: "/lib", read_only: true }],
      devices: [{ container_path: "/dev/gpu", host_path: "/dev/null", permissions: "rw" }],
      annotations: {},
      cdi_devices: [],
    };
  });
  const connection = new GrpcConnection({ socketPath: join(directory, "kubelet.sock"), clock });
  try {
    const registration = connection.service("v1beta1.Registration", devicePluginTables);
    const register = (request: object) => registration.call("Register", request, { messages: ["RegisterRequest", "Empty"] });
    await register({ version: "v1alpha", endpoint: "gpu.sock", resource_name: gpu }).then(
      () => Promise.reject(new Error("an old version was taken")),
      (error: Error) => equal(error.message, 'requested API version "v1alpha" is not supported by kubelet. Supported version is "v1beta1"'),
    );
    plugin.show([
      { ID: "a", health: "Healthy" },
      { ID: "b", health: "Unhealthy" },
      { ID: "c", health: "Healthy" },
    ]);
    await register({
      version: "v1beta1",
      endpoint: "gpu.sock",
      resource_name: gpu,
      options: { pre_start_required: true, get_preferred_allocation_available: true },
    });
    await nextChange();
    deepEqual(manager.resources(), { capacity: { [gpu]: "3" }, allocatable: { [gpu]: "2" } });
    const one = pod("one", [wanting("c", "1")]);
    equal(manager.admit(one), undefined);
    equal(await manager.prepare(one, stop.signal), undefined);
    // The plugin prefers the last.
    deepEqual(manager.additions("one", "c")?.envs, { GPU: "c" });
    deepEqual(manager.additions("one", "c")?.mounts, [{ container_path: "/lib", host_path: "/lib", readonly: true }]);
    await manager.preStart("one", "c", stop.signal);
    deepEqual(plugin.started, [["c"]]);
    equal(
      manager.admit(pod("two", [wanting("c", "2")]))?.message,
      `Allocate failed due to requested number of devices unavailable for ${gpu}. Requested: 2, Available: 1, which is unexpected`,
    );
    plugin.show([
      { ID: "bad", health: "Healthy" },
      { ID: "c", health: "Unhealthy" },
    ]);
    await nextChange();
    deepEqual(manager.health("one", "c"), [{ name: gpu, resources: [{ resourceID: "c", health: "Unhealthy" }] }]);
    const three = pod("three", [wanting("c", "1")]);
    equal(manager.admit(three), undefined);
    equal((await manager.prepare(three, stop.signal))?.message, "Allocate failed due to rpc error: code = Unknown desc = it is on fire, which is unexpected");
    manager.release("three");
    await plugin[Symbol.asyncDispose]();
    await nextChange();
    deepEqual(manager.resources(), { capacity: { [gpu]: "2" }, allocatable: { [gpu]: "0" } });
  } finally {
    connection.close();
    stop.abort();
    await running;
  }
  const after = new DeviceManager(options);
  await after.load();
  deepEqual(after.additions("one", "c")?.envs, { GPU: "c" });
  await rm(directory, { recursive: true });
});

const claim = (name: string, podUid: string): ResourceClaim => ({
  metadata: { name, namespace: "default", uid: `uid-${name}` },
  status: {
    allocation: { devices: { results: [{ request: "r", driver: "d.example.com", pool: "p", device: "x" }] } },
    reservedFor: [{ resource: "pods", name: "p", uid: podUid }],
  },
});

test("claims: names, faults, and what containers get", () => {
  const base = pod("p", [
    { name: "c", resources: { claims: [{ name: "own", request: "big" }] } },
    { name: "all", resources: { claims: [{ name: "own" }] } },
    { name: "ext" },
  ]);
  const subject: Pod = {
    ...base,
    spec: {
      ...base.spec,
      resourceClaims: [
        { name: "own", resourceClaimTemplateName: "t" },
        { name: "fixed", resourceClaimName: "f" },
        { name: "unneeded", resourceClaimTemplateName: "t" },
      ],
    },
    status: {
      resourceClaimStatuses: [{ name: "own", resourceClaimName: "own-1" }, { name: "unneeded" }],
      extendedResourceClaimStatus: { resourceClaimName: "extended", requestMappings: [{ containerName: "ext", resourceName: gpu, requestName: "r0" }] },
    },
  };
  deepEqual(
    [...claimNames(subject)],
    [
      ["own", "own-1"],
      ["fixed", "f"],
      ["", "extended"],
    ],
  );
  const prepared = new Map([
    [
      "own",
      [
        { requests: ["big/a"], cdiIds: ["v/c=1"] },
        { requests: ["small"], cdiIds: ["v/c=2"] },
        { requests: [], cdiIds: ["v/c=3"] },
      ],
    ],
    ["", [{ requests: ["r0"], cdiIds: ["v/c=4"] }]],
  ]);
  deepEqual(
    ["c", "all", "ext"].map((name) => cdiDevices(subject, name, prepared).join(" ")),
    ["v/c=1 v/c=3", "v/c=1 v/c=2 v/c=3", "v/c=4"],
  );
  equal(claimFault({ metadata: { name: "x" } }, subject), "ResourceClaim x is not allocated");
  equal(claimFault(claim("x", "another"), subject), "pod p(p) is not allowed to use ResourceClaim x");
  equal(claimFault(claim("x", "p"), subject), undefined);
});

test("a claim's devices are made ready once for all its pods, and taken back after the last", async () => {
  const directory = await mkdtemp(join(tmpdir(), "cor-dra-"));
  const calls: string[] = [];
  let failure = "not ready yet";
  const answer = (method: string) => async (request: Message) => {
    const claims = request["claims"] as { uid: string; name: string }[];
    calls.push(`${method} ${claims.map(({ name }) => name).join()}`);
    return {
      claims: Object.fromEntries(
        claims.map(({ uid }) => [
          uid,
          method === "prepare"
            ? { error: failure, devices: [{ request_names: ["r"], pool_name: "p", device_name: "x", cdi_device_ids: ["v/c=x"] }] }
            : { error: "" },
        ]),
      ),
    };
  };
  const endpoint = join(directory, "dra.sock");
  const server = await serveGrpc(endpoint, "k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin", claimTables, {
    NodePrepareResources: { messages: ["NodePrepareResourcesRequest", "NodePrepareResourcesResponse"], answer: answer("prepare") },
    NodeUnprepareResources: { messages: ["NodeUnprepareResourcesRequest", "NodeUnprepareResourcesResponse"], answer: answer("unprepare") },
  });
  const shared: ResourceClaim = {
    ...claim("shared", "one"),
    status: { ...claim("shared", "one").status, reservedFor: ["one", "two"].map((uid) => ({ resource: "pods", name: uid, uid })) },
  };
  const client = { get: async () => shared } as unknown as Client;
  const using = (uid: string): Pod => ({
    ...pod(uid, [{ name: "c", resources: { claims: [{ name: "mine" }] } }]),
    spec: { containers: [{ name: "c", resources: { claims: [{ name: "mine" }] } }], resourceClaims: [{ name: "mine", resourceClaimName: "shared" }] },
  });
  const signal = new AbortController().signal;
  const options = { path: join(directory, "dra_manager_state"), clock: systemClock(), log: silentLog, onDriver: () => undefined };
  const manager = new ClaimManager(options);
  const fault = (work: Promise<unknown>) =>
    work.then(
      () => "",
      (error: Error) => error.message,
    );
  equal(await fault(manager.prepare(using("one"), client, signal)), "DRA driver d.example.com is not registered");
  equal(
    await fault(manager.register({ name: "d.example.com", endpoint, versions: ["v9.DRAPlugin"] })),
    "none of the DRA gRPC API versions supported by plugin d.example.com are supported by kubelet: [v9.DRAPlugin]",
  );
  await manager.register({ name: "d.example.com", endpoint, versions: ["v1.DRAPlugin"] });
  equal(await fault(manager.prepare(using("one"), client, signal)), "NodePrepareResources failed for ResourceClaim shared: not ready yet");
  failure = "";
  equal(manager.isReady(using("one")), false);
  await manager.prepare(using("one"), client, signal);
  await manager.prepare(using("two"), client, signal);
  deepEqual([manager.isReady(using("one")), manager.isReady(using("two")), manager.isReady(pod("plain", []))], [true, true, true]);
  deepEqual(manager.additions(using("two"), "c").cdiDevices, ["v/c=x"]);
  await manager.settled();
  const after = new ClaimManager(options);
  await after.load();
  await after.register({ name: "d.example.com", endpoint, versions: ["v1.DRAPlugin"] });
  equal(after.isReady(using("one")), true);
  await after.release("one", signal);
  await after.release("two", signal);
  deepEqual(calls, ["prepare shared", "prepare shared", "unprepare shared"]);
  await after.settled();
  await Promise.all([manager, after].map((one) => one.deregister({ name: "d.example.com", endpoint, versions: [] })));
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

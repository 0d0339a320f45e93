import { deepEqual, equal } from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { sleep } from "../base/clock.ts";
import { resources } from "../client/index.ts";
import { HollowNodes, TestCluster } from "../testing/index.ts";
import type { ClusterComponent } from "../testing/index.ts";
import { runScenario } from "../testing/scenario.ts";
import { ScenarioTrace } from "../testing/scenario-trace.ts";
import { defaultSettings } from "./configuration/settings.ts";
import type { KubeletSettings } from "./configuration/settings.ts";
import { createKubelet } from "./kubelet.ts";
import type { Kubelet } from "./kubelet.ts";
import { simulatedMachine } from "./node/machine.ts";
import { nodeNetworkCalls } from "./probes/node-network-calls.ts";
import type { ContainerRuntime } from "./runtime/cri.ts";
import { createSimulatedRuntime } from "./runtime/simulated.ts";
import { NoStorage } from "./volumes/no-storage.ts";

const folder = join(import.meta.dirname, "scenarios");
for (const file of readdirSync(folder).filter((name) => name.endsWith(".txt"))) {
  test(`scenario kubelet/${basename(file)}`, async () => {
    const [script = "", expected = ""] = readFileSync(join(folder, file), "utf8").split(/^---\n/m);
    const trace = new ScenarioTrace();
    await using cluster = await TestCluster.start({ components: { kubelet: kubeletOf("n1") }, onRequest: trace.observe });
    await begin(cluster);
    trace.attach(cluster.clock);
    const text = await runScenario(script, { cluster, nodes: new HollowNodes([]), trace });
    if (process.env.UPDATE_GOLDEN === "1") writeFileSync(join(folder, file), `${script}---\n${text}`);
    else equal(text, expected);
  });
}

test("a kubelet that is started again takes over what runs: same containers, no restart counted, still ready", async () => {
  let runtime: ContainerRuntime | undefined;
  const component: ClusterComponent = (context) => kubeletOf("n1", (runtime ??= createSimulatedRuntime(context)))(context);
  await using cluster = await TestCluster.start({ components: { kubelet: component } });
  await begin(cluster);
  await cluster.client.create(resources.pods, {
    metadata: { name: "p", namespace: "default" },
    spec: { nodeName: "n1", automountServiceAccountToken: false, containers: [{ name: "c", image: "web:1", readinessProbe: { exec: { command: ["up"] } } }] },
  });
  const statusOf = async () => (await cluster.client.get(resources.pods, "default", "p")).status?.containerStatuses?.[0];
  await cluster.until(async () => (await statusOf())?.ready === true);
  const before = await statusOf();
  await cluster.stopComponent("kubelet");
  cluster.startComponent("kubelet", component);
  await cluster.advance(20_000);
  equal(JSON.stringify(await statusOf()), JSON.stringify(before));
  await cluster.stopComponent("kubelet");
  await runtime?.close();
});

test("a pod that was deleted while no kubelet ran is stopped; what others run stays", async () => {
  let runtime: ContainerRuntime | undefined;
  const component: ClusterComponent = (context) => kubeletOf("n1", (runtime ??= createSimulatedRuntime(context)))(context);
  await using cluster = await TestCluster.start({ components: { kubelet: component } });
  await begin(cluster);
  await cluster.client.create(resources.pods, {
    metadata: { name: "p", namespace: "default" },
    spec: { nodeName: "n1", automountServiceAccountToken: false, containers: [{ name: "c", image: "web:1" }] },
  });
  await cluster.settled();
  const others = runtime!.runPodSandbox({
    config: { metadata: { name: "q", namespace: "default", uid: "u", attempt: 0 }, labels: { "io.kubernetes.pod.uid": "u" } },
  });
  await cluster.advance(1000);
  await others;
  await cluster.stopComponent("kubelet");
  await cluster.client.delete(resources.pods, "default", "p", { gracePeriodSeconds: 0 });
  cluster.startComponent("kubelet", component);
  await cluster.advance(40_000);
  equal((await runtime!.listPodSandbox()).map(({ metadata }) => metadata.name).join(), "q");
  await cluster.stopComponent("kubelet");
  await runtime?.close();
});

test("a second deletion with less grace hurries the first", async () => {
  await using cluster = await TestCluster.start({ components: { kubelet: kubeletOf("n1") } });
  await begin(cluster);
  await cluster.client.create(resources.pods, {
    metadata: { name: "p", namespace: "default", annotations: { "simulated.coracle.dev/stop": "after=1h" } },
    spec: { nodeName: "n1", terminationGracePeriodSeconds: 60, automountServiceAccountToken: false, containers: [{ name: "c", image: "web:1" }] },
  });
  await cluster.settled();
  await cluster.client.delete(resources.pods, "default", "p");
  await cluster.advance(10_000);
  await cluster.client.delete(resources.pods, "default", "p", { gracePeriodSeconds: 2 });
  const tookMs = await cluster.until(async () => (await cluster.client.list(resources.pods, "default")).items.length === 0);
  equal(tookMs, 2000);
});

test("a sandbox half made is not told of, however slow the API is", async () => {
  const bodies: string[] = [];
  const component: ClusterComponent = (context) =>
    kubeletOf("n1")({
      ...context,
      transportFor: (identity) => async (request) => {
        if (request.path.endsWith("/pods/p/status")) {
          bodies.push(Buffer.from(request.body).toString());
          await sleep(context.clock, 5);
        }
        return context.transportFor(identity)(request);
      },
    });
  await using cluster = await TestCluster.start({ components: { kubelet: component } });
  await begin(cluster);
  await cluster.client.create(resources.pods, {
    metadata: { name: "p", namespace: "default" },
    spec: { nodeName: "n1", automountServiceAccountToken: false, containers: [{ name: "c", image: "web:1" }] },
  });
  await cluster.until(async () => (await cluster.client.get(resources.pods, "default", "p")).status?.phase === "Running");
  deepEqual(
    bodies.flatMap((body) => body.match(/no pod sandbox exists|pod sandbox is not ready/g) ?? []),
    ["no pod sandbox exists"],
  );
});

test("a pod starts once its claim is bound to a volume that its node can reach", async () => {
  await using cluster = await TestCluster.start({ components: { kubelet: kubeletOf("n1") } });
  await begin(cluster);
  const { client } = cluster;
  const claim = await client.create(resources.persistentVolumeClaims, {
    metadata: { name: "data", namespace: "default" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, volumeName: "pv" },
  });
  const volumeOn = (node: string) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] }] },
  });
  await client.create(resources.persistentVolumes, {
    metadata: { name: "pv" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "1Gi" },
      local: { path: "/x" },
      nodeAffinity: volumeOn("n2"),
      claimRef: { namespace: "default", name: "data", uid: claim.metadata.uid! },
    },
  });
  await client.create(resources.pods, {
    metadata: { name: "p", namespace: "default" },
    spec: {
      nodeName: "n1",
      automountServiceAccountToken: false,
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }],
      containers: [{ name: "c", image: "web:1", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
    },
  });
  const told = async () =>
    (await client.list(resources.events, "default")).items.filter(({ reason }) => reason === "FailedMount").map(({ message }) => message);
  await cluster.advance(1000);
  await client.patch(resources.persistentVolumeClaims, "default", "data", { type: "merge", subresource: "status", body: { status: { phase: "Bound" } } });
  await cluster.advance(5000);
  deepEqual(await told(), [
    "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: error processing PVC default/data: PVC is not bound",
    'MountVolume.NodeAffinity check failed for volume "pv" : no matching NodeSelectorTerms',
  ]);
  await client.patch(resources.nodes, "", "n1", { type: "merge", body: { metadata: { labels: { "kubernetes.io/hostname": "n2" } } } });
  await cluster.until(async () => (await client.get(resources.pods, "default", "p")).status?.phase === "Running");
});

test("a machine that goes down ends its pods in order, each in its time, and takes no more", async () => {
  let kubelet: Kubelet | undefined;
  const settings = { ...defaultSettings, shutdownGracePeriodMs: 30_000, shutdownGracePeriodCriticalPodsMs: 10_000 };
  await using cluster = await TestCluster.start({ components: { kubelet: kubeletOf("n1", undefined, { settings, onKubelet: (made) => (kubelet = made) }) } });
  await begin(cluster);
  const create = (name: string, priorityClassName?: string) =>
    cluster.client.create(resources.pods, {
      metadata: { name, namespace: "default", annotations: { "simulated.coracle.dev/stop": name === "slow" ? "after=1h" : "after=2s" } },
      spec: {
        nodeName: "n1",
        terminationGracePeriodSeconds: 60,
        automountServiceAccountToken: false,
        containers: [{ name: "c", image: "web:1" }],
        ...(priorityClassName !== undefined && { priorityClassName }),
      },
    });
  for (const [name, priorityClassName] of [["slow"], ["quick"], ["critical", "system-node-critical"]] as const) await create(name, priorityClassName);
  await cluster.settled();
  const pods = async () =>
    Object.fromEntries((await cluster.client.list(resources.pods, "default")).items.map(({ metadata, status }) => [metadata.name, status]));
  const down = kubelet!.shutDown();
  await cluster.advance(5000);
  const early = await pods();
  equal(
    [early["quick"]?.phase, early["quick"]?.reason, early["quick"]?.message, early["slow"]?.phase, early["critical"]?.phase].join(),
    "Failed,Terminated,Pod was terminated in response to imminent node shutdown.,Running,Running",
  );
  const ready = (await cluster.client.get(resources.nodes, "", "n1")).status?.conditions?.find(({ type }) => type === "Ready");
  equal(`${ready?.status} ${ready?.reason}: ${ready?.message}`, "False KubeletNotReady: node is shutting down");
  await create("late");
  await cluster.advance(1000);
  const late = (await pods())["late"];
  equal(`${late?.reason}: ${late?.message}`, "NodeShutdown: Pod was rejected: Pod was rejected as the node is shutting down.");
  // The others had 20 s, however slow they are.
  await cluster.advance(17_000);
  equal([(await pods())["slow"]?.phase, (await pods())["critical"]?.phase].join(), "Failed,Failed");
  await down;
});

test("many simulated nodes share a process", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
  await using cluster = await TestCluster.start({ components: Object.fromEntries(names.map((name) => [name, kubeletOf(name)])) });
  await begin(cluster);
  for (const nodeName of names) {
    await cluster.client.create(resources.pods, {
      metadata: { name: `p-${nodeName}`, namespace: "default" },
      spec: { nodeName, automountServiceAccountToken: false, containers: [{ name: "c", image: "web:1" }] },
    });
  }
  await cluster.settled();
  const { items } = await cluster.client.list(resources.pods, "default");
  equal(items.filter(({ status }) => status?.phase === "Running").length, names.length);
});

async function begin(cluster: TestCluster): Promise<void> {
  await cluster.client.create(resources.serviceAccounts, { metadata: { name: "default", namespace: "default" } });
  await cluster.settled();
}

/** A kubelet of a simulated node; its runtime is its own unless one is given. */
function kubeletOf(
  nodeName: string,
  given?: ContainerRuntime,
  more: { settings?: KubeletSettings; onKubelet?: (kubelet: Kubelet) => void } = {},
): ClusterComponent {
  return async ({ transportFor, clock, random, log, signal }) => {
    const runtime = given ?? createSimulatedRuntime({ clock, random });
    const kubelet = createKubelet({
      transport: transportFor({ username: `system:node:${nodeName}`, groups: ["system:masters", "system:nodes", "system:authenticated"] }),
      // Traces leave out what agents called kubelet write.
      userAgent: "agent/test",
      kubeletVersion: "v1.37.2",
      nodeName,
      nodeAddress: "192.0.2.10",
      serverPort: 10_250,
      machine: simulatedMachine,
      runtime,
      storage: new NoStorage(),
      network: nodeNetworkCalls,
      dns: { clusterServers: ["10.0.0.10"], clusterDomain: "cluster.local", host: { servers: [], searches: [], options: [] } },
      logRoot: "/nowhere",
      owner: nodeName,
      clock,
      random,
      log,
      ...(more.settings !== undefined && { settings: more.settings }),
    });
    more.onKubelet?.(kubelet);
    await kubelet.run(signal);
    if (given === undefined) await runtime.close();
  };
}

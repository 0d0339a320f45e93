/**
 * Three etcds, and of each component of the control plane two: whatever is killed, nothing acknowledged is lost, and work goes on within the
 * lease time. Afterwards their etcd is saved and restored.
 */
import { deepEqual, ok } from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRandom } from "../../src/base/random.ts";
import { Client, connectionSettings, parseKubeconfig, InformerSet, resources, TlsTransport } from "../../src/client/index.ts";
import { EtcdCluster, freePorts, hasEtcd, hasEtcdctl } from "./etcd.ts";
import { Instance, until } from "./instance.ts";
import { lostCounts, Writers } from "./ha-writers.ts";

/** A lease, the time in which every candidate has tried again, and what a slow machine needs to start working. */
const takeOverMs = 15_000 + 2_000 * 2.2 + 10_000;
/** In this time etcd has a new leader, and whoever spoke to the old one has gone elsewhere. */
const electionMs = 10_000;

if (hasEtcd) {
  describe("high availability", { timeout: 600_000 }, () => {
    let etcd: EtcdCluster;
    let planes: ControlPlane[];
    let writers: Writers;
    let informers: InformerSet;
    before(async () => {
      etcd = await EtcdCluster.start(3);
      const first = await ControlPlane.create(etcd);
      const second = await ControlPlane.create(etcd, first);
      planes = [first, second];
      // The first ones have the leases.
      await first.startManagers();
      await second.startManagers();
      await second.instance.start({ command: "kubelet", args: ["--runtime", "simulated", "--node-name", "n1", `--port=${(await freePorts(1))[0]}`] });
      writers = new Writers(
        planes.map(({ client }) => client),
        "w",
      );
      // It watches the server that is killed.
      informers = new InformerSet({ client: first.client, clock: systemClock({ keepAlive: true }), random: systemRandom(), log: silentLog });
      informers.get(resources.configMaps);
    });
    after(async () => {
      await writers?.stop();
      await informers?.close();
      for (const plane of [...(planes ?? [])].reverse()) await plane.instance[Symbol.asyncDispose]();
      await etcd?.[Symbol.asyncDispose]();
    });

    test("etcd's leader is killed during writes", async (context) => {
      await writers.acknowledged(50);
      const leader = await etcd.leader();
      await etcd.kill(leader);
      const gapMs = await writers.acknowledged(200);
      context.diagnostic(`writes went on ${gapMs} ms after the leader's end`);
      ok(gapMs < electionMs, `${gapMs} ms`);
      await etcd.startAll();
    });

    test("the active API server, controllers and scheduler are killed during writes", async (context) => {
      const [first, second] = planes as [ControlPlane, ControlPlane];
      await workIsDone(second, "before");
      const holders = await second.holders();
      await first.kill();
      const gapMs = await writers.acknowledged(200);
      context.diagnostic(`writes went on ${gapMs} ms after the API server's end`);
      ok(gapMs < electionMs, `${gapMs} ms`);
      await tookOver(context, () => workIsDone(second, "after"));
      for (const [name, holder] of Object.entries(await second.holders())) ok(holder !== holders[name as "kube-scheduler"], `${name} has a new holder`);
      await first.startAgain();
    });

    test("etcd's leader, and the ones that are active now, are killed at once", async (context) => {
      const [first, second] = planes as [ControlPlane, ControlPlane];
      await Promise.all([etcd.kill(await etcd.leader()), second.killManagers()]);
      await writers.acknowledged(200);
      await tookOver(context, () => workIsDone(first, "again"));
      await etcd.startAll();
      await second.startManagers();
    });

    test("nothing acknowledged is lost, and both servers and a watch that was open all the time show it", async () => {
      await writers.stop();
      for (const { client } of planes) deepEqual(lostCounts(writers.snapshot(), (await client.list(resources.configMaps, "default")).items), []);
      const unseen = () => lostCounts(writers.snapshot(), informers.get(resources.configMaps).list("default"));
      await until(
        async () => (unseen().length === 0 ? true : undefined),
        () => `an informer that saw ${unseen().join(", ")}`,
      );
    });

    if (hasEtcdctl) {
      test("etcd is saved during writes and restored", async () => {
        const [first, second] = planes as [ControlPlane, ControlPlane];
        const kept = new Writers(
          planes.map(({ client }) => client),
          "kept",
        );
        await kept.acknowledged(50);
        const atLeast = kept.snapshot();
        const file = path.join(first.instance.dataDir, "backup");
        etcd.save(file);
        await kept.stop();
        await first.client.delete(resources.configMaps, "default", atLeast.keys().next().value!);
        for (const plane of planes) await plane.kill();
        await etcd.restore(file);
        await etcd.startAll();
        for (const plane of planes) await plane.startAgain();
        for (const { client } of planes) deepEqual(lostCounts(atLeast, (await client.list(resources.configMaps, "default")).items), []);
        await workIsDone(second, "restored");
      });
    } else {
      test.skip("needs etcdctl on the PATH", () => {});
    }
  });
} else {
  test.skip("needs etcd on the PATH", () => {});
}

async function tookOver(context: TestContext, work: () => Promise<void>): Promise<void> {
  const from = performance.now();
  await work();
  const tookMs = Math.round(performance.now() - from);
  context.diagnostic(`work was done ${tookMs} ms after the active ones' end`);
  ok(tookMs < takeOverMs, `${tookMs} ms`);
}

/** A Deployment's pods are made, and run on the node. */
async function workIsDone({ client }: ControlPlane, name: string): Promise<void> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "coracle.local/hello:v1" }] } };
  await client.create(resources.deployments, { metadata: { name, namespace: "default" }, spec: { replicas: 2, selector: { matchLabels: labels }, template } });
  const isAvailable = async () => ((await client.get(resources.deployments, "default", name)).status?.availableReplicas === 2 ? true : undefined);
  await until(isAvailable, `an available deployment ${name}`, 60_000);
}

/** An API server, a controller manager and a scheduler, on one data directory. */
class ControlPlane {
  readonly instance: Instance;
  readonly client: Client;
  readonly #args: readonly string[];
  #server: ChildProcess;
  #managers: ChildProcess[] = [];

  private constructor(instance: Instance, client: Client, server: ChildProcess, args: readonly string[]) {
    this.instance = instance;
    this.client = client;
    this.#server = server;
    this.#args = args;
  }

  /** A second one has the keys of the first. */
  static async create(etcd: EtcdCluster, first?: ControlPlane): Promise<ControlPlane> {
    const instance = await Instance.create();
    if (first !== undefined) await cp(path.join(first.instance.dataDir, "pki"), path.join(instance.dataDir, "pki"), { recursive: true });
    const args = ["--port", String((await freePorts(1))[0]), `--etcd-servers=${etcd.endpoints.join(",")}`];
    const server = await instance.start({ command: "apiserver", args });
    const settings = await connectionSettings(parseKubeconfig(await readFile(path.join(instance.dataDir, "kubeconfig"), "utf8")), (file) => readFile(file));
    const clock = systemClock({ keepAlive: true });
    const transport = new TlsTransport({ ...settings, clock });
    return new ControlPlane(instance, new Client({ transport: (request) => transport.send(request), clock, userAgent: "test" }), server, args);
  }

  async startManagers(): Promise<void> {
    this.#managers = [];
    for (const command of ["controller-manager", "scheduler"]) this.#managers.push(await this.instance.start({ command, args: [] }));
  }

  async killManagers(): Promise<void> {
    await Promise.all(this.#managers.map((manager) => this.instance.end(manager, "SIGKILL")));
  }

  async kill(): Promise<void> {
    await Promise.all([this.instance.end(this.#server, "SIGKILL"), this.killManagers()]);
  }

  async startAgain(): Promise<void> {
    this.#server = await this.instance.start({ command: "apiserver", args: this.#args });
    await this.startManagers();
  }

  /** Who holds each lease. */
  async holders(): Promise<Record<"kube-controller-manager" | "kube-scheduler", string>> {
    const [controllers, scheduler] = await Promise.all([this.holder("kube-controller-manager"), this.holder("kube-scheduler")]);
    return { "kube-controller-manager": controllers, "kube-scheduler": scheduler };
  }

  async holder(lease: string): Promise<string> {
    return (await this.client.get(resources.leases, "kube-system", lease)).spec?.holderIdentity ?? "";
  }
}

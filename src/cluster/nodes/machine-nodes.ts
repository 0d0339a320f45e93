/**
 * Further nodes of this machine: each a process of its own (`coracle node run`) in a network namespace of its own, with its own containerd,
 * data directory, and no more keys than a node may have. They go on running without the process that started them.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "../../base/clock.ts";
import { createMounts } from "../../host/index.ts";
import type { Programs } from "../../host/index.ts";
import type { Transport } from "../../apimachinery/request.ts";
import { Client, resources } from "../../client/index.ts";
import { Certificates } from "../certificates/certificates.ts";
import { UsageError } from "../commands/arguments.ts";
import type { Environment } from "../environment.ts";
import { instanceId } from "../instance-id.ts";
import { keyDirectory } from "../certificates/key-store.ts";
import { readProcessId, removeProcessId } from "../process-id.ts";
import { resetInstance, stopPods } from "../commands/stop-pods.ts";
import { plugIn, programsOf, pullOut, removeMachineNetwork } from "./machine-network.ts";
import { nodeFolder, readNodes, readRanges, writeNode } from "./node-folders.ts";
import type { NodeRecord } from "./node-folders.ts";
import { freeNumber, numberOfShare, placeNode, requireName } from "./node-place.ts";
import type { ClusterRanges, NodePlace } from "./node-place.ts";

export interface MachineNodesOptions {
  readonly environment: Environment;
  readonly programs: Programs;
  readonly dataDir: string;
  /** The port of the API server on this machine. */
  readonly serverPort: () => Promise<number>;
  /** Into the API server, as somebody who may read nodes. */
  readonly transport: () => Transport;
}

/** How long a node may take to run, images and all, and to stop in order. */
const startMs = 120_000;
const stopMs = 30_000;

export class MachineNodes {
  readonly #options: MachineNodesOptions;
  readonly #instanceId: string;

  constructor(options: MachineNodesOptions) {
    this.#options = options;
    this.#instanceId = instanceId(options.dataDir);
  }

  list(): Promise<NodeRecord[]> {
    return readNodes(this.#options.dataDir);
  }

  /** Makes a node and starts it. Throws UsageError when there is one of this name. */
  async add(name: string): Promise<void> {
    requireName(name);
    const known = await this.list();
    if (known.some((node) => node.name === name)) throw new UsageError(`there is a node ${name} already: \`coracle node start ${name}\` starts it`);
    const record = { name, number: freeNumber([...known.map(({ number }) => number), ...(await this.#takenNumbers())]), isStopped: false };
    await this.#placeOf(record);
    await writeNode(this.#options.dataDir, record);
    await this.start(name);
  }

  /** Starts a node's process, unless it runs, and waits until it works. */
  async start(name: string): Promise<void> {
    const record = await this.#record(name);
    const { environment, programs, dataDir } = this.#options;
    const folder = nodeFolder(dataDir, name);
    await writeNode(dataDir, { ...record, isStopped: false });
    if ((await readProcessId(folder)) !== undefined) return;
    const ranges = await this.#ranges();
    const place = await this.#placeOf(record);
    await plugIn(place, { programs, instanceId: this.#instanceId, ranges });
    await this.#handOut(place, name);
    const log = join(folder, "node.log");
    const words = [
      "node",
      "run",
      name,
      "--data-dir",
      folder,
      "--server",
      `https://${place.gateway}:${await this.#options.serverPort()}`,
      ...wordsOf(place, ranges),
    ];
    const started = await programsOf(place.namespace, programs).startDetached(
      { command: process.execPath, args: [...process.execArgv, process.argv[1]!, ...words] },
      log,
    );
    let exitCode: number | undefined;
    started.exited.then(
      (code) => (exitCode = code),
      () => {},
    );
    const { clock } = environment;
    for (const end = clock.monotonicMs() + startMs; (await readProcessId(folder)) === undefined; await sleep(clock, 50)) {
      if (exitCode !== undefined) throw new Error(`node ${name} ended with exit code ${exitCode}: see ${log}`);
      if (clock.monotonicMs() > end) throw new Error(`node ${name} does not run after ${startMs / 1000} s: see ${log}`);
    }
  }

  /** Puts successors of certificates that are late in their lives where the nodes' processes find them. */
  async renewCertificates(): Promise<void> {
    for (const record of await this.list()) await this.#handOut(await this.#placeOf(record), record.name);
  }

  /** As if its power was cut: nothing of it runs afterwards, and it says nothing to the API server. */
  async stop(name: string): Promise<void> {
    const record = await this.#record(name);
    await writeNode(this.#options.dataDir, { ...record, isStopped: true });
    await this.#end(name, "SIGKILL");
    await this.#within(record, (environment, folder, programs) => stopPods(environment, folder, programs));
    await pullOut(await this.#placeOf(record), { programs: this.#options.programs, instanceId: this.#instanceId });
  }

  /** Ends the processes of all nodes in order; their containers go on. */
  async letGo(): Promise<void> {
    await Promise.all((await this.list()).map(({ name }) => this.#end(name, "SIGTERM")));
  }

  /** Stops every pod of every node, and what runs them. */
  async stopPods(): Promise<void> {
    for (const record of await this.list()) {
      await this.#end(record.name, "SIGTERM");
      await this.#within(record, (environment, folder, programs) => stopPods(environment, folder, programs));
    }
  }

  /** Removes a node and all that it made. Its Node object is somebody else's. */
  async remove(name: string): Promise<void> {
    const record = await this.#record(name);
    await this.#end(name, "SIGKILL");
    await this.#within(record, (environment, folder, programs) => resetInstance(environment, folder, programs));
    const { dataDir, programs } = this.#options;
    if ((await readRanges(dataDir)) !== undefined) await pullOut(await this.#placeOf(record), { programs, instanceId: this.#instanceId });
    await rm(nodeFolder(dataDir, name), { recursive: true, force: true });
  }

  /** Removes all nodes, and what they shared. */
  async removeAll(): Promise<void> {
    for (const { name } of await this.list()) await this.remove(name);
    await removeMachineNetwork({ programs: this.#options.programs, instanceId: this.#instanceId });
  }

  /** What runs in a node's network; in the machine's when the node's is gone, as after a reboot. */
  async #within(record: NodeRecord, work: (environment: Environment, folder: string, programs: Programs) => Promise<void>): Promise<void> {
    const { environment, dataDir, programs } = this.#options;
    const { namespace } = await this.#placeOf(record);
    const isThere = (await createMounts({ programs }).list()).some(({ mountPoint }) => mountPoint === `/run/netns/${namespace}`);
    await work(environment, nodeFolder(dataDir, record.name), isThere ? programsOf(namespace, programs) : programs);
  }

  async #handOut({ address }: NodePlace, name: string): Promise<void> {
    const { environment, dataDir } = this.#options;
    const certificates = new Certificates(keyDirectory(dataDir), environment.clock);
    await certificates.handOut(keyDirectory(nodeFolder(dataDir, name)), { name, hosts: [name, "localhost", "127.0.0.1", address] });
  }

  async #end(name: string, signal: NodeJS.Signals): Promise<void> {
    const folder = nodeFolder(this.#options.dataDir, name);
    const pid = await readProcessId(folder);
    if (pid === undefined) return;
    process.kill(pid, signal);
    const { clock } = this.#options.environment;
    for (const end = clock.monotonicMs() + stopMs; (await readProcessId(folder)) === pid; await sleep(clock, 50))
      if (clock.monotonicMs() > end) throw new Error(`process ${pid} of node ${name} does not stop: end it with \`kill -9 ${pid}\``);
    await removeProcessId(folder);
  }

  /** Those whose share of the pods' ranges other nodes have, such as nodes that joined. */
  async #takenNumbers(): Promise<number[]> {
    const { podCidrs } = await this.#ranges();
    const client = new Client({ transport: this.#options.transport(), clock: this.#options.environment.clock, userAgent: "coracle" });
    const { items } = await client.list(resources.nodes, "");
    return items.flatMap(({ spec }) => spec?.podCIDRs ?? []).map((share) => numberOfShare(podCidrs, share));
  }

  async #record(name: string): Promise<NodeRecord> {
    const record = (await this.list()).find((node) => node.name === name);
    if (record === undefined)
      throw new UsageError(`there is no node ${JSON.stringify(name)}: \`coracle node ls\` lists those that can be stopped, started and removed`);
    return record;
  }

  async #ranges(): Promise<ClusterRanges> {
    const ranges = await readRanges(this.#options.dataDir);
    if (ranges === undefined)
      throw new UsageError(
        "further nodes are for clusters with containers: start `coracle up --runtime containerd` first; with other runtimes use `coracle up --nodes N`",
      );
    return ranges;
  }

  async #placeOf({ name, number }: NodeRecord): Promise<NodePlace> {
    return placeNode(name, number, { ranges: await this.#ranges(), instanceId: this.#instanceId });
  }
}

function wordsOf(place: NodePlace, { podCidrs, serviceCidrs, nodeCidr, loadBalancerCidrs }: ClusterRanges): string[] {
  return [
    "--runtime",
    "containerd",
    "--no-install",
    "--pod-cidr",
    podCidrs.join(","),
    "--service-cidr",
    serviceCidrs.join(","),
    "--node-cidr",
    nodeCidr,
    "--load-balancer-cidr",
    loadBalancerCidrs.join(","),
    "--node-pod-cidr",
    place.podCidrs.join(","),
  ];
}

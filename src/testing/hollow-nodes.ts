import { sleep } from "../base/clock.ts";
import { TaskGroup } from "../base/task-group.ts";
import { formatMicroTime, formatTime } from "../apimachinery/time.ts";
import { isConflict, isNotFound } from "../apimachinery/status.ts";
import { Client, InformerSet, keyOf, resources } from "../client/index.ts";
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { Pod } from "../api/core-v1/types.ts";
import type { ClusterComponent, ComponentContext } from "./component.ts";

/**
 * Nodes without a runtime, for tests of everything above them: each beats, takes the pods that are bound to it, says that they run and are
 * ready, and lets go of those that are deleted. Pods on no node are spread over the nodes where `bindsPods` is set. A node that was
 * silenced does nothing until it is told to speak again.
 */
export class HollowNodes {
  readonly #names: readonly string[];
  readonly #options: HollowNodeOptions;
  readonly #silent = new Set<string>();
  readonly #started = new Set<string>();
  #address = 0;
  #turn = 0;

  constructor(names: readonly string[], options: HollowNodeOptions = {}) {
    this.#names = names;
    this.#options = options;
  }

  silence(name: string): void {
    this.#silent.add(name);
  }

  wake(name: string): void {
    this.#silent.delete(name);
  }

  readonly run: ClusterComponent = async (context) => {
    const { clock, random, log, signal } = context;
    const client = new Client({ transport: context.transportFor(nodeUser), clock, userAgent: "kubelet/v1.37.2" });
    await using informers = new InformerSet({ client, clock, random, log });
    const group = new TaskGroup({ parent: signal });
    for (const name of this.#names) {
      await this.#register(client, context, name);
    }
    const pods = informers.get(resources.pods);
    for (const name of this.#names) {
      const onWake = () =>
        Promise.all(
          pods
            .list()
            .filter(({ spec }) => spec?.nodeName === name)
            .map((pod) => this.#serve(client, context, pod)),
        );
      group.start(`beat of ${name}`, (beating) => this.#beat(client, context, { name, onWake }, beating));
    }
    pods.subscribe((change) => {
      if (change.kind !== "delete") group.start(keyOf(change.object), () => this.#serve(client, context, change.object));
      else this.#started.delete(change.object.metadata.uid ?? "");
    });
    await group.join();
  };

  async #register(client: Client, { clock }: ComponentContext, name: string): Promise<void> {
    const labels = { "kubernetes.io/hostname": name, ...this.#options.labels?.[name] };
    await client.create(resources.nodes, { metadata: { name, labels }, spec: {}, status: { ...capacity, conditions: [readyCondition(clock.nowMs())] } });
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatMicroTime(clock.nowMs()) };
    await client.create(resources.leases, { metadata: { name, namespace: leaseNamespace }, spec });
  }

  async #beat(
    client: Client,
    { clock }: ComponentContext,
    { name, onWake }: { name: string; onWake: () => Promise<unknown> },
    signal: AbortSignal,
  ): Promise<void> {
    let wasSilent = false;
    for (;;) {
      await sleep(clock, beatMs, signal);
      if (this.#silent.has(name)) {
        wasSilent = true;
        continue;
      }
      const body = { spec: { renewTime: formatMicroTime(clock.nowMs()) } };
      await client.patch(resources.leases, leaseNamespace, name, { type: "merge", body, signal }).catch(ignoreGone);
      if (!wasSilent) continue;
      wasSilent = false;
      const status = { conditions: [readyCondition(clock.nowMs()), ...pressures.map((type) => ({ ...readyCondition(clock.nowMs()), type, status: "False" }))] };
      await client.patch(resources.nodes, "", name, { type: "strategic", body: { status }, subresource: "status", signal }).catch(ignoreGone);
      await onWake();
    }
  }

  async #serve(client: Client, context: ComponentContext, pod: DeepReadonly<Pod>): Promise<void> {
    const { namespace = "", name = "", uid = "", deletionTimestamp } = pod.metadata;
    const nodeName = pod.spec?.nodeName;
    try {
      if (nodeName === undefined) {
        if (this.#options.bindsPods === true && deletionTimestamp === undefined) await this.#bind(client, pod);
      } else if (this.#silent.has(nodeName) || !this.#names.includes(nodeName)) return;
      else if (deletionTimestamp !== undefined) await client.delete(resources.pods, namespace, name, { gracePeriodSeconds: 0, preconditions: { uid } });
      else if (!this.#started.has(uid)) {
        this.#started.add(uid);
        await client.patch(resources.pods, namespace, name, {
          type: "strategic",
          subresource: "status",
          body: { metadata: { uid }, status: this.#running(pod, context) },
        });
      }
    } catch (error) {
      ignoreGone(error);
    }
  }

  async #bind(client: Client, { metadata, spec }: DeepReadonly<Pod>): Promise<void> {
    const { namespace = "", name = "" } = metadata;
    const awake = this.#names.filter((node) => !this.#silent.has(node));
    const node = pinnedNode(spec) ?? awake[this.#turn++ % awake.length];
    if (node === undefined) return;
    const body = { kind: "Binding", apiVersion: "v1", metadata: { name, namespace }, target: { kind: "Node", name: node } };
    await client.createSubresource(resources.pods, { namespace, name, subresource: "binding" }, body);
  }

  #running(pod: DeepReadonly<Pod>, { clock }: ComponentContext): object {
    const now = formatTime(clock.nowMs());
    this.#address += 1;
    const podIP = `172.${16 + (this.#address >> 16)}.${(this.#address >> 8) & 255}.${this.#address & 255}`;
    const isReady = this.#options.isReady?.(pod) ?? true;
    const conditions = [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: now }];
    return { phase: "Running", podIP, podIPs: [{ ip: podIP }], hostIP: "192.0.2.10", startTime: now, conditions };
  }
}

export interface HollowNodeOptions {
  /** Spreads pods over the nodes, where no scheduler runs. */
  readonly bindsPods?: boolean;
  /** Whether a pod gets ready; default: every one. */
  readonly isReady?: (pod: DeepReadonly<Pod>) => boolean;
  /** Further labels, by node. */
  readonly labels?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const nodeUser = { username: "hollow-nodes", groups: ["system:masters", "system:authenticated"] };
const leaseNamespace = "kube-node-lease";
const beatMs = 10_000;
const pressures = ["MemoryPressure", "DiskPressure", "PIDPressure"];
const capacity = { capacity: { cpu: "16", memory: "64Gi", pods: "500" }, allocatable: { cpu: "16", memory: "64Gi", pods: "500" } };

function readyCondition(nowMs: number) {
  const now = formatTime(nowMs);
  return { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status", lastHeartbeatTime: now, lastTransitionTime: now };
}

/** The node a daemon pod is meant for. */
function pinnedNode(spec: DeepReadonly<Pod>["spec"]): string | undefined {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms.flatMap(({ matchFields = [] }) => matchFields).find(({ key }) => key === "metadata.name")?.values?.[0];
}

/** The object went away, or changed, between the look and the write: the next change tells. */
function ignoreGone(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}

/** What the workers of a node's pods share. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, Service } from "../../api/core-v1/types.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { Client, EventSink } from "../../client/index.ts";
import type { PodCgroups } from "../cgroups/pod-cgroups.ts";
import type { ServicePlace } from "../env/service-variables.ts";
import type { ImagePuller } from "../images/image-puller.ts";
import type { NodeDns } from "../network/dns-config.ts";
import type { OwnNode } from "../node/own-node.ts";
import type { NetworkCalls } from "../probes/network-calls.ts";
import type { ResourceManagers } from "../managers/resource-managers.ts";
import type { AllocationStore } from "../resources/allocation-store.ts";
import type { Allocation, ResizeVerdict } from "../resources/allocation.ts";
import type { ContainerRuntime } from "../runtime/cri.ts";
import type { ObjectSource } from "../volumes/object-source.ts";
import type { PodCertificates } from "../volumes/projected/pod-certificates.ts";
import type { PodStorage } from "../volumes/pod-storage.ts";
import type { ServiceAccountTokens } from "../volumes/service-account-tokens.ts";

export interface NodeContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly events: EventSink;
  readonly runtime: ContainerRuntime;
  /** Such as `containerd`. */
  readonly runtimeName: string;
  readonly network: NetworkCalls;
  readonly storage: PodStorage;
  readonly objects: ObjectSource;
  readonly tokens: ServiceAccountTokens;
  readonly certificates: PodCertificates;
  readonly images: ImagePuller;
  /** Absent where pods have no control groups of their own. */
  readonly cgroups?: PodCgroups;
  /** So long, in ms, a pod that starts as it should is not told of before it runs. */
  readonly startingUntoldMs: number;
  readonly nodeName: string;
  readonly nodeAddress: string;
  readonly dns: NodeDns;
  readonly logRoot: string;
  /** What our sandboxes are marked with. */
  readonly owner: string;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly memoryCapacityBytes: number;
  readonly ownNode: OwnNode;
  /** Whether a read-only mount can extend to what is mounted below it. */
  canMountReadOnlyRecursively(): boolean;
  services(): readonly DeepReadonly<Service>[];
  /** Where pods reach Services, when it is not at their ClusterIPs. */
  readonly servicePlace?: ServicePlace;
  /** CPUs, memory, devices and claims. */
  readonly managers: ResourceManagers;
  /** What pods were granted. */
  readonly allocations: AllocationStore;
  /** Whether the node has room for what a running pod wants now. */
  judgeResize(pod: DeepReadonly<Pod>, allocation: Allocation): ResizeVerdict;
  /** Some pod needs less, or is gone: who waits for room may look again. */
  resourcesFreed(): void;
  admit(pod: DeepReadonly<Pod>): Admission;
}

/** Who is not refused counts from now on. */
export type Admission =
  | { readonly outcome: "taken" }
  | { readonly outcome: "refused"; readonly rejection: Rejection }
  /** Others give way first; resolves when they have, with what then still stands against it. */
  | { readonly outcome: "preempts"; makeRoom(): Promise<Rejection | undefined> };

export interface Rejection {
  readonly reason: string;
  readonly message: string;
}

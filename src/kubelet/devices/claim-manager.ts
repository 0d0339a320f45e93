/**
 * Resource claims on the node: drivers register as plugins, make a claim's devices ready before the first of its pods starts, and take them
 * back after the last one is gone (KEP 4381). Driven by pod workers; owns which claims are ready, and for which pods.
 */
import type { MessageFacts } from "../../apimachinery/protobuf/messages.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { isNotFound } from "../../apimachinery/status.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { ResourceClaim } from "../../api/resource-v1/types.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { noAdditions } from "../managers/container-additions.ts";
import type { ContainerAdditions } from "../managers/container-additions.ts";
import { StateFile } from "../managers/state-file.ts";
import type { Plugin, PluginHandler } from "../plugins/plugin-watcher.ts";
import { GrpcConnection } from "../runtime/containerd/grpc.ts";
import { RuntimeError } from "../runtime/cri.ts";
import { cdiDevices, claimFault, claimNames, driversOf } from "./claim-plan.ts";
import type { PreparedDevice } from "./claim-plan.ts";
import tables from "./data/dra-v1.json" with { type: "json" };

export const claimTables = tables as unknown as MessageFacts;

export class ClaimManager implements PluginHandler {
  readonly #options: ClaimManagerOptions;
  readonly #file: StateFile<Readonly<Record<string, PreparedClaim>>>;
  readonly #drivers = new Map<string, Driver>();
  readonly #claims = new Map<string, PreparedClaim>();
  /** Of the claim with that uid, one call at a time. */
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(options: ClaimManagerOptions) {
    this.#options = options;
    this.#file = new StateFile({ path: options.path, log: options.log });
  }

  /** Reads which claims an earlier kubelet had made ready. */
  async load(): Promise<void> {
    for (const [uid, claim] of Object.entries((await this.#file.read()) ?? {})) this.#claims.set(uid, claim);
  }

  settled(): Promise<void> {
    return this.#file.settled();
  }

  async register({ name, endpoint, versions }: Plugin): Promise<void> {
    const service = ["v1", "v1beta1"].find((version) => versions.includes(`${version}.DRAPlugin`));
    if (service === undefined)
      throw new Error(`none of the DRA gRPC API versions supported by plugin ${name} are supported by kubelet: [${versions.join(" ")}]`);
    this.#drivers.get(name)?.connection.close();
    this.#drivers.set(name, {
      connection: new GrpcConnection({ socketPath: endpoint, clock: this.#options.clock }),
      service: `k8s.io.kubelet.pkg.apis.dra.${service}.DRAPlugin`,
    });
    this.#options.onDriver();
  }

  async deregister({ name }: Plugin): Promise<void> {
    this.#drivers.get(name)?.connection.close();
    this.#drivers.delete(name);
  }

  /** Whether all that the pod claims is ready. */
  isReady(pod: DeepReadonly<Pod>): boolean {
    try {
      return [...claimNames(pod).values()].every((name) => this.#of(pod).some((claim) => claim.name === name && claim.isComplete));
    } catch {
      return false;
    }
  }

  /** Makes the pod's claims ready; rejects with what events tell. */
  async prepare(pod: DeepReadonly<Pod>, client: Client, signal: AbortSignal): Promise<void> {
    for (const [podName, name] of claimNames(pod)) {
      const claim = await client.get(resources.resourceClaims, pod.metadata.namespace ?? "", name, { signal }).catch((error: unknown) => {
        throw isNotFound(error) ? new Error(`fetch ResourceClaim ${name} referenced by pod ${pod.metadata.name}: ${(error as Error).message}`) : error;
      });
      const fault = claimFault(claim, pod);
      if (fault !== undefined) throw new Error(fault);
      await this.#exclusively(claim.metadata.uid ?? "", () => this.#prepareClaim(claim, pod, podName, signal));
    }
  }

  /** Takes back what no other pod uses; rejects when a driver fails. */
  async release(podUid: string, signal: AbortSignal): Promise<void> {
    for (const [uid, claim] of this.#claims) {
      if (claim.pods[podUid] === undefined) continue;
      await this.#exclusively(uid, () => this.#releaseClaim(uid, podUid, signal));
    }
  }

  additions(pod: DeepReadonly<Pod>, container: string): ContainerAdditions {
    const prepared = new Map(
      this.#of(pod).flatMap((claim) => (claim.pods[pod.metadata.uid ?? ""] ?? []).map((name) => [name, Object.values(claim.devices).flat()] as const)),
    );
    return { ...noAdditions, cdiDevices: cdiDevices(pod, container, prepared) };
  }

  #of(pod: DeepReadonly<Pod>): PreparedClaim[] {
    return [...this.#claims.values()].filter(({ pods }) => pods[pod.metadata.uid ?? ""] !== undefined);
  }

  async #prepareClaim(claim: DeepReadonly<ResourceClaim>, pod: DeepReadonly<Pod>, podName: string, signal: AbortSignal): Promise<void> {
    const { uid = "", name = "", namespace = "" } = claim.metadata;
    const podUid = pod.metadata.uid ?? "";
    const drivers = driversOf(claim);
    const before = this.#claims.get(uid) ?? { name, namespace, pods: {}, drivers, devices: {}, isComplete: false };
    const pods = { ...before.pods, [podUid]: [...new Set([...(before.pods[podUid] ?? []), podName])] };
    // Kept before the drivers are asked, so that what they did is undone whatever happens.
    this.#keep(uid, { ...before, pods });
    const devices: Record<string, readonly PreparedDevice[]> = { ...before.devices };
    for (const driver of drivers) devices[driver] ??= await this.#ask(driver, { uid, name, namespace }, signal);
    this.#keep(uid, { ...before, pods: this.#claims.get(uid)?.pods ?? pods, devices, isComplete: true });
  }

  async #ask(driver: string, claim: ClaimName, signal: AbortSignal): Promise<PreparedDevice[]> {
    const answer = (await this.#call(driver, "NodePrepareResources", claim, signal)) as PrepareAnswer | undefined;
    if (answer === undefined) throw new Error(`NodePrepareResources left out ResourceClaim ${claim.name}`);
    if (answer.error !== "") throw new Error(`NodePrepareResources failed for ResourceClaim ${claim.name}: ${answer.error}`);
    return answer.devices.map(({ request_names, cdi_device_ids }) => ({ requests: request_names, cdiIds: cdi_device_ids }));
  }

  async #releaseClaim(uid: string, podUid: string, signal: AbortSignal): Promise<void> {
    const claim = this.#claims.get(uid);
    if (claim === undefined) return;
    const { [podUid]: _gone, ...others } = claim.pods;
    if (Object.keys(others).length > 0) return this.#keep(uid, { ...claim, pods: others });
    for (const driver of claim.drivers) {
      const answer = (await this.#call(driver, "NodeUnprepareResources", { uid, name: claim.name, namespace: claim.namespace }, signal)) as
        | { error: string }
        | undefined;
      if (answer !== undefined && answer.error !== "") throw new Error(`NodeUnprepareResources failed for ResourceClaim ${claim.name}: ${answer.error}`);
    }
    this.#claims.delete(uid);
    this.#file.write(Object.fromEntries(this.#claims));
  }

  /** The answer for the claim. */
  async #call(driverName: string, method: string, claim: ClaimName, signal: AbortSignal): Promise<unknown> {
    const driver = this.#drivers.get(driverName);
    if (driver === undefined) throw new Error(`DRA driver ${driverName} is not registered`);
    try {
      const { claims } = (await driver.connection.service(driver.service, claimTables).call(method, { claims: [claim] }, { signal, timeoutMs: 45_000 })) as {
        claims: Record<string, unknown>;
      };
      return claims[claim.uid];
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      throw new Error(`${method}: ${error.rpcMessage}`, { cause: error });
    }
  }

  async #exclusively<T>(uid: string, work: () => Promise<T>): Promise<T> {
    const before = this.#busy.get(uid);
    const done = (before ?? Promise.resolve()).catch(() => undefined).then(work);
    this.#busy.set(uid, done);
    try {
      return await done;
    } finally {
      if (this.#busy.get(uid) === done) this.#busy.delete(uid);
    }
  }

  #keep(uid: string, claim: PreparedClaim): void {
    this.#claims.set(uid, claim);
    this.#file.write(Object.fromEntries(this.#claims));
  }
}

export interface ClaimManagerOptions {
  /** Of the state that is kept; absent on nodes without drivers. */
  readonly path: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** A driver came: pods that waited for it may go on. */
  onDriver(): void;
}

interface PreparedClaim extends Omit<ClaimName, "uid"> {
  /** By uid of the pod: its own names for the claim. */
  readonly pods: Readonly<Record<string, readonly string[]>>;
  readonly drivers: readonly string[];
  readonly devices: Readonly<Record<string, readonly PreparedDevice[]>>;
  readonly isComplete: boolean;
}

type ClaimName = { readonly uid: string; readonly name: string; readonly namespace: string };

interface Driver {
  readonly connection: GrpcConnection;
  readonly service: string;
}

type PrepareAnswer = {
  readonly error: string;
  readonly devices: readonly { readonly request_names: readonly string[]; readonly cdi_device_ids: readonly string[] }[];
};

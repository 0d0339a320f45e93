import { resources } from "../client/index.ts";
import type { Informer, InformerSet } from "../client/index.ts";
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { Node, Pod, Service } from "../api/core-v1/types.ts";
import type { EndpointSlice } from "../api/discovery-v1/types.ts";
import type { ServiceCIDR } from "../api/networking-v1/types.ts";
import { loopbackSlices } from "./forwarder/loopback-slices.ts";
import { planService } from "./plan.ts";
import type { ServicePlan } from "./plan.ts";

/**
 * What the API says about Services, and which of them changed since the proxy looked. Driven by informers and read by the proxy.
 * Invariant: a change of anything that a Service's plan depends on marks that Service.
 */
export class ServiceView {
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #nodes: Informer<Node>;
  readonly #serviceCidrs: Informer<ServiceCIDR>;
  readonly #pods: Informer<Pod> | undefined;
  readonly #nodeName: string;
  readonly #unsubscribe: (() => void)[];
  #changed = new Set<string>();
  #isMarked = false;
  #wake: (() => void) | undefined;

  constructor(informers: InformerSet, options: { nodeName: string; withLoopbackPods: boolean }) {
    this.#nodeName = options.nodeName;
    this.#services = informers.get(resources.services);
    this.#slices = informers.get(resources.endpointSlices);
    this.#nodes = informers.get(resources.nodes, { fieldSelector: `metadata.name=${options.nodeName}` });
    this.#serviceCidrs = informers.get(resources.serviceCIDRs);
    this.#pods = options.withLoopbackPods ? informers.get(resources.pods) : undefined;
    this.#slices.addIndex("service", (slice) => [serviceOf(slice)]);
    this.#unsubscribe = [
      this.#services.subscribe(({ object }) => this.#mark(nameOf(object))),
      this.#slices.subscribe(({ object, old }) => {
        this.#mark(serviceOf(object));
        if (old !== undefined && serviceOf(old) !== serviceOf(object)) this.#mark(serviceOf(old));
      }),
      this.#nodes.subscribe(({ object, old }) => {
        if (zoneOf(object) !== zoneOf(old)) this.#markAll();
      }),
      this.#serviceCidrs.subscribe(() => this.#notify()),
      this.#pods?.subscribe(({ object }) => {
        for (const service of this.#services.list(object.metadata.namespace)) this.#mark(nameOf(service));
      }) ?? (() => false),
    ];
  }

  /** Resolves when something has changed since `takeChanged`. */
  changed(signal: AbortSignal): Promise<void> {
    if (this.#isMarked) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#wake = () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
    });
  }

  /** Names (`namespace/name`) of Services that changed or went since the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    this.#isMarked = false;
    return changed;
  }

  plan(name: string): ServicePlan | undefined {
    const slash = name.indexOf("/");
    const service = this.#services.get(name.slice(0, slash), name.slice(slash + 1));
    if (service === undefined) return undefined;
    const zone = zoneOf(this.#nodes.get("", this.#nodeName));
    const node = { nodeName: this.#nodeName, ...(zone !== undefined && { zone }) };
    const slices = [
      ...this.#slices.byIndex("service", name),
      ...(this.#pods === undefined ? [] : loopbackSlices(service, this.#pods.list(service.metadata.namespace))),
    ];
    return planService(service, slices, node);
  }

  /** The ranges that Services' addresses come from. */
  serviceCidrs(): string[] {
    return this.#serviceCidrs
      .list()
      .flatMap((serviceCidr) => (serviceCidr.metadata.deletionTimestamp === undefined ? [...(serviceCidr.spec?.cidrs ?? [])] : []));
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #mark(name: string): void {
    this.#changed.add(name);
    this.#notify();
  }

  #markAll(): void {
    for (const service of this.#services.list()) this.#changed.add(nameOf(service));
    this.#notify();
  }

  #notify(): void {
    this.#isMarked = true;
    this.#wake?.();
    this.#wake = undefined;
  }
}

const nameOf = (service: DeepReadonly<Service>) => `${service.metadata.namespace}/${service.metadata.name}`;
const serviceOf = (slice: DeepReadonly<EndpointSlice>) => `${slice.metadata.namespace}/${slice.metadata.labels?.["kubernetes.io/service-name"] ?? ""}`;
const zoneOf = (node: DeepReadonly<Node> | undefined) => node?.metadata.labels?.["topology.kubernetes.io/zone"];

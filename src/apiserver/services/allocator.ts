/**
 * Cluster addresses and node ports of Services (documentation page "Service ClusterIP allocation"; KEP-1880). What is taken is read off
 * the Services in the cache, so that a crash can neither lose nor double an allocation; what is being given out in this moment is kept
 * in `#pending` until the write is done.
 */
import { invalid } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { StatusError, internalServerError, invalidError } from "../../apimachinery/status.ts";
import type { Service, ServicePort } from "../../api/core-v1/types.ts";
import type { ServiceCIDR } from "../../api/networking-v1/types.ts";
import type { Random } from "../../base/random.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { ServerState } from "../server-state.ts";
import { canonicalAddress, clusterAddresses, publishAddresses, removeAddresses } from "./address-objects.ts";
import { AddressRange } from "./address-range.ts";

export interface AllocationRequest {
  readonly server: ServerState;
  readonly definition: ResourceDefinition;
  /** Changed in place: addresses and ports are filled in. */
  readonly object: KubeObject;
  readonly oldObject: KubeObject | undefined;
  readonly isDryRun: boolean;
}

/** `keep` after the write, `release` when it did not happen. Both may be called once or not at all. */
export interface Allocation {
  keep(): Promise<void>;
  release(): Promise<void>;
}

export interface AllocatorOptions {
  readonly cache: () => ResourceCache;
  /** The IPAddress objects: what others have taken. */
  readonly addresses: () => ResourceCache;
  readonly random: Random;
  /** The server's own ranges. */
  readonly ranges: readonly string[];
  /** The ServiceCIDR objects: further ranges (KEP-1880). */
  readonly serviceCidrs: () => ResourceCache;
  readonly nodePorts: { readonly first: number; readonly last: number };
}

/** What is being given out for one Service. */
interface Claims<T> {
  readonly held: T[];
  readonly isDryRun: boolean;
}

const nothing: Allocation = { async keep() {}, async release() {} };

export class ServiceAllocator {
  readonly #options: AllocatorOptions;
  readonly #ownRanges: readonly AddressRange[];
  readonly #pendingAddresses = new Set<string>();
  readonly #pendingPorts = new Set<number>();

  constructor(options: AllocatorOptions) {
    this.#options = options;
    this.#ownRanges = options.ranges.map((cidr) => new AddressRange(cidr));
  }

  /** Fills in what the Service needs. Throws 422 for an address or port that cannot be had, 500 when the range is full. */
  async allocate(request: AllocationRequest): Promise<Allocation> {
    if (request.definition.kind !== "Service" || request.definition.group !== "") return nothing;
    const service = request.object as unknown as Service;
    const old = request.oldObject as unknown as Service | undefined;
    const held: { addresses: string[]; ports: number[] } = { addresses: [], ports: [] };
    const release = async () => {
      for (const address of held.addresses) this.#pendingAddresses.delete(address);
      for (const port of held.ports) this.#pendingPorts.delete(port);
    };
    try {
      this.#allocateAddresses(service, old, { held: held.addresses, isDryRun: request.isDryRun });
      this.#allocatePorts(service, old, { held: held.ports, isDryRun: request.isDryRun });
    } catch (error) {
      await release();
      throw error;
    }
    const keep = async () => {
      await publishAddresses(request.server, service, old);
      await release();
    };
    return { keep, release };
  }

  /** Called after a Service is gone: its address objects go too. */
  async released(server: ServerState, definition: ResourceDefinition, object: KubeObject): Promise<void> {
    if (definition.kind !== "Service" || definition.group !== "") return;
    await removeAddresses(server, clusterAddresses(object as unknown as Service));
  }

  #allocateAddresses(service: Service, old: Service | undefined, { held, isDryRun }: Claims<string>): void {
    const spec = service.spec!;
    if (spec.type === "ExternalName" || spec.clusterIP === "None") return;
    const families = spec.ipFamilies ?? [];
    const kept = new Set(old?.spec?.clusterIPs ?? []);
    const given = spec.clusterIPs ?? [];
    const addresses: string[] = [];
    const errors: FieldError[] = [];
    for (const [index, family] of families.entries()) {
      const wanted = given[index];
      const ranges = this.#ranges().filter((candidate) => candidate.family === family);
      if (wanted !== undefined && wanted !== "" && kept.has(wanted)) addresses.push(wanted);
      else if (wanted !== undefined && wanted !== "") {
        const fault = isDryRun ? this.#dryRunFault(ranges, wanted, given) : this.#claim(ranges, wanted, given);
        if (fault !== undefined) errors.push(fault);
        else if (!isDryRun) held.push(canonicalAddress(wanted));
        addresses.push(wanted);
      } else {
        if (ranges.length === 0) throw internalServerError(`failed to allocate a serviceIP: no range of family ${family}`);
        const address = this.#pickAddress(ranges);
        if (address === undefined) throw fullRange(service);
        this.#pendingAddresses.add(address);
        held.push(address);
        addresses.push(address);
      }
    }
    if (errors.length > 0) throw invalidError({ group: "", kind: "Service" }, service.metadata.name ?? "", errors);
    if (addresses.length > 0) {
      spec.clusterIP = addresses[0]!;
      spec.clusterIPs = addresses;
    }
  }

  /** `given`: all addresses that the Service asks for, which the fault shows. */
  #claim(ranges: readonly AddressRange[], address: string, given: readonly string[]): FieldError | undefined {
    const path = FieldPath.root("spec", "clusterIPs");
    if (!ranges.some((range) => range.contains(address))) {
      return invalid(path, given, `failed to allocate IP ${address}: the provided network does not match the current range`);
    }
    const canonical = canonicalAddress(address);
    if (this.#isAddressTaken(canonical)) return invalid(path, given, `failed to allocate IP ${address}: provided IP is already allocated`);
    this.#pendingAddresses.add(canonical);
    return undefined;
  }

  /** In a dry run nothing is asked of an address but that a range has it, as upstream does. */
  #dryRunFault(ranges: readonly AddressRange[], address: string, given: readonly string[]): FieldError | undefined {
    if (ranges.some((range) => range.contains(address))) return undefined;
    const fault =
      ranges[0] === undefined
        ? "the provided network does not match the current range"
        : `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${ranges[0].cidr}`;
    return invalid(FieldPath.root("spec", "clusterIPs"), given, `failed to allocate IP ${address}: ${fault}`);
  }

  #pickAddress(ranges: readonly AddressRange[]): string | undefined {
    for (const range of ranges) {
      const address = range.pick(this.#options.random, (candidate) => this.#isAddressTaken(candidate));
      if (address !== undefined) return address;
    }
    return undefined;
  }

  #knownRanges: { state: unknown; ranges: readonly AddressRange[] } | undefined;

  /** The server's own ranges, then those of ServiceCIDRs that are neither refused nor leaving. (One that nobody has judged counts as ready.) */
  #ranges(): readonly AddressRange[] {
    const cache = this.#options.serviceCidrs();
    if (this.#knownRanges?.state === cache.state) return this.#knownRanges.ranges;
    const known = new Map(this.#ownRanges.map((range) => [range.cidr, range]));
    for (const [, stored] of cache.state.entries()) {
      const { metadata, spec, status } = cache.parse(stored) as unknown as ServiceCIDR;
      const isRefused = (status?.conditions ?? []).some((condition) => condition.type === "Ready" && condition.status !== "True");
      if (isRefused || metadata.deletionTimestamp !== undefined) continue;
      for (const cidr of spec?.cidrs ?? []) if (!known.has(cidr)) known.set(cidr, new AddressRange(cidr));
    }
    this.#knownRanges = { state: cache.state, ranges: [...known.values()] };
    return this.#knownRanges.ranges;
  }

  #allocatePorts(service: Service, old: Service | undefined, { held, isDryRun }: Claims<number>): void {
    const spec = service.spec!;
    const needsPorts = spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
    const own = new Set([...(old?.spec?.ports ?? []).map((port) => port.nodePort ?? 0), old?.spec?.healthCheckNodePort ?? 0]);
    const errors: FieldError[] = [];
    const claimed = new Map<number, string>();
    for (const [index, port] of (spec.ports ?? []).entries()) {
      const wanted = port.nodePort ?? 0;
      if (wanted === 0) continue;
      const fault = this.#claimPort(port, FieldPath.root("spec", "ports").index(index).child("nodePort"), { own, claimed, isDryRun });
      if (fault !== undefined) errors.push(fault);
      else if (!own.has(wanted)) held.push(wanted);
    }
    if (errors.length > 0) throw invalidError({ group: "", kind: "Service" }, service.metadata.name ?? "", errors);
    if (needsPorts) for (const port of spec.ports ?? []) if ((port.nodePort ?? 0) === 0) port.nodePort = this.#pickPort(spec.ports ?? [], port, held);
    if (needsHealthCheckPort(service)) {
      const wanted = spec.healthCheckNodePort ?? 0;
      if (wanted === 0) spec.healthCheckNodePort = this.#pickPort([], undefined, held);
      else if (!own.has(wanted)) this.#claimHealthCheckPort(wanted, held);
    }
  }

  #claimPort(port: ServicePort, path: FieldPath, state: { own: ReadonlySet<number>; claimed: Map<number, string>; isDryRun: boolean }): FieldError | undefined {
    const wanted = port.nodePort!;
    const { first, last } = this.#options.nodePorts;
    if (state.own.has(wanted)) return undefined;
    // (A dry run does not look at the range, as upstream does.)
    if (!state.isDryRun && (wanted < first || wanted > last))
      return invalid(path, wanted, `provided port is not in the valid range. The range of valid ports is ${first}-${last}`);
    // One Service may use a port once for each protocol.
    const earlier = state.claimed.get(wanted);
    if (earlier !== undefined && earlier !== port.protocol) return undefined;
    if (earlier !== undefined || this.#isPortTaken(wanted)) return invalid(path, wanted, "provided port is already allocated");
    state.claimed.set(wanted, port.protocol ?? "TCP");
    this.#pendingPorts.add(wanted);
    return undefined;
  }

  #claimHealthCheckPort(wanted: number, held: number[]): void {
    const { first, last } = this.#options.nodePorts;
    const refuse = (fault: string) => internalServerError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${fault}`);
    if (wanted < first || wanted > last) throw refuse(`provided port is not in the valid range. The range of valid ports is ${first}-${last}`);
    if (this.#isPortTaken(wanted)) throw refuse("provided port is already allocated");
    this.#pendingPorts.add(wanted);
    held.push(wanted);
  }

  /** A free port; ports of the same number and another protocol share their node port. */
  #pickPort(all: readonly ServicePort[], port: ServicePort | undefined, held: number[]): number {
    const twin = port && all.find((other) => other !== port && other.port === port.port && other.protocol !== port.protocol && (other.nodePort ?? 0) !== 0);
    if (twin !== undefined) return twin.nodePort!;
    const { first, last } = this.#options.nodePorts;
    const size = last - first + 1;
    const start = this.#options.random.integer(size);
    for (let step = 0; step < size; step++) {
      const candidate = first + ((start + step) % size);
      if (this.#isPortTaken(candidate)) continue;
      this.#pendingPorts.add(candidate);
      held.push(candidate);
      return candidate;
    }
    throw internalServerError("failed to allocate a nodePort: range is full");
  }

  #isAddressTaken(address: string): boolean {
    if (this.#pendingAddresses.has(address)) return true;
    return this.#taken().addresses.has(address) || this.#options.addresses().get(address) !== undefined;
  }

  #isPortTaken(port: number): boolean {
    return this.#pendingPorts.has(port) || this.#taken().ports.has(port);
  }

  #known: { state: unknown; addresses: Set<string>; ports: Set<number> } | undefined;

  /** Addresses and ports of all Services, read again when one has changed. */
  #taken(): { addresses: Set<string>; ports: Set<number> } {
    const cache = this.#options.cache();
    if (this.#known?.state === cache.state) return this.#known;
    const addresses = new Set<string>();
    const ports = new Set<number>();
    for (const [, stored] of cache.state.entries()) {
      const { spec } = cache.parse(stored) as unknown as Service;
      for (const address of spec?.clusterIPs ?? []) addresses.add(canonicalAddress(address));
      for (const port of spec?.ports ?? []) if (port.nodePort) ports.add(port.nodePort);
      if (spec?.healthCheckNodePort) ports.add(spec.healthCheckNodePort);
    }
    this.#known = { state: cache.state, addresses, ports };
    return this.#known;
  }
}

function needsHealthCheckPort(service: Service): boolean {
  return service.spec?.type === "LoadBalancer" && service.spec.externalTrafficPolicy === "Local";
}

function fullRange({ metadata }: Service): StatusError {
  const message = `failed to allocate a serviceIP for Service ${JSON.stringify(metadata.name ?? "")}: range is full`;
  return new StatusError({ message: `Internal error occurred: ${message}`, reason: "InternalError", details: { causes: [{ message }] }, code: 500 });
}

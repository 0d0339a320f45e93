/**
 * The cluster's zone (Kubernetes DNS specification 1.1.0): what a name in it answers, given Services, EndpointSlices and namespaces.
 * Pure. Pod names `a-b-c-d.NAMESPACE.pod.ZONE` are answered from the name alone, as cluster DNS servers usually do.
 */
import { ipText, parseIp } from "../apimachinery/net.ts";
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { Service, ServicePort } from "../api/core-v1/types.ts";
import type { Endpoint, EndpointSlice } from "../api/discovery-v1/types.ts";
import { addressBytes, addressOfReverseName } from "./addresses.ts";
import { recordTypes, responseCodes } from "./wire.ts";
import type { DnsRecord, DnsResponse } from "./wire.ts";

/** The response for a name of the zone or of a cluster address; undefined for what other servers know. `name` is in lower case. */
export function answerQuestion(question: Question, view: ClusterView): ZoneAnswer | undefined {
  const { name } = question;
  const zone = view.zone;
  if (name !== zone && !name.endsWith(`.${zone}`)) return answerReverse(question, view);
  const labels = name === zone ? [] : name.slice(0, -zone.length - 1).split(".");
  const found = lookUp(labels.reverse(), view);
  if (found === undefined) return { ...empty(view, responseCodes.nameError) };
  if (found.alias !== undefined) {
    const record: DnsRecord = { name, ttl: view.ttlSeconds, type: "CNAME", target: found.alias };
    return { ...answer([record]), ...(question.type !== recordTypes.CNAME && { alias: found.alias }) };
  }
  const records = found.records(question);
  if (records.length === 0) return empty(view, responseCodes.noError);
  return { ...answer(records), additionals: question.type === recordTypes.SRV ? (found.targets?.() ?? []) : [] };
}

export interface Question {
  readonly name: string;
  readonly type: number;
}

/** `alias` is a name whose records of the asked type are still to be found and appended. */
export interface ZoneAnswer extends DnsResponse {
  readonly alias?: string;
}

/** What the zone is made of. */
export interface ClusterView {
  /** `cluster.local`. */
  readonly zone: string;
  readonly ttlSeconds: number;
  /** Grows with every change. */
  readonly serial: number;
  hasNamespace(name: string): boolean;
  service(namespace: string, name: string): DeepReadonly<Service> | undefined;
  slicesOf(namespace: string, service: string): readonly DeepReadonly<EndpointSlice>[];
  /** By canonical address: the Services that have it as ClusterIP. */
  servicesByAddress(address: string): readonly DeepReadonly<Service>[];
  /** By canonical address: slices with an endpoint of it. */
  slicesByAddress(address: string): readonly DeepReadonly<EndpointSlice>[];
}

/** What stands at a name: an alias, or records by type (none for a name that is only a part of longer ones). */
interface Found {
  readonly alias?: string;
  records(question: Question): DnsRecord[];
  /** Addresses of SRV targets. */
  readonly targets?: () => DnsRecord[];
}

const nothingHere: Found = { records: () => [] };

function lookUp([first, ...labels]: readonly string[], view: ClusterView): Found | undefined {
  const { zone, ttlSeconds: ttl } = view;
  switch (first) {
    case undefined:
      return {
        records: ({ name, type }) =>
          type === recordTypes.SOA ? [startOfAuthority(view)] : type === recordTypes.NS ? [{ name, ttl, type: "NS", target: `ns.dns.${zone}` }] : [],
      };
    case "dns-version":
      if (labels.length > 0) return undefined;
      return { records: ({ name, type }) => (type === recordTypes.TXT ? [{ name, ttl, type: "TXT", text: "1.1.0" }] : []) };
    case "svc":
      return lookUpService(labels, view);
    case "pod":
      return lookUpPod(labels, view);
    default:
      return undefined;
  }
}

/** `labels` run from the namespace to the left. */
function lookUpService([namespace, name, ...rest]: readonly string[], view: ClusterView): Found | undefined {
  if (namespace === undefined) return nothingHere;
  if (name === undefined) return view.hasNamespace(namespace) ? nothingHere : undefined;
  const service = view.service(namespace, name);
  if (service === undefined) return undefined;
  const { spec } = service;
  if (spec?.type === "ExternalName")
    return rest.length === 0 ? { alias: (spec.externalName ?? "").toLowerCase().replace(/\.$/, ""), records: () => [] } : undefined;
  const isHeadless = spec?.clusterIP === "None";
  const [last, port] = rest;
  if (rest.length > 2) return undefined;
  if (last?.startsWith("_") === true)
    return isHeadless ? headlessPorts(service, { protocol: last, port }, view) : clusterPorts(service, { protocol: last, port }, view);
  if (rest.length > 1) return undefined;
  if (isHeadless) return headless(service, last, view);
  return last === undefined ? clusterAddress(service, view) : undefined;
}

/** Names such as `_http` and `_tcp`; without a port the name only leads to longer ones. */
interface PortLabels {
  readonly protocol: string;
  readonly port: string | undefined;
}

function clusterAddress(service: DeepReadonly<Service>, view: ClusterView): Found {
  const addresses = service.spec?.clusterIPs ?? [service.spec?.clusterIP ?? ""];
  return { records: ({ name, type }) => addressRecords(name, addresses, view.ttlSeconds).filter((record) => recordTypes[record.type] === type) };
}

function clusterPorts(service: DeepReadonly<Service>, labels: PortLabels, view: ClusterView): Found | undefined {
  const ports = (service.spec?.ports ?? []).filter((port) => isNamed(port, labels));
  if (ports.length === 0) return undefined;
  if (labels.port === undefined) return nothingHere;
  const target = serviceName(service, view);
  return {
    records: ({ name, type }) =>
      type === recordTypes.SRV ? ports.map(({ port }) => ({ name, ttl: view.ttlSeconds, type: "SRV", priority: 0, weight: 100, port, target })) : [],
    targets: () => addressRecords(target, service.spec?.clusterIPs ?? [service.spec?.clusterIP ?? ""], view.ttlSeconds),
  };
}

/** All ready endpoints, or those of one host name. */
function headless(service: DeepReadonly<Service>, hostname: string | undefined, view: ClusterView): Found | undefined {
  const addresses = readyEndpoints(service, view).flatMap(({ endpoint }) =>
    hostname === undefined || hostnameOf(endpoint) === hostname ? (endpoint.addresses ?? []) : [],
  );
  const unique = [...new Set(addresses)];
  if (unique.length === 0) return undefined;
  return { records: ({ name, type }) => addressRecords(name, unique, view.ttlSeconds).filter((record) => recordTypes[record.type] === type) };
}

function headlessPorts(service: DeepReadonly<Service>, labels: PortLabels, view: ClusterView): Found | undefined {
  const base = serviceName(service, view);
  const found = new Map<string, { target: string; port: number; addresses: readonly string[] }>();
  for (const { endpoint, slice } of readyEndpoints(service, view)) {
    for (const port of slice.ports ?? []) {
      if (port.port === undefined || !isNamed(port, labels)) continue;
      const target = `${hostnameOf(endpoint)}.${base}`;
      const known = found.get(`${target} ${port.port}`)?.addresses ?? [];
      found.set(`${target} ${port.port}`, { target, port: port.port, addresses: [...known, ...(endpoint.addresses ?? [])] });
    }
  }
  if (found.size === 0) return undefined;
  if (labels.port === undefined) return nothingHere;
  const hosts = [...found.values()];
  const weight = Math.max(1, Math.floor(100 / hosts.length));
  return {
    records: ({ name, type }) =>
      type === recordTypes.SRV ? hosts.map(({ target, port }) => ({ name, ttl: view.ttlSeconds, type: "SRV", priority: 0, weight, port, target })) : [],
    targets: () => hosts.flatMap(({ target, addresses }) => addressRecords(target, [...new Set(addresses)], view.ttlSeconds)),
  };
}

function lookUpPod([namespace, pod, ...rest]: readonly string[], view: ClusterView): Found | undefined {
  if (namespace === undefined) return nothingHere;
  if (!view.hasNamespace(namespace) || rest.length > 0) return undefined;
  if (pod === undefined) return nothingHere;
  const address = parseIp(/^\d+(-\d+){3}$/.test(pod) ? pod.replaceAll("-", ".") : pod.replaceAll("-", ":"));
  if (address === undefined) return undefined;
  return { records: ({ name, type }) => addressRecords(name, [ipText(address)], view.ttlSeconds).filter((record) => recordTypes[record.type] === type) };
}

/** PTR of ClusterIPs and of headless Services' endpoints; other addresses belong to other servers. */
function answerReverse({ name, type }: Question, view: ClusterView): ZoneAnswer | undefined {
  const address = addressOfReverseName(name);
  if (address === undefined) return undefined;
  const targets = view.servicesByAddress(address).map((service) => serviceName(service, view));
  for (const slice of view.slicesByAddress(address)) {
    const service = view.service(slice.metadata.namespace ?? "", slice.metadata.labels?.["kubernetes.io/service-name"] ?? "");
    if (service?.spec?.clusterIP !== "None") continue;
    for (const endpoint of slice.endpoints ?? [])
      if (isReady(endpoint) && endpoint.addresses?.includes(address) === true) targets.push(`${hostnameOf(endpoint)}.${serviceName(service, view)}`);
  }
  if (targets.length === 0) return undefined;
  if (type !== recordTypes.PTR) return empty(view, responseCodes.noError);
  return answer([...new Set(targets)].map((target) => ({ name, ttl: view.ttlSeconds, type: "PTR", target })));
}

function readyEndpoints(service: DeepReadonly<Service>, view: ClusterView): { endpoint: DeepReadonly<Endpoint>; slice: DeepReadonly<EndpointSlice> }[] {
  const slices = view.slicesOf(service.metadata.namespace ?? "", service.metadata.name ?? "");
  return slices.flatMap((slice) => (slice.endpoints ?? []).filter(isReady).map((endpoint) => ({ endpoint, slice })));
}

const isReady = (endpoint: DeepReadonly<Endpoint>) => endpoint.conditions?.ready !== false;

/** The endpoint's host name, or one made of its address. */
function hostnameOf(endpoint: DeepReadonly<Endpoint>): string {
  return endpoint.hostname ?? (endpoint.addresses?.[0] ?? "").replaceAll(/[.:]/g, "-");
}

function isNamed(port: Pick<DeepReadonly<ServicePort>, "name" | "protocol">, labels: PortLabels): boolean {
  if (`_${(port.protocol ?? "TCP").toLowerCase()}` !== labels.protocol) return false;
  return (port.name ?? "") !== "" && (labels.port === undefined || labels.port === `_${port.name}`);
}

function serviceName(service: DeepReadonly<Service>, view: ClusterView): string {
  return `${service.metadata.name}.${service.metadata.namespace}.svc.${view.zone}`;
}

function addressRecords(name: string, addresses: readonly string[], ttl: number): DnsRecord[] {
  return addresses.flatMap((text) => {
    const address = addressBytes(text);
    return address === undefined ? [] : [{ name, ttl, type: address.length === 4 ? "A" : "AAAA", address }];
  });
}

function answer(answers: readonly DnsRecord[]): ZoneAnswer {
  return { code: responseCodes.noError, isAuthoritative: true, answers, authorities: [], additionals: [] };
}

/** No records: the SOA tells for how long that may be remembered (RFC 2308). */
function empty(view: ClusterView, code: number): ZoneAnswer {
  return { code, isAuthoritative: true, answers: [], authorities: [startOfAuthority(view)], additionals: [] };
}

function startOfAuthority({ zone, ttlSeconds: ttl, serial }: ClusterView): DnsRecord {
  return { name: zone, ttl, type: "SOA", primary: `ns.dns.${zone}`, mailbox: `hostmaster.${zone}`, serial, minimumTtl: ttl };
}

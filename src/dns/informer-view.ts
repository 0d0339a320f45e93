/** The zone's view of the cluster, read from informers at the moment of the question. */
import { ipText, parseIp } from "../apimachinery/net.ts";
import { resources } from "../client/index.ts";
import type { InformerSet } from "../client/index.ts";
import type { ClusterView } from "./zone.ts";

export function informerView(informers: InformerSet, options: { zone: string; ttlSeconds: number }): ClusterView {
  const services = informers.get(resources.services);
  const slices = informers.get(resources.endpointSlices);
  const namespaces = informers.get(resources.namespaces);
  services.addIndex("address", ({ spec }) => canonical(spec?.clusterIPs ?? [spec?.clusterIP ?? ""]));
  slices.addIndex("service", ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.["kubernetes.io/service-name"] ?? ""}`]);
  // Reverse names exist for headless Services, whose slices carry this label; indexing all would double the memory.
  slices.addIndex("address", ({ metadata, endpoints }) =>
    metadata.labels?.["service.kubernetes.io/headless"] === undefined ? [] : canonical(endpoints?.flatMap(({ addresses }) => addresses ?? []) ?? []),
  );
  let serial = 0;
  for (const informer of [services, slices, namespaces]) informer.subscribe(() => (serial = (serial + 1) >>> 0));
  return {
    zone: options.zone,
    ttlSeconds: options.ttlSeconds,
    get serial() {
      return serial;
    },
    hasNamespace: (name) => namespaces.get("", name) !== undefined,
    service: (namespace, name) => services.get(namespace, name),
    slicesOf: (namespace, service) => slices.byIndex("service", `${namespace}/${service}`),
    servicesByAddress: (address) => services.byIndex("address", address),
    slicesByAddress: (address) => slices.byIndex("address", address),
  };
}

function canonical(addresses: readonly string[]): string[] {
  const texts = addresses.map((text) => parseIp(text, true)).filter((address) => address !== undefined);
  return [...new Set(texts.map(ipText))];
}

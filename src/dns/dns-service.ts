/**
 * The Service through which pods find the server: `kube-system/kube-dns` without a selector, and one EndpointSlice with the place where
 * the server listens. A Service of that name with a selector is somebody else's DNS server and is left alone.
 */
import { isDeepStrictEqual } from "node:util";
import type { Service } from "../api/core-v1/types.ts";
import type { EndpointSlice } from "../api/discovery-v1/types.ts";
import { isAlreadyExists, isNotFound } from "../apimachinery/status.ts";
import { resources } from "../client/index.ts";
import type { Client } from "../client/index.ts";

export interface DnsPlace {
  /** The Service's address, the tenth of the range by custom. */
  readonly clusterAddress: string;
  /** Where the server is reached from pods. */
  readonly address: string;
  readonly port: number;
  readonly nodeName: string;
}

const namespace = "kube-system";
const name = "kube-dns";

/** Resolves with whether the name now leads to our server. */
export async function publishDnsService(client: Client, place: DnsPlace): Promise<boolean> {
  const service = await ensureService(client, place);
  if (Object.keys(service.spec?.selector ?? {}).length > 0) return false;
  const wanted = dnsSlice(place);
  const current = await client.get(resources.endpointSlices, namespace, wanted.metadata.name!).catch(orMissing);
  if (current === undefined) await client.create(resources.endpointSlices, wanted);
  else if (!isDeepStrictEqual(current.endpoints, wanted.endpoints) || !isDeepStrictEqual(current.ports, wanted.ports))
    await client.update(resources.endpointSlices, { ...current, endpoints: wanted.endpoints!, ports: wanted.ports! });
  return true;
}

async function ensureService(client: Client, place: DnsPlace): Promise<Service> {
  const known = await client.get(resources.services, namespace, name).catch(orMissing);
  if (known !== undefined) return known;
  try {
    return await client.create(resources.services, dnsService(place));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return client.get(resources.services, namespace, name);
  }
}

export function dnsService({ clusterAddress }: DnsPlace): Service {
  return {
    kind: "Service",
    apiVersion: "v1",
    metadata: { namespace, name, labels: { "k8s-app": "kube-dns", "kubernetes.io/cluster-service": "true", "kubernetes.io/name": "CoreDNS" } },
    spec: {
      clusterIP: clusterAddress,
      ports: [
        { name: "dns", protocol: "UDP", port: 53 },
        { name: "dns-tcp", protocol: "TCP", port: 53 },
      ],
    },
  };
}

export function dnsSlice({ address, port, nodeName }: DnsPlace): EndpointSlice {
  return {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    metadata: { namespace, name: "kube-dns-coracle", labels: { "kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": "dns.coracle" } },
    addressType: address.includes(":") ? "IPv6" : "IPv4",
    endpoints: [{ addresses: [address], conditions: { ready: true, serving: true, terminating: false }, nodeName }],
    ports: [
      { name: "dns", protocol: "UDP", port },
      { name: "dns-tcp", protocol: "TCP", port },
    ],
  };
}

function orMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

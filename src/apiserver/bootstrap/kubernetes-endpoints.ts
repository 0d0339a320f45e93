/**
 * Endpoints of the Service `default/kubernetes`: the addresses of all API servers on this store (flag `--endpoint-reconciler-type=lease`).
 *
 * Each server keeps a lease below `masterleases/` with its address in it; whoever looks publishes the addresses whose leases live. A
 * server that ends takes its lease back; one that is killed is forgotten when its lease runs out.
 */
import { isIP } from "node:net";
import { sleep } from "../../base/clock.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { createInternally, updateInternally } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";

const leaseSeconds = 15;
const roundMs = 10_000;

const target = { namespace: "default", name: "kubernetes" };

/** Publishes at once, then again and again until the server ends. */
export async function keepEndpoints(server: ServerState): Promise<void> {
  if (!server.settings.publishesEndpoints) return;
  await publish(server);
  server.tasks.start("publish the endpoints of the kubernetes service", async (signal) => {
    while (!signal.aborted) {
      await sleep(server.clock, roundMs, signal).catch(() => {});
      if (signal.aborted) break;
      // (The next round makes good what this one could not.)
      await publish(server).catch((error: unknown) => server.log.warn("Could not publish the endpoints of the kubernetes service", { error }));
    }
    await endLease(server).catch((error: unknown) => server.log.warn("Could not take the server's address back", { error }));
  });
}

async function publish(server: ServerState): Promise<void> {
  await renewLease(server);
  const addresses = await livingAddresses(server);
  await reconcile(server, ["", "v1", "endpoints"], endpointsOf(server, addresses));
  await reconcile(server, ["discovery.k8s.io", "v1", "endpointslices"], sliceOf(server, addresses));
}

const leasePrefix = ({ settings }: ServerState) => `${settings.storageRoot}masterleases/`;

async function renewLease(server: ServerState): Promise<void> {
  const { advertiseAddress: ip } = server.settings;
  const key = leasePrefix(server) + ip;
  const current = await server.store.get(key);
  const lease = { kind: "Endpoints", apiVersion: "v1", metadata: {}, subsets: [{ addresses: [{ ip }] }] };
  await server.store.commit({ kind: "put", key, value: Buffer.from(JSON.stringify(lease)), expected: current?.modRevision ?? 0, ttlSeconds: leaseSeconds });
}

async function endLease(server: ServerState): Promise<void> {
  const key = leasePrefix(server) + server.settings.advertiseAddress;
  const current = await server.store.get(key);
  if (current !== undefined) await server.store.commit({ kind: "delete", key, expected: current.modRevision });
}

/** The addresses are the leases' names. */
async function livingAddresses(server: ServerState): Promise<string[]> {
  const prefix = leasePrefix(server);
  const { items } = await server.store.range(prefix);
  return items.map(({ key }) => key.slice(prefix.length)).sort();
}

function endpointsOf({ settings }: ServerState, addresses: readonly string[]): KubeObject {
  return {
    kind: "Endpoints",
    apiVersion: "v1",
    metadata: { ...target, labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
    subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports: [{ name: "https", port: settings.securePort, protocol: "TCP" }] }],
  };
}

function sliceOf({ settings }: ServerState, addresses: readonly string[]): KubeObject {
  return {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    metadata: { ...target, labels: { "kubernetes.io/service-name": target.name } },
    addressType: isIP(settings.advertiseAddress) === 6 ? "IPv6" : "IPv4",
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: "https", port: settings.securePort, protocol: "TCP" }],
  };
}

/** Makes the object, or gives an existing one what it should say. */
async function reconcile(server: ServerState, [group, version, resource]: readonly [string, string, string], wanted: KubeObject): Promise<void> {
  const definition = server.resources.find(group, version, resource);
  if (definition === undefined || (await createInternally(server, definition, wanted))) return;
  const { metadata, ...content } = wanted;
  await updateInternally(server, definition, target, (old) => {
    const labels = { ...old.metadata.labels, ...metadata.labels };
    const changed = { ...old, ...content, metadata: { ...old.metadata, labels } };
    return deepEqual(changed, old) ? undefined : changed;
  });
}

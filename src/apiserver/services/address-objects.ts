/** IPAddress objects: one for each cluster address of a Service (KEP-1880). They follow the Services and are repaired from time to time. */
import { isIP } from "node:net";
import { ipText, parseIp } from "../../apimachinery/net.ts";
import type { Service } from "../../api/core-v1/types.ts";
import type { IPAddress } from "../../api/networking-v1/types.ts";
import { parseTime } from "../../apimachinery/time.ts";
import { sleep } from "../../base/clock.ts";
import { findObjects } from "../registry/rule-context.ts";
import { createInternally, deleteInternally } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";

const managedBy = "ipaddress.kubernetes.io/managed-by";
const allocatorName = "ipallocator.k8s.io";

/** Cluster addresses of a Service in canonical form, as the objects are named; none when it is headless or has no address. */
export function clusterAddresses(service: Service): string[] {
  return (service.spec?.clusterIPs ?? []).filter((address) => isIP(address) !== 0).map(canonicalAddress);
}

/** Services keep an address as it was written; what is taken is told by its canonical form. */
export function canonicalAddress(address: string): string {
  const parsed = parseIp(address);
  return parsed === undefined ? address : ipText(parsed);
}

/** Makes the objects of addresses that the Service has gained and removes those of addresses it has lost. */
export async function publishAddresses(server: ServerState, service: Service, old: Service | undefined): Promise<void> {
  const present = clusterAddresses(service);
  const before = old === undefined ? [] : clusterAddresses(old);
  const definition = addressDefinition(server);
  for (const address of present) {
    if (before.includes(address)) continue;
    await createInternally(server, definition, {
      kind: "IPAddress",
      apiVersion: "networking.k8s.io/v1",
      metadata: { name: address, labels: { "ipaddress.kubernetes.io/ip-family": isIP(address) === 6 ? "IPv6" : "IPv4", [managedBy]: allocatorName } },
      spec: { parentRef: { resource: "services", namespace: service.metadata.namespace, name: service.metadata.name } },
    });
  }
  await removeAddresses(
    server,
    before.filter((address) => !present.includes(address)),
  );
}

export async function removeAddresses(server: ServerState, addresses: readonly string[]): Promise<void> {
  for (const name of addresses) await deleteInternally(server, addressDefinition(server), { namespace: "", name });
}

const repairIntervalMs = 180_000;
/** How old an object without a Service has to be: that of a Service just made may be seen before the Service. */
const graceMs = 60_000;

/** Repairs at start, and from time to time after: a Service may have been stored although the store's answer was lost. */
export async function keepAddresses(server: ServerState): Promise<void> {
  const { clock, log, tasks } = server;
  await repairAddresses(server, 0);
  tasks.start("repair addresses", async (signal) => {
    for (;;) {
      await sleep(clock, repairIntervalMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      await repairAddresses(server, graceMs).catch((error: unknown) => log.warn("Could not repair the addresses of Services", { error }));
    }
  });
}

/** Every address of a Service has its object, and no object of ours is without its Service. */
async function repairAddresses(server: ServerState, minAgeMs: number): Promise<void> {
  const now = server.clock.nowMs();
  const services = findObjects(server, "/services", "") as unknown as Service[];
  const used = new Set(services.flatMap(clusterAddresses));
  for (const object of findObjects(server, "networking.k8s.io/ipaddresses", "") as unknown as IPAddress[]) {
    const name = object.metadata.name!;
    const isOurs = object.metadata.labels?.[managedBy] === allocatorName;
    const isOld = now - parseTime(object.metadata.creationTimestamp!) >= minAgeMs;
    if (isOurs && !used.delete(name) && isOld) await removeAddresses(server, [name]);
  }
  for (const service of services) {
    if (clusterAddresses(service).some((address) => used.has(address))) await publishAddresses(server, service, undefined);
  }
}

function addressDefinition(server: ServerState) {
  return server.resources.find("networking.k8s.io", "v1", "ipaddresses")!;
}

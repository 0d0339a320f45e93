/** Routes to other nodes' pods: through the node when it is a neighbour, else through the machine of the server when that is one. */
import { isIPv4 } from "node:net";
import type { DeepReadonly } from "../apimachinery/json.ts";
import { cidrContainsCidr, parseCidr } from "../apimachinery/net.ts";
import type { Transport } from "../apimachinery/request.ts";
import type { Node } from "../api/core-v1/types.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { Client, InformerSet, resources } from "../client/index.ts";
import { createNetworkNamespaces } from "../host/index.ts";
import type { NetworkNamespaces, Programs } from "../host/index.ts";
import { defineController, watch } from "../operator/index.ts";

export interface NodeRoutesOptions {
  /** Of somebody who may read nodes. */
  readonly transport: Transport;
  readonly programs: Programs;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly nodeName: string;
  /** The ranges of all pods: routes of ours that lie in them and nobody wants any more are removed. */
  readonly clusterCidrs: readonly string[];
  /** Where packets for nodes go that are no neighbours. */
  readonly serverAddress?: string | undefined;
}

/** By which routes of ours are known (rtm_protocol of rtnetlink(7); a number that no routing daemon has registered). */
const protocol = "77";

/** Runs until `signal` aborts. The routes stay. */
export async function runNodeRoutes(options: NodeRoutesOptions, signal: AbortSignal): Promise<void> {
  const { transport, clock, random, log, programs } = options;
  const client = new Client({ transport, clock, userAgent: "coracle-network", signal });
  await using informers = new InformerSet({ client, clock, random, log });
  const links = createNetworkNamespaces({ programs });
  const controller = defineController({
    name: "node-routes",
    workers: 1,
    watches: [
      watch(resources.nodes, { keys: () => ["routes"], isRelevant: ({ kind, object, old }) => kind !== "update" || routesOf(object) !== routesOf(old) }),
    ],
    reconcile: async (_key, { caches }) => setRoutes(links, wantedRoutes(caches.of(resources.nodes).list(), options.nodeName), options),
  });
  await controller.run({ client, informers, events: { record: () => {} }, clock, random, log }, signal);
}

const routesOf = (node: DeepReadonly<Node>) => JSON.stringify([node.spec?.podCIDRs, node.status?.addresses]);

/** By pod range, the address of its node. Pure. */
export function wantedRoutes(nodes: readonly DeepReadonly<Node>[], self: string): ReadonlyMap<string, string> {
  const routes = new Map<string, string>();
  for (const { metadata, spec, status } of nodes) {
    const address = status?.addresses?.find(({ type, address: text }) => type === "InternalIP" && isIPv4(text))?.address;
    if (metadata.name === self || address === undefined) continue;
    for (const podCidr of spec?.podCIDRs ?? []) if (parseCidr(podCidr)?.family === "IPv4") routes.set(podCidr, address);
  }
  return routes;
}

async function setRoutes(
  links: NetworkNamespaces,
  wanted: ReadonlyMap<string, string>,
  { log, clusterCidrs, serverAddress }: NodeRoutesOptions,
): Promise<void> {
  const isNeighbour = async (address: string) => {
    const [route] = await links.ipJson(["route", "get", address]);
    return route !== undefined && route["gateway"] === undefined && route["type"] !== "local";
  };
  for (const [podCidr, address] of wanted) {
    const hop = (await isNeighbour(address)) ? address : serverAddress !== undefined && (await isNeighbour(serverAddress)) ? serverAddress : undefined;
    if (hop !== undefined) await links.ip(["route", "replace", podCidr, "via", hop, "proto", protocol]);
    else if (!(await isOwn(links, address)))
      log.info("A node is no neighbour of this machine: the way to its pods is left to the machine's own routes", { podCidr, address });
  }
  const cluster = clusterCidrs.map((text) => parseCidr(text)!);
  for (const { dst } of await links.ipJson(["route", "show", "proto", protocol])) {
    const range = parseCidr(String(dst));
    if (range !== undefined && !wanted.has(String(dst)) && cluster.some((outer) => cidrContainsCidr(outer, range)))
      await links.ip(["route", "del", String(dst), "proto", protocol]);
  }
}

/** Simulated nodes and those of a test have addresses of this machine. */
async function isOwn(links: NetworkNamespaces, address: string): Promise<boolean> {
  const [route] = await links.ipJson(["route", "get", address]);
  return route?.["type"] === "local";
}

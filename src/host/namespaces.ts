/** Network namespaces, links, addresses and routes, by iproute2's `ip`. Every change is idempotent: "exists" and "gone" are no errors. */
import type { Programs } from "./programs.ts";

export interface NetworkNamespaces {
  /** Runs `ip ARGS…` (in `namespace` when given) and returns what it printed. */
  ip(args: readonly string[], namespace?: string): Promise<string>;
  /** The same with `-json`, parsed. */
  ipJson(args: readonly string[], namespace?: string): Promise<Record<string, unknown>[]>;
  list(): Promise<string[]>;
  add(name: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** A pair of virtual Ethernet devices; `peer` is moved into `namespace`. Both are up afterwards. */
  addVethPair(pair: { name: string; peer: string; namespace: string }): Promise<void>;
  addBridge(name: string): Promise<void>;
  /** `address` with prefix length, such as `10.0.0.1/24`. */
  addAddress(device: string, address: string, namespace?: string): Promise<void>;
  addRoute(route: { destination: string; via?: string; device?: string }, namespace?: string): Promise<void>;
  removeLink(name: string, namespace?: string): Promise<void>;
}

export class IpError extends Error {
  override name = "IpError";
}

export function createNetworkNamespaces(options: { programs: Programs }): NetworkNamespaces {
  const ip = async (args: readonly string[], namespace?: string) => {
    const all = [...(namespace === undefined ? [] : ["-netns", namespace]), ...args];
    const result = await options.programs.run({ command: "ip", args: all, timeoutMs: 30_000, outputLimitBytes: 64 * 1024 * 1024 });
    if (result.exitCode !== 0) throw new IpError(`ip ${all.join(" ")}: ${result.stderr.toString().trim()}`);
    return result.stdout.toString();
  };
  const ipUnless = async (expected: RegExp, args: readonly string[], namespace?: string) => {
    await ip(args, namespace).catch((error: unknown) => {
      if (!(error instanceof IpError && expected.test(error.message))) throw error;
    });
  };
  const exists = /File exists|already assigned/;
  const isGone = /Cannot find device|No such (file|device|process)|does not exist/;
  const ipJson = async (args: readonly string[], namespace?: string) => {
    const text = await ip(["-json", ...args], namespace);
    return (text.trim() === "" ? [] : JSON.parse(text)) as Record<string, unknown>[];
  };
  return {
    ip,
    ipJson,
    list: async () => (await ipJson(["netns", "list"])).map((entry) => String(entry["name"])),
    add: async (name) => {
      await ipUnless(exists, ["netns", "add", name]);
      await ip(["link", "set", "lo", "up"], name);
    },
    remove: (name) => ipUnless(isGone, ["netns", "del", name]),
    addVethPair: async ({ name, peer, namespace }) => {
      await ipUnless(exists, ["link", "add", name, "type", "veth", "peer", "name", peer, "netns", namespace]);
      await ip(["link", "set", name, "up"]);
      await ip(["link", "set", peer, "up"], namespace);
    },
    addBridge: async (name) => {
      await ipUnless(exists, ["link", "add", name, "type", "bridge"]);
      await ip(["link", "set", name, "up"]);
    },
    addAddress: (device, address, namespace) => ipUnless(exists, ["address", "add", address, "dev", device], namespace),
    addRoute: ({ destination, via, device }, namespace) => {
      const how = [...(via === undefined ? [] : ["via", via]), ...(device === undefined ? [] : ["dev", device])];
      return ipUnless(exists, ["route", "add", destination, ...how], namespace);
    },
    removeLink: (name, namespace) => ipUnless(isGone, ["link", "del", name], namespace),
  };
}

/** The pod network of a node: a bridge, addresses from the node's pod range, ports of the host by the portmap plugin. */
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ipText, parseCidr } from "../apimachinery/net.ts";

export interface CniOptions {
  readonly instanceId: string;
  /** The node's pod ranges: one for each address family. */
  readonly podCidrs: readonly string[];
  /** Where host-local keeps which address is taken. */
  readonly addressDirectory: string;
  /** Default: the kernel's. */
  readonly mtu?: number;
}

/** A configuration list of CNI 0.4.0, as containerd 1.6 and Debian's plugins read it. */
export interface CniConfig {
  readonly cniVersion: string;
  readonly name: string;
  readonly plugins: readonly Readonly<Record<string, unknown>>[];
}

/** Masquerading is not the plugin's (it would want iptables) but a rule of ours; hairpin lets a pod reach itself through a Service. */
export function cniConfig(options: CniOptions): CniConfig {
  return {
    cniVersion: "0.4.0",
    name: `coracle-${options.instanceId}`,
    plugins: [
      {
        type: "bridge",
        bridge: bridgeName(options.instanceId),
        isDefaultGateway: true,
        hairpinMode: true,
        ipMasq: false,
        ...(options.mtu !== undefined && { mtu: options.mtu }),
        ipam: { type: "host-local", dataDir: options.addressDirectory, ranges: options.podCidrs.map((subnet) => [{ subnet }]) },
      },
      { type: "portmap", capabilities: { portMappings: true }, snat: true },
    ],
  };
}

/** At most 15 letters, the kernel's limit. */
export function bridgeName(instanceId: string): string {
  return `cor-${instanceId}`.slice(0, 15);
}

/** The bridge's own address in a pod range: the first one, as host-local gives it. Throws RangeError for what is no CIDR. */
export function gatewayAddress(podCidr: string): { readonly address: string; readonly prefixLength: number } {
  const cidr = parseCidr(podCidr);
  if (cidr === undefined) throw new RangeError(`no CIDR: ${podCidr}`);
  return { address: ipText({ family: cidr.family, bits: cidr.first + 1n }), prefixLength: cidr.prefixLength };
}

/** Writes the configuration as a whole into `directory`, which the runtime watches, and returns its path. */
export async function writeCniConfig(directory: string, config: CniConfig): Promise<string> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, "10-coracle.conflist");
  await writeFile(`${path}.new`, `${JSON.stringify(config, undefined, 2)}\n`);
  await rename(`${path}.new`, path);
  return path;
}

/** The rules in a network namespace of their own, with real datagrams. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { createNetworkNamespaces, startPrograms } from "../host/index.ts";
import type { Programs, RunResult } from "../host/index.ts";
import { networkRules, networkTableName } from "./network-rules.ts";

const serviceAddress = "10.96.0.10";

describe("network rules", { skip: whyNot() ?? false }, () => {
  const programs = startPrograms({ clock: systemClock() });
  const namespaces = createNetworkNamespaces({ programs });
  const [host, pod, wan] = ["h", "p", "w"].map((suffix) => `n${process.pid}${suffix}`) as [string, string, string];

  before(async () => {
    for (const name of [host, pod, wan]) await namespaces.add(name);
    await link({ pod, network: "10.244.0" });
    await link({ pod: wan, network: "198.51.100" });
    await namespaces.addRoute({ destination: "default", via: "198.51.100.5" }, host);
    await runIn(programs, host, ["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]);
    await nft(networkRules({ table: networkTableName("t"), podCidrs: ["10.244.0.0/24"], clusterCidrs: ["10.244.0.0/16"], serviceCidrs: ["10.96.0.0/12"] }));
  });
  after(async () => {
    for (const name of [host, pod, wan]) await namespaces.remove(name);
    await programs.close();
  });

  async function link({ pod: peer, network }: { pod: string; network: string }): Promise<void> {
    const device = `v${peer}`;
    await namespaces.ip(["link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", peer], host);
    await namespaces.ip(["link", "set", device, "up"], host);
    await namespaces.ip(["link", "set", "eth0", "up"], peer);
    await namespaces.addAddress(device, `${network}.1/24`, host);
    await namespaces.addAddress("eth0", `${network}.5/24`, peer);
    await namespaces.addRoute({ destination: "default", via: `${network}.1` }, peer);
  }

  async function nft(script: string): Promise<void> {
    const result = await runIn(programs, host, ["sh", "-c", 'printf %s "$1" | nft -f -', "sh", script]);
    assert.equal(result.exitCode, 0, result.stderr.toString());
  }

  /** One datagram from a fixed port; resolves with the answer, or "" after a second without one. */
  async function ask(client: string): Promise<string> {
    const source = `const s=require("dgram").createSocket("udp4");const end=(t)=>{process.stdout.write(t);s.close();clearTimeout(late)};const late=setTimeout(end,1000,"");
      s.on("message",(m)=>end(m.toString()));s.bind(4444,()=>s.send("?",53,"${serviceAddress}"))`;
    return (await runIn(programs, client, [process.execPath, "-e", source])).stdout.toString();
  }

  test("a flow that began before the proxy knew the Service reaches it afterwards", async () => {
    const server = await programs.start({
      command: "ip",
      args: [
        "netns",
        "exec",
        wan,
        process.execPath,
        "-e",
        `require("dgram").createSocket("udp4").on("message",function(m,r){this.send("here",r.port,r.address)}).bind(5353)`,
      ],
    });
    assert.equal(await ask(pod), "");
    await nft(`table ip proxy { chain pre { type nat hook prerouting priority dstnat; ip daddr ${serviceAddress} udp dport 53 dnat to 198.51.100.5:5353; }\n}`);
    assert.equal(await ask(pod), "here");
    server.kill("SIGKILL");
    await server.closed;
  });
});

function runIn(programs: Programs, namespace: string, words: readonly string[]): Promise<RunResult> {
  return programs.run({ command: "ip", args: ["netns", "exec", namespace, ...words] });
}

function whyNot(): string | undefined {
  if (process.geteuid?.() !== 0) return "needs root";
  for (const program of ["nft", "ip"]) {
    try {
      execFileSync("sh", ["-c", `command -v ${program}`]);
    } catch {
      return `needs ${program}`;
    }
  }
  return undefined;
}

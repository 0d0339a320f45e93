/** Policies in the kernel, with real connections between two pods, the node, and somebody outside. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { createNetworkNamespaces, createNft, startPrograms } from "../../host/index.ts";
import type { Programs, RunningProgram } from "../../host/index.ts";
import { PolicyEnforcer, removePolicies } from "./policy-enforcer.ts";
import type { NetworkPolicySpec } from "../../api/networking-v1/types.ts";

describe("network policies: real traffic", { skip: whyNot() ?? false }, () => {
  const programs = startPrograms({ clock: systemClock() });
  const namespaces = createNetworkNamespaces({ programs });
  const [host, web, client, outside] = ["h", "a", "b", "o"].map((suffix) => `y${process.pid}${suffix}`) as [string, string, string, string];
  const within: Programs = {
    ...programs,
    run: (spec, signal) => programs.run({ ...spec, command: "ip", args: ["netns", "exec", host, spec.command, ...(spec.args ?? [])] }, signal),
  };
  const enforcer = new PolicyEnforcer({ programs: within, instanceId: "t", families: ["IPv4"] });
  const servers: RunningProgram[] = [];
  const addresses = { [web]: "10.244.0.5", [client]: "10.244.1.6", [outside]: "198.51.100.5" };

  before(async () => {
    await namespaces.add(host);
    for (const [name, address] of Object.entries(addresses)) {
      const gateway = address.replace(/\.\d+$/, ".1");
      await namespaces.add(name);
      await namespaces.ip(["link", "add", `v${name}`, "type", "veth", "peer", "name", "eth0", "netns", name], host);
      await namespaces.ip(["link", "set", `v${name}`, "up"], host);
      await namespaces.addAddress(`v${name}`, `${gateway}/24`, host);
      await namespaces.ip(["link", "set", "eth0", "up"], name);
      await namespaces.addAddress("eth0", `${address}/24`, name);
      await namespaces.addRoute({ destination: "default", via: gateway }, name);
    }
    await programs.run({ command: "ip", args: ["netns", "exec", host, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"] });
    for (const [name, address] of Object.entries(addresses)) servers.push(await serve(programs, name, address));
  });
  after(async () => {
    for (const server of servers) server.kill("SIGKILL");
    await Promise.all(servers.map(({ closed }) => closed));
    for (const name of [web, client, outside, host]) await namespaces.remove(name);
    await programs.close();
  });

  const connects = async (from: string, to: string, port = 8080) => {
    const script = `const s=require("net").connect(${port},"${addresses[to]}").on("connect",()=>process.exit(0)).on("error",()=>process.exit(1));setTimeout(()=>process.exit(2),700)`;
    return (await programs.run({ command: "ip", args: ["netns", "exec", from, process.execPath, "-e", script] })).exitCode === 0;
  };
  const put = (...specs: NetworkPolicySpec[]) =>
    enforcer.enforce({
      pods: [
        { namespace: "d", labels: { app: "web" }, addresses: [addresses[web]!], ports: [], isLocal: true },
        { namespace: "d", labels: { app: "client" }, addresses: [addresses[client]!], ports: [], isLocal: false },
      ],
      namespaces: new Map([["d", {}]]),
      policies: specs.map((spec, index) => ({ metadata: { namespace: "d", name: `p${index}` }, spec })),
    });
  const selected = { podSelector: { matchLabels: { app: "web" } } };

  test("without policies everything is free", async () => {
    await put();
    assert.deepEqual(await Promise.all([connects(client, web), connects(outside, web), connects(web, client), connects(host, web)]), [true, true, true, true]);
  });

  test("a pod that is selected for ingress receives nothing but from its node; it may still send", async () => {
    await put(selected);
    assert.deepEqual(await Promise.all([connects(client, web), connects(outside, web), connects(web, client), connects(host, web)]), [
      false,
      false,
      true,
      true,
    ]);
  });

  test("pods, blocks and ports are let in as rules say", async () => {
    await put({ ...selected, ingress: [{ from: [{ podSelector: { matchLabels: { app: "client" } } }], ports: [{ port: 8080 }] }] });
    assert.deepEqual(await Promise.all([connects(client, web), connects(outside, web), connects(client, web, 8081)]), [true, false, false]);
    await put({ ...selected, ingress: [{ from: [{ ipBlock: { cidr: "198.51.100.0/24" } }], ports: [{ port: 8080, endPort: 8081 }] }] });
    assert.deepEqual(await Promise.all([connects(client, web), connects(outside, web), connects(outside, web, 8081)]), [false, true, true]);
    await put({ ...selected, ingress: [{ from: [{ ipBlock: { cidr: "198.51.100.0/24", except: ["198.51.100.4/30"] } }] }] });
    assert.equal(await connects(outside, web), false);
  });

  test("egress: to where rules say, answers come back", async () => {
    await put({ ...selected, policyTypes: ["Egress"], egress: [{ to: [{ podSelector: {} }] }] });
    assert.deepEqual(await Promise.all([connects(web, client), connects(web, outside), connects(client, web)]), [true, false, true]);
    await put();
    assert.equal(await connects(web, outside), true);
  });

  test("removed, no table is left", async () => {
    const nft = createNft({ programs: within });
    for (let round = 0; round < 2; round++) await removePolicies(nft, "t");
    assert.deepEqual(
      (await nft.list(["list", "tables"])).filter((item) => "table" in (item as object)),
      [],
    );
  });
});

/** Two ports that take connections. */
async function serve(programs: Programs, namespace: string, address: string): Promise<RunningProgram> {
  const program = await programs.start({
    command: "ip",
    args: [
      "netns",
      "exec",
      namespace,
      process.execPath,
      "-e",
      `let n=0;for(const p of [8080,8081])require("net").createServer((s)=>s.end()).listen(p,"${address}",()=>{if(++n===2)console.log("ready")})`,
    ],
  });
  for await (const chunk of program.stdout) if (Buffer.from(chunk).toString().includes("ready")) break;
  return program;
}

function whyNot(): string | undefined {
  if (process.geteuid?.() !== 0) return "needs root";
  try {
    execFileSync("sh", ["-c", "command -v nft && command -v ip"]);
    return undefined;
  } catch {
    return "needs nft and iproute2";
  }
}

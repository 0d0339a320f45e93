import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import { createNetworkNamespaces, createNft, startPrograms } from "../host/index.ts";
import type { Programs, RunResult, RunningProgram } from "../host/index.ts";
import type { Service } from "../api/core-v1/types.ts";
import { createNftDataplane, proxyTableName, removeNftTables } from "./nft/nft-dataplane.ts";
import { planService } from "./plan.ts";
import type { ServicePlan } from "./plan.ts";
import { endpointSlice } from "./testing-objects.ts";

/** A machine of its own: namespace `host` with a bridge, two pods behind it, and a client outside. */
describe("Services by nftables: real traffic", { skip: whyNot() ?? false }, () => {
  const programs = startPrograms({ clock: systemClock() });
  const namespaces = createNetworkNamespaces({ programs });
  const id = `p${process.pid}`;
  const [host, pod1, pod2, outside] = [`${id}h`, `${id}a`, `${id}b`, `${id}o`];
  const servers: RunningProgram[] = [];
  let directory = "";
  const dataplane = createNftDataplane({
    programs: within(programs, host),
    clock: systemClock(),
    log: silentLog,
    instanceId: id,
    podCidrs: ["10.244.0.0/24"],
    families: ["IPv4"],
  });
  const put = (...services: [Service, ...string[]][]) => {
    const plans = new Map<string, ServicePlan>();
    for (const [service, ...addresses] of services) {
      const plan = planService(
        service,
        [
          endpointSlice(
            addresses.map((address) => ({ address, nodeName: "n1" })),
            8080,
          ),
        ],
        { nodeName: "n1" },
      )!;
      plans.set(plan.name, plan);
    }
    return dataplane.change(plans, ["10.0.0.0/16"]);
  };
  const fetchFrom = async (namespace: string, target: string): Promise<string> => {
    const result = await runIn(programs, namespace, ["busybox", "timeout", "2", "busybox", "wget", "-q", "-O", "-", `http://${target}/name`]);
    return result.exitCode === 0 ? result.stdout.toString().trim() : result.exitCode > 128 ? "no answer" : result.stderr.toString().trim();
  };

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "coracle-proxy-"));
    for (const name of [host, pod1, pod2, outside]) await namespaces.add(name);
    await namespaces.ip(["link", "add", "br0", "type", "bridge"], host);
    await namespaces.ip(["address", "add", "10.244.0.1/24", "dev", "br0"], host);
    await namespaces.ip(["link", "set", "br0", "up"], host);
    for (const [name, address] of [
      [pod1, "10.244.0.5"],
      [pod2, "10.244.0.6"],
    ] as const) {
      await namespaces.ip(["link", "add", `v${name}`, "type", "veth", "peer", "name", "eth0", "netns", name], host);
      await namespaces.ip(["link", "set", `v${name}`, "master", "br0", "up"], host);
      await namespaces.ip(["link", "set", "eth0", "up"], name);
      await namespaces.addAddress("eth0", `${address}/24`, name);
      await namespaces.addRoute({ destination: "default", via: "10.244.0.1" }, name);
      await runIn(programs, host, ["sh", "-c", `echo 1 > /sys/class/net/v${name}/brport/hairpin_mode`]);
      servers.push(await serveName(programs, name, { listen: `${address}:8080`, directory: join(directory, name) }));
    }
    await namespaces.ip(["link", "add", "wan", "type", "veth", "peer", "name", "eth0", "netns", outside], host);
    await namespaces.ip(["link", "set", "wan", "up"], host);
    await namespaces.addAddress("wan", "198.51.100.1/24", host);
    await namespaces.addRoute({ destination: "default", via: "198.51.100.9" }, host);
    await namespaces.ip(["link", "set", "eth0", "up"], outside);
    await namespaces.addAddress("eth0", "198.51.100.9/24", outside);
    await namespaces.addRoute({ destination: "default", via: "198.51.100.1" }, outside);
    await runIn(programs, host, ["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables"]);
    await dataplane.replaceAll(new Map(), ["10.0.0.0/16"]);
  });
  after(async () => {
    for (const server of servers) server.kill("SIGKILL");
    await Promise.all(servers.map(({ closed }) => closed));
    for (const name of [pod1, pod2, outside, host]) await namespaces.remove(name);
    await programs.close();
    await rm(directory, { recursive: true });
  });

  test("a ClusterIP answers from both pods, to pods, the node and the outside", async () => {
    await put([service("web", "10.0.0.5"), "10.244.0.5", "10.244.0.6"]);
    for (const client of [pod1, host, outside]) {
      const answers = new Set<string>();
      for (let round = 0; round < 24; round++) answers.add(await fetchFrom(client, "10.0.0.5:80"));
      assert.deepEqual([...answers].sort(), ["10.244.0.5:8080", "10.244.0.6:8080"], client);
    }
  });

  test("hairpin: a pod reaches itself through its Service", async () => {
    await put([service("self", "10.0.0.6"), "10.244.0.5"]);
    assert.equal(await fetchFrom(pod1, "10.0.0.6:80"), "10.244.0.5:8080");
  });

  test("a node port answers on every address of the node, under both policies", async () => {
    await put(
      [service("np", "10.0.0.7", { type: "NodePort", ports: [{ port: 80, nodePort: 30080 }] }), "10.244.0.6"],
      [service("local", "10.0.0.8", { type: "NodePort", externalTrafficPolicy: "Local", ports: [{ port: 80, nodePort: 30081 }] }), "10.244.0.5"],
    );
    for (const [client, target] of [
      [outside, "198.51.100.1"],
      [host, "198.51.100.1"],
      [pod1, "10.244.0.1"],
      [pod2, "198.51.100.1"],
    ] as const) {
      assert.equal(await fetchFrom(client, `${target}:30080`), "10.244.0.6:8080", `${client} ${target}`);
      assert.equal(await fetchFrom(client, `${target}:30081`), "10.244.0.5:8080", `${client} ${target}`);
    }
  });

  test("without endpoints connections are refused at once; an unknown port of a ClusterIP as well", async () => {
    await put([service("none", "10.0.0.9", { type: "NodePort", ports: [{ port: 80, nodePort: 30082 }] })]);
    for (const client of [pod1, host, outside]) {
      assert.match(await fetchFrom(client, "10.0.0.9:80"), /Connection refused/, client);
      assert.match(await fetchFrom(client, "10.0.0.9:81"), /Connection refused/, client);
      assert.match(await fetchFrom(client, "198.51.100.1:30082"), /Connection refused/, client);
    }
  });

  test("session affinity keeps a client with its pod", async () => {
    await put([service("sticky", "10.0.0.10", { sessionAffinity: "ClientIP" }), "10.244.0.5", "10.244.0.6"]);
    const answers = new Set<string>();
    for (let round = 0; round < 12; round++) answers.add(await fetchFrom(outside, "10.0.0.10:80"));
    assert.equal(answers.size, 1);
    const [first] = answers;
    await put([service("sticky", "10.0.0.10", { sessionAffinity: "ClientIP" }), first!.split(":")[0]!]);
    assert.equal(await fetchFrom(outside, "10.0.0.10:80"), first);
  });

  test("a client of UDP that goes on from the same port is led to the new backend", { skip: isThere("conntrack") ? false : "needs conntrack" }, async () => {
    for (const [namespace, address] of [
      [pod1, "10.244.0.5"],
      [pod2, "10.244.0.6"],
    ] as const)
      servers.push(
        await programs.start({
          command: "ip",
          args: [
            "netns",
            "exec",
            namespace,
            process.execPath,
            "-e",
            `require("dgram").createSocket("udp4").on("message",function(m,r){this.send("${address}",r.port,r.address)}).bind(5353)`,
          ],
        }),
      );
    const ports = [{ name: "dns", protocol: "UDP", port: 53, targetPort: 5353 }];
    const putBackend = (address: string) => {
      const slice = { ...endpointSlice([{ address, nodeName: "n1" }], 5353), ports: [{ name: "dns", protocol: "UDP", port: 5353 }] };
      const plan = planService(service("udp", "10.0.0.12", { ports }), [slice], { nodeName: "n1" })!;
      return dataplane.change(new Map([[plan.name, plan]]), ["10.0.0.0/16"]);
    };
    // Until the servers listen there is no answer.
    const ask = `const s=require("dgram").createSocket("udp4");const end=(t)=>{process.stdout.write(t);process.exit()};
      s.on("message",(m)=>end(m.toString()));s.bind(4444);setInterval(()=>s.send("?",53,"10.0.0.12"),50);setTimeout(end,5000,"no answer")`;
    for (const address of ["10.244.0.5", "10.244.0.6"]) {
      await putBackend(address);
      assert.equal((await runIn(programs, outside, [process.execPath, "-e", ask])).stdout.toString(), address);
    }
  });

  test("source ranges of a load balancer address", async () => {
    const status = { loadBalancer: { ingress: [{ ip: "203.0.113.7" }] } };
    await put([{ ...service("lb", "10.0.0.11", { type: "LoadBalancer", loadBalancerSourceRanges: ["192.0.2.0/24"] }), status }, "10.244.0.5"]);
    assert.match(await fetchFrom(outside, "203.0.113.7:80"), /no answer/);
    await put([{ ...service("lb", "10.0.0.11", { type: "LoadBalancer", loadBalancerSourceRanges: ["198.51.100.0/24"] }), status }, "10.244.0.5"]);
    assert.equal(await fetchFrom(outside, "203.0.113.7:80"), "10.244.0.5:8080");
  });

  test("a Service that has gone is gone, and a reset leaves no table", async () => {
    await dataplane.change(new Map([["default/web", undefined]]), ["10.0.0.0/16"]);
    assert.notEqual(await fetchFrom(pod1, "10.0.0.5:80"), "10.244.0.5:8080");
    const nft = createNft({ programs: within(programs, host) });
    for (let round = 0; round < 2; round++) await removeNftTables(nft, proxyTableName(id));
    assert.deepEqual(
      (await nft.list(["list", "tables"])).filter((item) => "table" in (item as object)),
      [],
    );
  });
});

function service(name: string, clusterIP: string, spec: Partial<Service["spec"]> = {}): Service {
  return { metadata: { namespace: "default", name }, spec: { clusterIP, ports: [{ port: 80 }], ...spec } };
}

/** A server that answers with the address it listens on. */
async function serveName(programs: Programs, namespace: string, { listen, directory }: { listen: string; directory: string }): Promise<RunningProgram> {
  await mkdir(directory);
  await writeFile(join(directory, "name"), listen);
  const program = await programs.start({ command: "ip", args: ["netns", "exec", namespace, "busybox", "httpd", "-f", "-p", listen, "-h", directory] });
  const ready = async () => (await runIn(programs, namespace, ["busybox", "wget", "-q", "-O", "-", `http://${listen}/name`])).exitCode === 0;
  while (!(await ready()));
  return program;
}

function runIn(programs: Programs, namespace: string, words: readonly string[]): Promise<RunResult> {
  return programs.run({ command: "ip", args: ["netns", "exec", namespace, ...words] });
}

/** The same programs, run inside a network namespace. */
function within(programs: Programs, namespace: string): Programs {
  return {
    ...programs,
    run: (spec, signal) => programs.run({ ...spec, command: "ip", args: ["netns", "exec", namespace, spec.command, ...(spec.args ?? [])] }, signal),
  };
}

function whyNot(): string | undefined {
  if (process.geteuid?.() !== 0) return "needs root";
  const missing = ["nft", "ip", "busybox"].find((program) => !isThere(program));
  return missing && `needs ${missing}`;
}

function isThere(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
}

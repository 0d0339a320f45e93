import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { createSocket } from "node:dgram";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import { seededRandom } from "../base/random.ts";
import type { Service } from "../api/core-v1/types.ts";
import type { Endpoint, EndpointSlice } from "../api/discovery-v1/types.ts";
import { createResponder } from "./responder.ts";
import { listenDns } from "./server.ts";
import type { DnsListener } from "./server.ts";
import { createUpstream, readResolvConf } from "./upstream.ts";
import { recordTypes } from "./wire.ts";
import type { DnsRecord } from "./wire.ts";
import { answerQuestion } from "./zone.ts";
import type { ClusterView } from "./zone.ts";

const services: readonly Service[] = [
  {
    metadata: { namespace: "d", name: "web" },
    spec: { clusterIP: "10.0.0.5", clusterIPs: ["10.0.0.5", "fd00::5"], ports: [{ name: "http", port: 80 }, { port: 81 }] },
  },
  { metadata: { namespace: "d", name: "set" }, spec: { clusterIP: "None", ports: [{ name: "db", port: 1 }] } },
  { metadata: { namespace: "d", name: "many" }, spec: { clusterIP: "None", ports: [{ name: "db", port: 1 }] } },
  { metadata: { namespace: "d", name: "none" }, spec: { clusterIP: "None" } },
  { metadata: { namespace: "d", name: "ext" }, spec: { type: "ExternalName", externalName: "Example.COM" } },
  { metadata: { namespace: "d", name: "in" }, spec: { type: "ExternalName", externalName: "web.d.svc.cluster.local" } },
];
const slice = (service: string, endpoints: Endpoint[], addressType = "IPv4"): EndpointSlice => ({
  metadata: { namespace: "d", name: service, labels: { "kubernetes.io/service-name": service } },
  addressType,
  endpoints,
  ports: [{ name: "db", protocol: "TCP", port: 5432 }],
});
const slices: readonly EndpointSlice[] = [
  slice("set", [{ addresses: ["10.244.0.5"], hostname: "set-0" }, { addresses: ["10.244.0.6"] }, { addresses: ["10.244.0.7"], conditions: { ready: false } }]),
  slice("set", [{ addresses: ["fd00:1::5"], hostname: "set-0" }], "IPv6"),
  slice(
    "many",
    Array.from({ length: 100 }, (_, index) => ({ addresses: [`10.244.9.${index}`] })),
  ),
  slice("none", [{ addresses: ["10.244.0.9"], conditions: { ready: false } }]),
];
const serviceOf = ({ metadata }: EndpointSlice) => metadata.labels!["kubernetes.io/service-name"];
const view: ClusterView = {
  zone: "cluster.local",
  ttlSeconds: 5,
  serial: 7,
  hasNamespace: (name) => name === "d",
  service: (namespace, name) => services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
  slicesOf: (_namespace, service) => slices.filter((candidate) => serviceOf(candidate) === service),
  servicesByAddress: (address) => services.filter(({ spec }) => spec?.clusterIPs?.includes(address)),
  slicesByAddress: (address) => slices.filter(({ endpoints }) => endpoints!.some(({ addresses }) => addresses!.includes(address))),
};

const rows: readonly (readonly [name: string, type: keyof typeof recordTypes, expected: string])[] = [
  ["web.d.svc.cluster.local", "A", "0: A 10.0.0.5"],
  ["web.d.svc.cluster.local", "AAAA", "0: AAAA fd:0:0:0:0:0:0:0:0:0:0:0:0:0:0:5"],
  ["web.d.svc.cluster.local", "SRV", "0: none"],
  ["web.d.svc.cluster.local", "TXT", "0: none"],
  ["x.web.d.svc.cluster.local", "A", "3: none"],
  ["nosuch.d.svc.cluster.local", "A", "3: none"],
  ["d.svc.cluster.local", "A", "0: none"],
  ["nosuch.svc.cluster.local", "A", "3: none"],
  ["svc.cluster.local", "A", "0: none"],
  ["nosuch.cluster.local", "A", "3: none"],
  ["_http._tcp.web.d.svc.cluster.local", "SRV", "0: SRV 80 web.d.svc.cluster.local"],
  ["_http._udp.web.d.svc.cluster.local", "SRV", "3: none"],
  ["_._tcp.web.d.svc.cluster.local", "SRV", "3: none"],
  ["_tcp.web.d.svc.cluster.local", "A", "0: none"],
  ["set.d.svc.cluster.local", "A", "0: A 10.244.0.5, A 10.244.0.6"],
  ["set-0.set.d.svc.cluster.local", "A", "0: A 10.244.0.5"],
  ["10-244-0-6.set.d.svc.cluster.local", "A", "0: A 10.244.0.6"],
  ["10-244-0-7.set.d.svc.cluster.local", "A", "3: none"],
  ["_db._tcp.set.d.svc.cluster.local", "SRV", "0: SRV 5432 set-0.set.d.svc.cluster.local, SRV 5432 10-244-0-6.set.d.svc.cluster.local"],
  ["none.d.svc.cluster.local", "A", "3: none"],
  ["ext.d.svc.cluster.local", "A", "0: CNAME example.com"],
  ["10-1-2-3.d.pod.cluster.local", "A", "0: A 10.1.2.3"],
  ["10-1-2-3.nosuch.pod.cluster.local", "A", "3: none"],
  ["dns-version.cluster.local", "TXT", "0: TXT 1.1.0"],
  ["cluster.local", "SOA", "0: SOA ns.dns.cluster.local"],
  ["cluster.local", "A", "0: none"],
  ["5.0.0.10.in-addr.arpa", "PTR", "0: PTR web.d.svc.cluster.local"],
  ["5.0.244.10.in-addr.arpa", "PTR", "0: PTR set-0.set.d.svc.cluster.local"],
  ["5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa", "PTR", "0: PTR web.d.svc.cluster.local"],
  ["9.9.9.9.in-addr.arpa", "PTR", "elsewhere"],
  ["example.com", "A", "elsewhere"],
  ["xcluster.local", "A", "elsewhere"],
];

for (const [name, type, expected] of rows) {
  test(`zone: ${type} ${name}`, () => {
    const answer = answerQuestion({ name, type: recordTypes[type] }, view);
    const records = answer?.answers.map(recordText).join(", ");
    assert.equal(answer === undefined ? "elsewhere" : `${answer.code}: ${records === "" ? "none" : records}`, expected);
    if (records === "") assert.equal(answer!.authorities[0]!.type, "SOA");
  });
}

function recordText(record: DnsRecord): string {
  switch (record.type) {
    case "A":
      return `A ${record.address.join(".")}`;
    case "AAAA":
      return `AAAA ${Array.from(record.address, (byte) => byte.toString(16)).join(":")}`;
    case "SRV":
      return `SRV ${record.port} ${record.target}`;
    case "TXT":
      return `TXT ${record.text}`;
    case "SOA":
      return `SOA ${record.primary}`;
    default:
      return `${record.type} ${record.target}`;
  }
}

describe("the server, asked by a resolver", () => {
  let listener: DnsListener;
  let upstream: DnsListener;
  let asked = 0;
  const resolver = new Resolver({ tries: 1, timeout: 5_000 });
  const clock = systemClock();

  before(async () => {
    // The other server is one of ours with another zone: `example.com` there has the address of its Service.
    const elsewhere = createResponder({ ...view, zone: "com", service: () => undefined, hasNamespace: () => false }, { ask: async () => undefined });
    upstream = await listenDns({ address: "127.0.0.1", port: 0 }, (message, isTcp) => ((asked += 1), elsewhere(message, isTcp)), silentLog);
    const servers = [{ address: "127.0.0.1", port: upstream.port }];
    listener = await listenDns(
      { address: "127.0.0.1", port: 0 },
      createResponder(view, createUpstream({ clock, random: seededRandom(1), servers })),
      silentLog,
    );
    resolver.setServers([`127.0.0.1:${listener.port}`]);
  });
  after(async () => {
    await listener.close();
    await upstream.close();
  });

  test("addresses in any case, services, names of addresses", async () => {
    assert.deepEqual(await resolver.resolve4("WEB.d.svc.Cluster.LOCAL"), ["10.0.0.5"]);
    assert.deepEqual(await resolver.resolve6("web.d.svc.cluster.local"), ["fd00::5"]);
    assert.deepEqual(await resolver.resolveSrv("_http._tcp.web.d.svc.cluster.local"), [
      { name: "web.d.svc.cluster.local", port: 80, priority: 0, type: "SRV", weight: 100 },
    ]);
    assert.deepEqual(await resolver.reverse("10.0.0.5"), ["web.d.svc.cluster.local"]);
    assert.deepEqual(await resolver.resolveTxt("dns-version.cluster.local"), [["1.1.0"]]);
    assert.equal((await resolver.resolveSoa("cluster.local")).nsname, "ns.dns.cluster.local");
    await assert.rejects(resolver.resolve4("nosuch.d.svc.cluster.local"), { code: "ENOTFOUND" });
    await assert.rejects(resolver.resolveMx("web.d.svc.cluster.local"), { code: "ENODATA" });
  });

  test("an alias comes with the addresses it leads to", async () => {
    assert.deepEqual(await resolver.resolve4("in.d.svc.cluster.local"), ["10.0.0.5"]);
    assert.deepEqual(await resolver.resolveCname("ext.d.svc.cluster.local"), ["example.com"]);
  });

  test("an answer too long for a datagram comes whole over TCP", async () => {
    assert.equal((await resolver.resolve4("many.d.svc.cluster.local")).length, 100);
  });

  test("the first address changes from answer to answer", async () => {
    const firsts = new Set<string>();
    for (let round = 0; round < 4; round++) firsts.add((await resolver.resolve4("set.d.svc.cluster.local"))[0]!);
    assert.equal(firsts.size, 2);
  });

  test("other names are asked elsewhere, and remembered", async () => {
    const before = asked;
    for (let round = 0; round < 3; round++) await assert.rejects(resolver.resolve4("nosuch.com"), { code: "ENOTFOUND" });
    assert.equal(asked - before, 1);
  });

  test("malformed messages: refused or ignored, never fatal", async () => {
    const socket = createSocket("udp4");
    const ask = (...bytes: number[]) => socket.send(Uint8Array.from(bytes), listener.port, "127.0.0.1");
    const answer = new Promise<Buffer>((resolve) => socket.once("message", resolve));
    ask(1, 2, 3);
    ask(0, 1, 0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1);
    ask(0, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 63, 1);
    const bytes = await answer;
    assert.deepEqual([bytes[1], bytes[3]! & 0xf], [9, 1]);
    socket.close();
  });
});

test("resolv.conf: name servers but our own", () => {
  const text = "# x\nnameserver 1.1.1.1\nsearch a\n nameserver 10.0.0.10\nnameserver nonsense\nnameserver 2001:db8::1";
  assert.deepEqual(
    readResolvConf(text, ["10.0.0.10"]).map(({ address }) => address),
    ["1.1.1.1", "2001:db8::1"],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodSpec } from "../../api/core-v1/types.ts";
import { dnsConfig, parseResolvConf } from "./dns-config.ts";
import { hostNames, hostsFile } from "./host-names.ts";

const pod = (spec: Partial<PodSpec>, name = "p"): Pod => ({ metadata: { name, namespace: "n" }, spec: { containers: [], ...spec } });
const node = {
  clusterServers: ["10.0.0.10"],
  clusterDomain: "cluster.local",
  host: parseResolvConf("search example.com\nnameserver 192.0.2.53\noptions timeout:1\n"),
};

const dns: [name: string, spec: Partial<PodSpec>, expected: string][] = [
  ["cluster first", {}, "10.0.0.10 | n.svc.cluster.local svc.cluster.local cluster.local example.com | ndots:5"],
  ["on the node's network", { hostNetwork: true }, "192.0.2.53 | example.com | timeout:1"],
  [
    "there, too",
    { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" },
    "10.0.0.10 | n.svc.cluster.local svc.cluster.local cluster.local example.com | ndots:5",
  ],
  ["default", { dnsPolicy: "Default" }, "192.0.2.53 | example.com | timeout:1"],
  [
    "none",
    { dnsPolicy: "None", dnsConfig: { nameservers: ["127.9.9.9"], searches: ["x.example"], options: [{ name: "ndots", value: "3" }, { name: "edns0" }] } },
    "127.9.9.9 | x.example | ndots:3 edns0",
  ],
  [
    "options that are no words",
    { dnsConfig: { options: [{ name: "ndots", value: "1\nnameserver 192.0.2.66" }, { name: "a b" }, { name: "rotate" }] } },
    "10.0.0.10 | n.svc.cluster.local svc.cluster.local cluster.local example.com | ndots:5 rotate",
  ],
  [
    "an option changed",
    { dnsConfig: { options: [{ name: "ndots", value: "1" }] } },
    "10.0.0.10 | n.svc.cluster.local svc.cluster.local cluster.local example.com | ndots:1",
  ],
];
for (const [name, spec, expected] of dns) {
  test(`dns: ${name}`, () => {
    const { servers, searches, options } = dnsConfig(pod(spec), node);
    assert.equal([servers, searches, options].map((list) => list.join(" ")).join(" | "), expected);
  });
}

const names: [spec: Partial<PodSpec>, name: string, expected: string][] = [
  [{}, "p", "p "],
  [{ hostname: "h", subdomain: "s" }, "p", "h s.n.svc.cluster.local"],
  [{ subdomain: "s", setHostnameAsFQDN: true }, "p", "p.s.n.svc.cluster.local s.n.svc.cluster.local"],
  [{}, `${"a".repeat(62)}-b`, `${"a".repeat(62)} `],
];
for (const [spec, name, expected] of names) {
  test(`host name of ${name} ${JSON.stringify(spec)}`, () => {
    const { hostname, domain } = hostNames(pod(spec, name), "cluster.local");
    assert.equal(`${hostname} ${domain}`, expected);
  });
}

test("hosts file: the pod's own line, then aliases", () => {
  const aliased = pod({ hostAliases: [{ ip: "127.1.2.3", hostnames: ["a.example", "b.example"] }] });
  const lines = hostsFile(aliased, ["10.0.0.7"], { hostname: "p", domain: "s.n.svc.cluster.local" }).split("\n");
  assert.deepEqual(lines.slice(-5), ["10.0.0.7\tp.s.n.svc.cluster.local\tp", "", "# Entries added by HostAliases.", "127.1.2.3\ta.example\tb.example", ""]);
});

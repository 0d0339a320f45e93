/** Classes of past mistakes on nodes that a function alone decides; those that take mounts and namespaces stand beside their code (docs/security.md). */
import { test } from "node:test";
import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "../../src/base/virtual-clock.ts";
import type { Container, Pod } from "../../src/api/core-v1/types.ts";
import { DiskStorage } from "../../src/kubelet/index.ts";
import { dnsConfig } from "../../src/kubelet/network/dns-config.ts";
import { judgeAdmission } from "../../src/kubelet/node/admission.ts";
import { readLastWords } from "../../src/kubelet/pod-sync/containers/last-words.ts";
import { tableSkeleton } from "../../src/proxy/nft/table-skeleton.ts";
import { containerSecurityContext, runAsNonRootFault, sandboxSecurityContext } from "../../src/kubelet/resources/security-context.ts";

const podOf = (spec: object): Pod => ({ metadata: { name: "p", namespace: "n", uid: "u" }, spec: { containers: [], ...spec } }) as Pod;
const container = (securityContext: object = {}) => ({ name: "c", securityContext }) as Container;

test("security: a seccomp profile of the node without a name starts nothing", () => {
  for (const seccompProfile of [{ type: "Localhost" }, { type: "Localhost", localhostProfile: "" }]) {
    throws(
      () => containerSecurityContext(podOf({}), container({ seccompProfile })),
      /^Error: localhostProfile must be set if seccompProfile type is Localhost\.$/,
    );
    throws(() => sandboxSecurityContext(podOf({ securityContext: { seccompProfile } })), /localhostProfile must be set/);
  }
  deepEqual(containerSecurityContext(podOf({}), container({ seccompProfile: { type: "Localhost", localhostProfile: "a.json" } })).seccomp, {
    profile_type: "Localhost",
    localhost_ref: "a.json",
  });
});

test("security: who must not be root is asked for at every start", () => {
  const nonRoot = container({ runAsNonRoot: true });
  const table: [say: string, container: Container, image: { uid?: number; username: string }, fault: RegExp | undefined][] = [
    ["an image of root", nonRoot, { username: "" }, /image will run as root/],
    ["an image of uid 0", nonRoot, { uid: 0, username: "" }, /image will run as root/],
    ["an image that names its user", nonRoot, { username: "app" }, /non-numeric user \(app\)/],
    ["an image of another user", nonRoot, { uid: 5, username: "" }, undefined],
    ["a pod that asks for root", container({ runAsNonRoot: true, runAsUser: 0 }), { uid: 5, username: "" }, /runAsUser breaks non-root policy/],
  ];
  for (const [say, asked, image, fault] of table) {
    const found = runAsNonRootFault(podOf({}), asked, image);
    if (fault === undefined) equal(found, undefined, say);
    else match(found ?? "", fault, say);
  }
  match(
    runAsNonRootFault(podOf({ securityContext: { runAsNonRoot: true } }), container(), { username: "" }) ?? "",
    /as root/,
    "the pod's own rule counts where the container says nothing",
  );
});

test("security: a message left by a container is read to a limit", async () => {
  const asked: number[] = [];
  const storage = { readEnd: async (_path: string, bytes: number) => (asked.push(bytes), "x".repeat(bytes)) };
  const status = {
    annotations: { "io.kubernetes.container.terminationMessagePath": "/m", "io.kubernetes.container.terminationMessagePolicy": "File" },
    mounts: [{ container_path: "/m", host_path: "/host/m" }],
    exit_code: 1,
    log_path: "",
  };
  const message = await readLastWords(storage as unknown as Parameters<typeof readLastWords>[0], status as unknown as Parameters<typeof readLastWords>[1]);
  deepEqual([message.length, asked], [4096, [4096]]);
});

test("security: route_localnet is set by nobody, and node ports are none of loopback's", () => {
  const sources = globSync("src/**/*.ts", { cwd: join(import.meta.dirname, "../.."), exclude: (path) => String(path).endsWith(".test.ts") });
  ok(sources.length > 500);
  const code = (path: string) => readFileSync(join(import.meta.dirname, "../..", path), "utf8").replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "");
  deepEqual(
    sources.filter((path) => code(path).includes("route_localnet")),
    [],
  );
  for (const [family, loopback] of [
    ["IPv4", "ip daddr != 127.0.0.0/8"],
    ["IPv6", "ip6 daddr != ::1"],
  ] as const) {
    const rules = tableSkeleton({ table: "t", family, podCidrs: [] })
      .split("\n")
      .filter((line) => line.includes("fib daddr type local") && line.includes("node-ports"));
    ok(rules.length >= 2);
    for (const rule of rules) ok(rule.includes(loopback), rule);
  }
  for (const name of ["net.ipv4.conf.all.route_localnet", "net/ipv4/conf/eth0/route_localnet"])
    equal(
      judgeAdmission(podOf({ securityContext: { sysctls: [{ name, value: "1" }] } }), { node: { metadata: { name: "n" } }, others: [], allowedSysctls: [] })
        .fault?.reason,
      "SysctlForbidden",
    );
});

test("security: a volume that would run a program of the node is none", async () => {
  const root = await mkdtemp(join(tmpdir(), "security-volumes-"));
  try {
    const storage = new DiskStorage({ root, clock: new VirtualClock() });
    await storage.start();
    const sources = [
      { flexVolume: { driver: "vendor/driver" } },
      { gitRepo: { repository: "https://example.com/a.git" } },
      { iscsi: { targetPortal: "a", iqn: "b", lun: 0 } },
      { rbd: { monitors: ["a"], image: "b" } },
      { fc: { wwids: ["a"] } },
    ];
    const volumes = sources.map((source, index) => ({
      name: `v${index}`,
      specName: `v${index}`,
      volume: { name: `v${index}`, ...source },
      isReadOnly: false,
      isBlock: false,
    }));
    const { faults } = await storage.setUp(
      podOf({}),
      volumes,
      { node: () => undefined } as unknown as Parameters<DiskStorage["setUp"]>[2],
      new AbortController().signal,
    );
    equal(faults.length, sources.length);
    for (const fault of faults) match(JSON.stringify(fault), /no volume plugin matched/);
  } finally {
    await rm(root, { recursive: true });
  }
});

test("security: an option of resolv.conf stays one word", () => {
  const node = { clusterServers: ["10.0.0.10"], clusterDomain: "cluster.local", host: { servers: [], searches: [], options: [] } };
  const options = ["1\nnameserver 192.0.2.66", "1\rnameserver 192.0.2.66", "1 debug", "1\u2028x"].map((value, index) => ({ name: `o${index}`, value }));
  deepEqual(dnsConfig(podOf({ dnsConfig: { options: [...options, { name: "a\nnameserver 192.0.2.66" }, { name: "timeout", value: "2" }] } }), node).options, [
    "ndots:5",
    "timeout:2",
  ]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec } from "../../../api/core-v1/types.ts";
import { violationText, violationsOf } from "./checks.ts";
import { policyOf, privilegedPolicy } from "./levels.ts";
import { isSignificantUpdate } from "./significant-update.ts";

const container = { name: "c", image: "i" };
const strict = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
const base: PodSpec = { securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } };
const told = (level: "baseline" | "restricted", minor: number | undefined, spec: PodSpec) =>
  violationText(violationsOf({ metadata: {}, spec }, { level, minor }));

test("baseline, newest version", () => {
  const table: [spec: PodSpec, told: string][] = [
    [{ containers: [container] }, ""],
    [{ containers: [{ ...container, securityContext: { privileged: true } }] }, 'privileged (container "c" must not set securityContext.privileged=true)'],
    [{ initContainers: [{ name: "i", securityContext: { privileged: true } }] }, 'privileged (container "i" must not set securityContext.privileged=true)'],
    [
      { ephemeralContainers: [{ name: "e", securityContext: { privileged: true } }] },
      'privileged (container "e" must not set securityContext.privileged=true)',
    ],
    [{ hostNetwork: true, hostPID: true }, "host namespaces (hostNetwork=true, hostPID=true)"],
    [
      {
        volumes: [
          { name: "b", hostPath: { path: "/" } },
          { name: "a", hostPath: { path: "/" } },
        ],
      },
      'hostPath volumes (volumes "b", "a")',
    ],
    [{ containers: [{ ...container, ports: [{ containerPort: 1, hostPort: 80 }] }] }, 'hostPort (container "c" uses hostPort 80)'],
    [
      { containers: [{ ...container, securityContext: { capabilities: { add: ["SYS_TIME", "NET_RAW", "CHOWN"] } } }] },
      'non-default capabilities (container "c" must not include "NET_RAW", "SYS_TIME" in securityContext.capabilities.add)',
    ],
    [
      { containers: [{ ...container, livenessProbe: { tcpSocket: { port: 1, host: "127.0.0.1" } } }] },
      'probe or lifecycle host (container "c" uses probe or lifecycle host "127.0.0.1")',
    ],
    [
      { securityContext: { seLinuxOptions: { type: "a", user: "u" } } },
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "a"; user may not be set)',
    ],
    [{ securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } }, "forbidden sysctls (kernel.msgmax)"],
    [{ hostUsers: false, containers: [{ ...container, securityContext: { procMount: "Unmasked" } }] }, ""],
  ];
  for (const [spec, expected] of table) assert.equal(told("baseline", undefined, spec), expected);
});

test("restricted adds to baseline, and replaces some of it", () => {
  const table: [spec: PodSpec, told: string][] = [
    [{ ...base, containers: [{ ...container, securityContext: strict }] }, ""],
    [{ ...base, containers: [{ ...container, securityContext: { ...strict, runAsUser: 0 } }] }, 'runAsUser=0 (container "c" must not set runAsUser=0)'],
    [{ ...base, volumes: [{ name: "v", nfs: { server: "s", path: "/" } }] }, 'restricted volume types (volume "v" uses restricted volume type "nfs")'],
    [
      { ...base, hostUsers: false, containers: [{ ...container, securityContext: { ...strict, procMount: "Unmasked" } }] },
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      { securityContext: { seccompProfile: { type: "RuntimeDefault" } }, containers: [{ ...container, securityContext: strict }] },
      'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
    ],
  ];
  for (const [spec, expected] of table) assert.equal(told("restricted", undefined, spec), expected);
});

test("rules count from their version on", () => {
  const table: [minor: number, reasons: string[]][] = [
    [0, ["runAsNonRoot != true"]],
    [18, ["allowPrivilegeEscalation != false", "runAsNonRoot != true"]],
    [21, ["allowPrivilegeEscalation != false", "runAsNonRoot != true", "seccompProfile"]],
    [99, ["allowPrivilegeEscalation != false", "unrestricted capabilities", "runAsNonRoot != true", "seccompProfile"]],
  ];
  for (const [minor, reasons] of table)
    assert.deepEqual(
      violationsOf({ metadata: {}, spec: { containers: [container] } }, { level: "restricted", minor }).map(({ reason }) => reason),
      reasons,
    );
  assert.equal(told("baseline", 33, { containers: [{ ...container, livenessProbe: { httpGet: { port: 1, host: "h" } } }] }), "");
});

test("labels of namespaces", () => {
  const prefix = "pod-security.kubernetes.io/";
  const { policy, errors } = policyOf({ [`${prefix}enforce`]: "restricted", [`${prefix}enforce-version`]: "v1.20", [`${prefix}audit`]: "x" }, privilegedPolicy);
  assert.deepEqual(policy.enforce, { level: "restricted", minor: 20 });
  assert.deepEqual(
    errors.map(({ field }) => field),
    [`metadata.labels[${prefix}audit]`],
  );
  assert.equal(policyOf({ [`${prefix}enforce`]: "Baseline" }, privilegedPolicy).policy.enforce.level, "restricted");
});

test("updates that matter", () => {
  const pod = (image: string, labels = {}) => ({ metadata: { labels }, spec: { containers: [{ name: "c", image }] } });
  assert.equal(isSignificantUpdate(pod("a"), pod("a", { x: "y" })), false);
  assert.equal(isSignificantUpdate(pod("b"), pod("a")), true);
});

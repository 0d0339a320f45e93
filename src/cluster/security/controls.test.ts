import { test } from "node:test";
import { deepEqual, equal, match, throws } from "node:assert/strict";
import { systemClock } from "../../base/clock.ts";
import { readSettings } from "../../kubelet/index.ts";
import { readAuditFlags } from "../audit/audit-options.ts";
import { Certificates } from "../certificates/certificates.ts";
import { keysInMemory } from "../certificates/key-store.ts";
import { controls } from "./controls.ts";
import type { SecurityFacts, StoredFile } from "./facts.ts";
import { optionsOf } from "./gather-facts.ts";
import { report } from "./security-status.ts";

const dayMs = 86_400_000;
const clock = systemClock();
const { certificate } = await new Certificates(keysInMemory(), clock).client("c", "c", []);
const { settings: kubelet } = readSettings(undefined, new Map());
const file = (kind: StoredFile["kind"], mode: number, uid = 7): StoredFile => ({ path: `/d/${kind}`, kind, mode: 0o100000 | mode, uid });
const audit = (entries: Record<string, string>) => readAuditFlags(new Map(Object.entries(entries).map(([name, value]) => [`audit-${name}`, [value]])));
const encrypted = (provider: object, resources = ["secrets"]) => ({ resources: [{ resources, providers: [provider] }] });
const logged = { "log-path": "/a.log", "policy-file": "/p.yaml" };

/** As on a default start. */
const facts: SecurityFacts = {
  nowMs: clock.nowMs(),
  apiServerFlags: new Map(),
  authorizers: ["Node", "RBAC"],
  admissionPlugins: new Set(["NamespaceLifecycle", "ServiceAccount", "NodeRestriction"]),
  audit: audit({}),
  encryption: undefined,
  store: "lmdb",
  anonymousAuth: true,
  hasProfiling: true,
  hasPriorityAndFairness: true,
  requestTimeoutMs: 60_000,
  terminatedPodThreshold: 12_500,
  kubelet,
  files: [file("directory", 0o700), file("store", 0o700), file("key", 0o600), file("certificate", 0o600), file("kubeconfig", 0o600)],
  ownerId: 7,
  certificates: [{ path: "/d/c.crt", pem: certificate }],
  anonymousRights: [],
  userRights: [],
  tls: [{ name: "the API server", takesOldVersion: false, weakSuite: undefined }],
  openKubelets: [],
};

/** What makes each control fail, and the reason that is given. */
const broken: readonly (readonly [id: string, change: Partial<SecurityFacts>, why: RegExp])[] = [
  ["1.1.11", { files: [file("store", 0o750)] }, /^\/d\/store has mode 0750$/],
  ["1.1.13", { files: [file("kubeconfig", 0o644)] }, /^\/d\/kubeconfig has mode 0644$/],
  ["1.1.19", { files: [file("key", 0o600, 8)] }, /^\/d\/key belongs to user 8$/],
  ["1.1.20", { files: [file("certificate", 0o664)] }, /mode 0664/],
  ["1.1.21", { files: [file("key", 0o640)] }, /mode 0640/],
  ["1.2.1", { anonymousRights: ["list secrets"] }, /^anyone may list secrets$/],
  ["1.2.2", { apiServerFlags: new Map([["token-auth-file", ["/t"]]]) }, /--token-auth-file is set/],
  ["1.2.6", { authorizers: ["Node", "RBAC", "AlwaysAllow"] }, /AlwaysAllow/],
  ["1.2.7", { authorizers: ["RBAC"] }, /the modes are RBAC/],
  ["1.2.8", { authorizers: ["Node", "ABAC"] }, /the modes are Node, ABAC/],
  ["1.2.10", { admissionPlugins: new Set([...facts.admissionPlugins, "AlwaysAdmit"]) }, /AlwaysAdmit is on/],
  ["1.2.12", { admissionPlugins: new Set(["NamespaceLifecycle", "NodeRestriction"]) }, /ServiceAccount is off/],
  ["1.2.13", { admissionPlugins: new Set(["ServiceAccount", "NodeRestriction"]) }, /NamespaceLifecycle is off/],
  ["1.2.14", { admissionPlugins: new Set(["NamespaceLifecycle", "ServiceAccount"]) }, /NodeRestriction is off/],
  ["1.2.15", { userRights: ["get /debug/pprof/"] }, /every user may get \/debug\/pprof\//],
  ["1.2.16", { audit: audit({ "log-path": "/a.log" }) }, /without --audit-policy-file/],
  ["1.2.17", { audit: audit({ ...logged, "log-maxage": "7" }) }, /--audit-log-maxage is 7, less than 30/],
  ["1.2.18", { audit: audit({ ...logged, "log-maxbackup": "2" }) }, /--audit-log-maxbackup is 2, less than 10/],
  ["1.2.19", { audit: audit({ ...logged, "log-maxsize": "5" }) }, /--audit-log-maxsize is 5, less than 100/],
  ["1.2.20", { requestTimeoutMs: 3_600_000 }, /--request-timeout is 3600 s/],
  ["1.2.21", { apiServerFlags: new Map([["service-account-lookup", ["false"]]]) }, /--service-account-lookup=false/],
  ["1.2.26", { store: "etcd=http://127.0.0.1:2379,http://10.0.0.1:2379" }, /^http:\/\/10\.0\.0\.1:2379 is spoken to in the clear$/],
  ["1.2.27", { encryption: encrypted({ identity: {} }) }, /writes them as they are/],
  ["1.2.29", { tls: [{ name: "the API server", takesOldVersion: false, weakSuite: "AES128-SHA" }] }, /the API server takes AES128-SHA/],
  ["1.3.1", { terminatedPodThreshold: 0 }, /--terminated-pod-gc-threshold is 0/],
  ["4.2.1", { openKubelets: ["n1"] }, /the kubelet of n1 does/],
  ["5.1.2", { userRights: ["impersonate users"] }, /every user may impersonate users/],
  ["C.1", { tls: [{ name: "the kubelet of n1", takesOldVersion: true, weakSuite: undefined }] }, /the kubelet of n1 takes TLS 1\.1/],
  ["C.2", { nowMs: clock.nowMs() + 330 * dayMs }, /\/d\/c\.crt ends within a tenth of its life/],
  ["C.3", { kubelet: { ...kubelet, staticPodURL: "http://a/pods" } }, /can be changed on its way/],
  ["C.4", { hasPriorityAndFairness: false }, /--enable-priority-and-fairness=false/],
  ["C.5", { kubelet: { ...kubelet, allowedUnsafeSysctls: ["kernel.msg*"] } }, /allowed: kernel\.msg/],
];

const failing = (changed: SecurityFacts) => controls.map(({ id, judge }) => ({ id, ...judge(changed) })).filter(({ state }) => state === "fail");

test("controls: a default start passes, with what is left to the administrator for review", () => {
  const { text, isGood } = report(facts);
  equal(isGood, true);
  match(text, /\n27 passed, 0 failed, 5 to review\n$/);
});

test("controls: every one of them fails when what it is about is weak, and alone", () => {
  deepEqual(
    broken.map(([id]) => id),
    controls.map(({ id }) => id),
  );
  for (const [id, change, why] of broken) {
    const faults = failing({ ...facts, ...change });
    deepEqual(
      faults.map((fault) => fault.id),
      [id],
      id,
    );
    match(faults[0]!.why, why);
    equal(report({ ...facts, ...change }).isGood, false);
  }
});

test("controls: what was up for review passes once it is chosen well", () => {
  const chosen = { ...facts, audit: audit(logged), encryption: encrypted({ secretbox: { keys: [] } }, ["*.*"]) };
  match(report(chosen).text, /\n32 passed, 0 failed, 0 to review\n$/);
});

test("the options of a running process are read from its command line", () => {
  const line = (...words: string[]) => ["node", "--max-semi-space-size=16", "/x/coracle.mjs", ...words, ""].join("\0");
  equal(
    optionsOf(line("up", "--store", "memory", "--apiserver.profiling=false"), "/d")
      .flags.get("apiserver")
      ?.get("profiling")?.[0],
    "false",
  );
  equal(optionsOf(line("apiserver", "--profiling=false"), "/d").flags.get("apiserver")?.get("profiling")?.[0], "false");
  throws(() => optionsOf(line("join", "https://a"), "/d"), /what runs on \/d is a node/);
});

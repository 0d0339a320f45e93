/**
 * What `coracle status --security` looks at: one entry a control. Numbers are those of the CIS Kubernetes Benchmark v1.10, as far as its
 * control has a meaning here; those that begin with C are our own. What the benchmark leaves to the administrator is told for review where
 * nothing was chosen, and fails where what was chosen is weak.
 */
import { lifeOf } from "../certificates/certificate-life.ts";
import type { SecurityFacts, StoredFile } from "./facts.ts";

export interface Control {
  readonly id: string;
  readonly title: string;
  judge(facts: SecurityFacts): Verdict;
}

export interface Verdict {
  readonly state: "pass" | "fail" | "review";
  readonly why: string;
}

const pass = (why: string): Verdict => ({ state: "pass", why });
const fail = (why: string): Verdict => ({ state: "fail", why });
const review = (why: string): Verdict => ({ state: "review", why });
const unless = (faults: readonly string[], why: string): Verdict => (faults.length > 0 ? fail(faults.join("; ")) : pass(why));

const octal = (mode: number) => (mode & 0o777).toString(8).padStart(4, "0");

/** Files of a kind whose mode has none of the bits `forbidden`. */
function modes(id: string, title: string, kind: StoredFile["kind"], forbidden: number): Control {
  return {
    id,
    title,
    judge: ({ files }) =>
      unless(
        files.filter((file) => file.kind === kind && (file.mode & forbidden) !== 0).map(({ path, mode }) => `${path} has mode ${octal(mode)}`),
        `none of ${files.filter((file) => file.kind === kind).length} is open to others`,
      ),
  };
}

function plugin(id: string, name: string, isWanted: boolean): Control {
  return {
    id,
    title: `The admission plugin ${name} is ${isWanted ? "on" : "off"}`,
    judge: ({ admissionPlugins }) =>
      admissionPlugins.has(name) === isWanted
        ? pass(isWanted ? "it is on" : "it is off")
        : fail(`${name} is ${isWanted ? "off: leave it out of --disable-admission-plugins" : "on: leave it out of --enable-admission-plugins"}`),
  };
}

function mode(id: string, type: string): Control {
  return {
    id,
    title: `Authorization includes ${type}`,
    judge: ({ authorizers }) => (authorizers.includes(type) ? pass(authorizers.join(", ")) : fail(`the modes are ${authorizers.join(", ")}`)),
  };
}

/** How long and how large the audit log is kept. */
function retention(id: string, title: string, flag: string, least: number, of: (log: NonNullable<SecurityFacts["audit"]["log"]>) => number): Control {
  return {
    id,
    title,
    judge({ audit: { log } }) {
      if (log === undefined) return review("there is no audit log");
      // 0 keeps for ever, or without a limit.
      return of(log) === 0 || of(log) >= least ? pass(`--${flag} is ${of(log)}`) : fail(`--${flag} is ${of(log)}, less than ${least}`);
    },
  };
}

const sealed = (provider: object) => !Object.hasOwn(provider, "identity");

export const controls: readonly Control[] = [
  modes("1.1.11", "The store is for its owner only", "store", 0o077),
  modes("1.1.13", "The administrator's kubeconfig is for its owner only", "kubeconfig", 0o077),
  {
    id: "1.1.19",
    title: "What lies in the data directory belongs to who runs it",
    judge: ({ files, ownerId }) =>
      unless(
        files.filter(({ uid }) => uid !== ownerId).map(({ path, uid }) => `${path} belongs to user ${uid}`),
        `all belong to user ${ownerId}`,
      ),
  },
  modes("1.1.20", "Certificates can be written by their owner only", "certificate", 0o022),
  modes("1.1.21", "Keys can be read by their owner only", "key", 0o077),
  {
    id: "1.2.1",
    title: "Who has not said who it is may do nothing",
    judge: ({ anonymousAuth, anonymousRights }) =>
      anonymousAuth
        ? unless(
            anonymousRights.map((right) => `anyone may ${right}`),
            "anonymous requests are authorized as any other, and reach health and version alone",
          )
        : pass("--anonymous-auth=false"),
  },
  {
    id: "1.2.2",
    title: "No static tokens",
    judge: ({ apiServerFlags }) =>
      apiServerFlags.has("token-auth-file") ? fail("--token-auth-file is set: its tokens never end") : pass("--token-auth-file is not set"),
  },
  {
    id: "1.2.6",
    title: "Authorization refuses what nobody allowed",
    judge: ({ authorizers }) => (authorizers.includes("AlwaysAllow") ? fail("AlwaysAllow is among the modes") : pass(authorizers.join(", "))),
  },
  mode("1.2.7", "Node"),
  mode("1.2.8", "RBAC"),
  plugin("1.2.10", "AlwaysAdmit", false),
  plugin("1.2.12", "ServiceAccount", true),
  plugin("1.2.13", "NamespaceLifecycle", true),
  plugin("1.2.14", "NodeRestriction", true),
  {
    id: "1.2.15",
    title: "Profiles of the server are not for everybody",
    judge: ({ hasProfiling, userRights }) =>
      !hasProfiling
        ? pass("--profiling=false")
        : unless(
            userRights.filter((right) => right.includes("/debug/")).map((right) => `every user may ${right}`),
            "they take a right that only administrators have; --profiling=false turns them off",
          ),
  },
  {
    id: "1.2.16",
    title: "Requests are audited",
    judge({ audit: { log, webhook, policyFile } }) {
      if (log === undefined && webhook === undefined)
        return review("no audit log is written: --apiserver.audit-log-path=FILE with --apiserver.audit-policy-file=FILE");
      return policyFile === undefined ? fail("without --audit-policy-file nothing is audited") : pass(`to ${log?.path ?? webhook?.configFile}`);
    },
  },
  retention("1.2.17", "The audit log is kept for 30 days", "audit-log-maxage", 30, ({ maxAgeDays }) => maxAgeDays),
  retention("1.2.18", "Ten old files of the audit log are kept", "audit-log-maxbackup", 10, ({ maxBackups }) => maxBackups),
  retention("1.2.19", "A file of the audit log holds 100 MB", "audit-log-maxsize", 100, ({ maxMegabytes }) => maxMegabytes),
  {
    id: "1.2.20",
    title: "Requests end",
    judge: ({ requestTimeoutMs }) =>
      requestTimeoutMs > 0 && requestTimeoutMs <= 300_000
        ? pass(`after ${requestTimeoutMs / 1000} s`)
        : fail(`--request-timeout is ${requestTimeoutMs / 1000} s`),
  },
  {
    id: "1.2.21",
    title: "Tokens of service accounts that are gone count no more",
    judge: ({ apiServerFlags }) =>
      apiServerFlags.get("service-account-lookup")?.at(-1) === "false" ? fail("--service-account-lookup=false") : pass("accounts are looked up"),
  },
  {
    id: "1.2.26",
    title: "The way to etcd is encrypted",
    judge: ({ store }) =>
      unless(
        plainEndpoints(store).map((endpoint) => `${endpoint} is spoken to in the clear`),
        store.startsWith("etcd=") ? "over TLS, or on this machine" : "the store is embedded",
      ),
  },
  {
    id: "1.2.27",
    title: "Secrets are encrypted where they are stored",
    judge({ encryption }) {
      if (encryption === undefined) return review("they are not: --apiserver.encryption-provider-config=FILE");
      const rule = encryption.resources.find(({ resources }) => ["secrets", "*.", "*.*"].some((name) => resources.includes(name)));
      return rule !== undefined && sealed(rule.providers[0]!)
        ? pass(`by ${Object.keys(rule.providers[0]!)[0]}`)
        : fail("the configuration writes them as they are");
    },
  },
  {
    id: "1.2.29",
    title: "No weak suites of TLS",
    judge: ({ tls }) =>
      unless(
        tls.filter(({ weakSuite }) => weakSuite !== undefined).map(({ name, weakSuite }) => `${name} takes ${weakSuite}`),
        "only suites with forward secrecy and authenticated encryption are taken",
      ),
  },
  {
    id: "1.3.1",
    title: "Pods that have ended are collected",
    judge: ({ terminatedPodThreshold }) =>
      terminatedPodThreshold > 0 ? pass(`beyond ${terminatedPodThreshold}`) : fail(`--terminated-pod-gc-threshold is ${terminatedPodThreshold}`),
  },
  {
    id: "4.2.1",
    title: "Kubelets answer nobody without a name",
    judge: ({ openKubelets }) =>
      unless(
        openKubelets.map((name) => `the kubelet of ${name} does`),
        "each asks for a certificate or a token",
      ),
  },
  {
    id: "5.1.2",
    title: "Users have no rights that nobody gave them",
    judge: ({ userRights }) =>
      unless(
        userRights.filter((right) => !right.includes("/debug/")).map((right) => `every user may ${right}`),
        "a user without a role may not read, run or change anything",
      ),
  },
  {
    id: "C.1",
    title: "TLS begins at 1.2",
    judge: ({ tls }) =>
      unless(
        tls.filter(({ takesOldVersion }) => takesOldVersion).map(({ name }) => `${name} takes TLS 1.1`),
        "older versions are refused",
      ),
  },
  {
    id: "C.2",
    title: "Certificates are within their lives",
    judge: ({ certificates, nowMs }) =>
      unless(
        certificates.filter(({ pem }) => isLate(pem, nowMs)).map(({ path }) => `${path} ends within a tenth of its life, and was not renewed`),
        "they are renewed at 80 % of their lives",
      ),
  },
  {
    id: "C.3",
    title: "Static pods come from here, or over TLS",
    judge: ({ kubelet }) =>
      kubelet.staticPodURL.startsWith("http://") ? fail(`${kubelet.staticPodURL} can be changed on its way`) : pass("no manifest comes in the clear"),
  },
  {
    id: "C.4",
    title: "Fairness keeps the server open for its administrators",
    judge: ({ hasPriorityAndFairness }) => (hasPriorityAndFairness ? pass("requests have priorities") : fail("--enable-priority-and-fairness=false")),
  },
  {
    id: "C.5",
    title: "Pods set no sysctls that touch the whole node",
    judge: ({ kubelet }) =>
      kubelet.allowedUnsafeSysctls.length > 0 ? fail(`allowed: ${kubelet.allowedUnsafeSysctls.join(", ")}`) : pass("no unsafe sysctl is allowed"),
  },
];

function plainEndpoints(store: string): string[] {
  const endpoints = store.startsWith("etcd=") ? store.slice("etcd=".length).split(",") : [];
  return endpoints.filter((endpoint) => !endpoint.startsWith("https://") && !/^(http:\/\/)?(127\.|localhost\b|\[::1\])/.test(endpoint));
}

function isLate(pem: string, nowMs: number): boolean {
  const { startMs, endMs } = lifeOf(pem);
  return nowMs > endMs - (endMs - startMs) / 10;
}

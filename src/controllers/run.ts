import { isAbort, TaskGroup, untilAborted } from "../base/task-group.ts";
import { isAlreadyExists } from "../apimachinery/status.ts";
import { Client, EventRecorder, InformerSet, resources, userAgent } from "../client/index.ts";
import { builtInControllers, selectControllers } from "./registry.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { MetricRegistry } from "../base/metrics.ts";
import type { Random } from "../base/random.ts";
import type { Transport, UserInfo } from "../apimachinery/request.ts";
import type { ReconcileRecord } from "../operator/index.ts";
import type { ControllerEntry } from "./registry.ts";
import type { ManagerFlags } from "./flags.ts";
import type { QuotaRules } from "./resource-quota/plan.ts";

/**
 * Runs the controllers that are chosen until `signal` aborts and all their work has ended. Each writes as the service account of its own
 * in kube-system, under the user agent of kube-controller-manager; what they watch is watched once, for all of them together.
 */
export async function runControllers(options: ControllerRunOptions): Promise<void> {
  const { flags, caBundle, signer, serviceAccountKey, quotaRules, namespaceGraceMs, log, clock, random, signal } = options;
  const shared = clientFor(options, managerUser);
  const selection = options.selection ?? (flags.get("controllers") ?? ["*"]).flatMap((value) => value.split(","));
  const chosen = selectControllers(builtInControllers({ flags, caBundle, signer, serviceAccountKey, quotaRules, namespaceGraceMs }), selection);
  const group = new TaskGroup({ parent: signal, onFailure: (name, error) => log.error("A controller failed", { name, error }) });
  const informers = new InformerSet({ client: shared, clock, random, log });
  try {
    const accounts = chosen.flatMap((entry) => start(entry, options, informers, group) ?? []);
    group.start("service accounts", (inner) => ensureAccounts(shared, accounts, log, inner));
    await group.join();
    await untilAborted(signal);
  } finally {
    await informers.close();
  }
}

export interface ControllerRunOptions {
  /** A transport into the API server under this identity. */
  readonly transportFor: (user: UserInfo) => Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** PEM of the API server's certificate authorities. */
  readonly caBundle: string;
  /** Who signs certificate requests, as PEM (the key as PKCS#8); without it they are not signed. */
  readonly signer?: { readonly certificate: string; readonly key: string };
  /** PEM of the key that signs service account tokens; without it token Secrets are not filled. */
  readonly serviceAccountKey?: string;
  /** How the API server counts; without it quotas are not counted. */
  readonly quotaRules?: QuotaRules;
  /** Between a namespace's deletion and its emptying, where one API server makes less than the usual 5,000 enough. */
  readonly namespaceGraceMs?: number;
  /** As kube-controller-manager's, `--controllers` included. */
  readonly flags: ManagerFlags;
  /** Overrides `--controllers`: `["*", "-ttl-controller"]`. */
  readonly selection?: readonly string[];
  readonly metrics?: MetricRegistry;
  readonly onReconciled?: (record: ReconcileRecord) => void;
}

/** As its User-Agent tells it. */
const build = { component: "kube-controller-manager", version: "v1.37.2", platform: "linux/amd64", commit: "coracle" };
const managerUser: UserInfo = { username: "system:kube-controller-manager", groups: ["system:authenticated"] };

/** Answers the service account that the controller acts as; none for one that acts as the manager. */
function start(entry: ControllerEntry, options: ControllerRunOptions, informers: InformerSet, group: TaskGroup): string | undefined {
  const { clock, random, log, metrics, onReconciled } = options;
  const controller = entry.create();
  const user = entry.isManager === true ? managerUser : serviceAccountUser(controller.account);
  const client = clientFor(options, user, entry.isManager === true ? undefined : controller.account);
  const events = new EventRecorder({ client, clock, random, log, component: controller.eventSource });
  const services = {
    client,
    informers,
    events,
    clock,
    random,
    log,
    ...(metrics !== undefined && { metrics }),
    ...(onReconciled !== undefined && { onReconciled }),
  };
  group.start(controller.name, (signal) => controller.run(services, signal));
  group.start(`${controller.name} events`, (signal) => events.run(signal));
  return entry.isManager === true ? undefined : controller.account;
}

/** Makes the accounts that controllers act as, as kube-controller-manager does: whoever looks at who may do what finds them. */
async function ensureAccounts(client: Client, names: readonly string[], log: Log, signal: AbortSignal): Promise<void> {
  const missing = new Set(names);
  for (const name of await accountNames(client, log, signal)) missing.delete(name);
  for (const name of missing) {
    try {
      await client.create(resources.serviceAccounts, { metadata: { namespace: "kube-system", name } }, { signal });
    } catch (error) {
      if (isAbort(error, signal)) return;
      if (!isAlreadyExists(error)) log.warn("A controller's service account could not be made", { name, error });
    }
  }
}

/** The accounts that are there, so that a start of a running cluster asks once and not for each; none when that fails. */
async function accountNames(client: Client, log: Log, signal: AbortSignal): Promise<string[]> {
  try {
    const { items } = await client.list(resources.serviceAccounts, "kube-system", { signal });
    return items.map(({ metadata }) => metadata.name ?? "");
  } catch (error) {
    if (!isAbort(error, signal)) log.warn("The service accounts of kube-system could not be listed", { error });
    return [];
  }
}

function clientFor({ transportFor, clock }: ControllerRunOptions, user: UserInfo, account?: string): Client {
  return new Client({ transport: transportFor(user), clock, userAgent: userAgent({ ...build, ...(account !== undefined && { account }) }) });
}

function serviceAccountUser(account: string): UserInfo {
  return {
    username: `system:serviceaccount:kube-system:${account}`,
    groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
  };
}

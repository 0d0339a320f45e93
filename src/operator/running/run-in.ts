/** Runs an operator in a host: definitions first, then webhooks on every replica, then the reconcilers on the one that leads. */
import { backoffMs } from "../../base/backoff.ts";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { Random } from "../../base/random.ts";
import { TaskGroup } from "../../base/task-group.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Transport } from "../../apimachinery/request.ts";
import { isConflict, StatusError } from "../../apimachinery/status.ts";
import type { CustomResourceDefinition } from "../../api/apiextensions-v1/types.ts";
import { Client, EventRecorder, InformerSet, resources, runLeading, watchError } from "../../client/index.ts";
import type { ResourceType } from "../../client/index.ts";
import type { ReconcileRecord } from "../controller.ts";
import { definitionWith, webhookConfigurations } from "../webhooks/configurations.ts";
import type { ClientConfigOf } from "../webhooks/configurations.ts";
import { answerReview } from "../webhooks/review.ts";
import type { ReviewAnswer } from "../webhooks/review.ts";
import type { OperatorDefinition } from "./define-operator.ts";

/** Where an operator runs: everything that it does not bring itself. */
export interface OperatorHost {
  /** Into the API server, under the operator's identity. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Of the operator itself: its lease and certificates. */
  readonly namespace: string;
  /** Who we are among replicas; absent: there is only one, which leads. */
  readonly identity?: string;
  /** Serves reviews, for operators with webhooks or conversions. */
  readonly serveWebhooks?: ServeWebhooks;
  readonly metrics?: MetricRegistry;
  /** Hears of every object that was worked on: decision, reasons and result. */
  readonly onReconciled?: (record: ReconcileRecord) => void;
  /** Called once everything is under way: caches full and webhooks registered, or another replica leads. */
  readonly onReady?: () => void;
}

/**
 * Serves `answer` to the API server until `signal` aborts. `onAddress` is told how the server reaches it, again whenever that changes
 * (a new certificate); the promise resolves when nothing is served any more.
 */
export type ServeWebhooks = (
  answer: (path: string, body: string) => ReviewAnswer,
  onAddress: (clientConfig: ClientConfigOf) => Promise<void>,
  signal: AbortSignal,
) => Promise<void>;

export async function runIn(operator: OperatorDefinition, host: OperatorHost, signal: AbortSignal): Promise<void> {
  const { name, webhooks, definitions } = operator;
  const { clock, random, log, identity } = host;
  // No signal of its own: the lease is given up after everything was told to stop.
  const client = new Client({ transport: host.transport, clock, userAgent: name });
  const group = new TaskGroup({ parent: signal, onFailure: (task, error) => log.error("The operator failed", { operator: name, task, error }) });
  const isServing = webhooks.length > 0 || definitions.some(({ versions }) => versions.length > 0);
  try {
    if (!isServing) await retrying(() => installDefinitions(operator, client, undefined, group.signal), host, group.signal);
    else await serveFirst(operator, host, client, group);
    const lead = (leading: AbortSignal) => reconcile(operator, host, client, leading);
    if (identity === undefined) group.start("reconcilers", lead);
    else group.start("reconcilers", (held) => runLeading({ client, clock, random, log, namespace: host.namespace, name, identity }, lead, held));
    host.onReady?.();
    await group.join();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await group.close();
  }
}

/** Resolves when the webhooks are served and registered; they are served on until the group ends. */
async function serveFirst(operator: OperatorDefinition, host: OperatorHost, client: Client, group: TaskGroup): Promise<void> {
  const { name, webhooks, definitions } = operator;
  const { serveWebhooks, log } = host;
  if (serveWebhooks === undefined) throw new Error(`operator ${name} has webhooks or conversions, and this host serves none`);
  await new Promise<void>((resolve, reject) => {
    const register = async (clientConfig: ClientConfigOf) => {
      await retrying(
        async () => {
          await installDefinitions(operator, client, clientConfig, group.signal);
          for (const configuration of webhookConfigurations(name, webhooks, clientConfig))
            await install(client, configuration as KubeObject, name, group.signal);
        },
        host,
        group.signal,
      );
      log.info("Registered webhooks", { operator: name, webhooks: webhooks.length });
      resolve();
    };
    group.signal.addEventListener("abort", () => reject(group.signal.reason), { once: true });
    group.start("webhooks", (serving) => serveWebhooks((path, body) => answerReview(path, body, { webhooks, definitions }), register, serving));
  });
}

async function reconcile({ name, reconcilers, namespace }: OperatorDefinition, host: OperatorHost, client: Client, signal: AbortSignal): Promise<void> {
  const { clock, random, log, metrics, onReconciled } = host;
  const group = new TaskGroup({ parent: signal, onFailure: (task, error) => log.error("A reconciler failed", { operator: name, task, error }) });
  const informers = new InformerSet({ client, clock, random, log });
  const events = new EventRecorder({ client, clock, random, log, component: name });
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
  try {
    for (const reconciler of reconcilers) {
      const controller = reconciler.controller({ operatorName: name, ...(namespace !== undefined && { namespace }) });
      group.start(controller.name, (held) => controller.run(services, held));
    }
    group.start("events", (held) => events.run(held));
    await group.join();
  } finally {
    await informers.close();
  }
}

/** Until it goes well: with growing pauses while the server cannot be reached or is busy; what it refuses is thrown. */
async function retrying(work: () => Promise<void>, { clock, log }: OperatorHost, signal: AbortSignal): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof StatusError && error.status.code !== undefined && error.status.code < 500 && error.status.code !== 429 && !isConflict(error))
        throw error;
      const retryMs = backoffMs({ baseMs: 200, maxMs: 10_000 }, failures);
      log.warn("Could not install definitions or webhooks, trying again", { error, retryMs });
      await sleep(clock, retryMs, signal);
    }
  }
}

/** Applies the definitions and waits until the server serves them. */
async function installDefinitions(
  { name, definitions }: OperatorDefinition,
  client: Client,
  clientConfig: ClientConfigOf | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (const definition of definitions) {
    const wanted = definitionWith(definition, clientConfig);
    await install(client, wanted as KubeObject, name, signal);
    await established(client, wanted.metadata.name ?? "", signal);
  }
}

async function install(client: Client, object: DeepReadonly<KubeObject>, fieldManager: string, signal: AbortSignal): Promise<void> {
  const resource = installable[object.kind as keyof typeof installable] as unknown as ResourceType;
  await client.apply(resource, object, { fieldManager, isForced: true, signal });
}

const installable = {
  CustomResourceDefinition: resources.customResourceDefinitions,
  MutatingWebhookConfiguration: resources.mutatingWebhookConfigurations,
  ValidatingWebhookConfiguration: resources.validatingWebhookConfigurations,
} as const;

async function established(client: Client, name: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    // Without a version a watch begins with what is there.
    for await (const event of client.watch(resources.customResourceDefinitions, "", { fieldSelector: `metadata.name=${name}` }, signal)) {
      if (event.type === "ERROR") throw watchError(event.object);
      if (event.type !== "BOOKMARK" && isEstablished(event.object)) return;
    }
  }
}

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return status?.conditions?.some(({ type, status: state }) => type === "Established" && state === "True") === true;
}

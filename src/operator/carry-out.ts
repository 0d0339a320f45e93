import { isDeletedObject } from "../client/index.ts";
import { isNotFound } from "../apimachinery/status.ts";
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Client, EventSink } from "../client/index.ts";
import { countsAsFailure } from "./plan.ts";
import type { Action, ActionResult, ConfirmAction, EffectAction, GroupAction, Outcome, Plan, WriteAction } from "./plan.ts";

/**
 * Carries a plan out: the thin half of "decide purely, act thinly". Refusals are dealt with as the plan's rules say; the first failure
 * that counts is in the outcome. Throws only when `signal` aborts.
 */
export async function carryOut(plan: Plan, driver: PlanDriver): Promise<PlanOutcome> {
  const run = new PlanRun(driver);
  let requeueAfterMs: number | undefined;
  for (let part: Plan | undefined = plan; part !== undefined;) {
    const later: number | undefined = part.requeueAfterMs;
    if (later !== undefined) requeueAfterMs = Math.min(later, requeueAfterMs ?? later);
    await run.sequence(part.actions);
    part = run.isStopped ? undefined : part.next?.(run.outcome());
  }
  return { ...run.outcome(), requeueAfterMs };
}

/** What a plan is carried out with. */
export interface PlanDriver {
  readonly client: Client;
  readonly events: EventSink;
  readonly signal: AbortSignal;
  /** Hears of every write that went well, before the next one starts. */
  readonly onWrite?: (action: WriteAction, object: DeepReadonly<KubeObject> | undefined) => void;
}

/** How a plan went, with those that its `next` gave. */
export interface PlanOutcome extends Outcome {
  /** The earliest time any part of the plan asked for, in ms. */
  readonly requeueAfterMs: number | undefined;
}

class PlanRun {
  readonly #driver: PlanDriver;
  readonly #results: ActionResult[] = [];
  #failure: Error | undefined;
  isStopped = false;

  constructor(driver: PlanDriver) {
    this.#driver = driver;
  }

  outcome(): Outcome {
    return { results: this.#results, failure: this.#failure, isStopped: this.isStopped };
  }

  async sequence(actions: readonly Action[]): Promise<void> {
    for (const action of actions) {
      if (this.isStopped) this.#results.push({ action, status: "skipped" });
      else await this.#carry(action);
    }
  }

  /** True when the action, or what it led to, failed in a way that ends its group. */
  async #carry(action: Action): Promise<boolean> {
    this.#driver.signal.throwIfAborted();
    switch (action.kind) {
      case "event":
        this.#driver.events.record(action.regarding, action.event);
        this.#results.push({ action, status: "done" });
        return false;
      case "confirm":
        return this.#confirm(action);
      case "group":
        return this.#group(action);
      case "effect":
        return this.#effect(action);
      default:
        return this.#write(action);
    }
  }

  async #write(action: WriteAction): Promise<boolean> {
    let object: DeepReadonly<KubeObject> | undefined;
    try {
      object = await send(action, this.#driver);
    } catch (thrown) {
      return this.#fail(action, thrown);
    }
    this.#driver.onWrite?.(action, object);
    this.#results.push({ action, status: "done", object });
    await this.#followUp(action.onDone?.(object) ?? []);
    return false;
  }

  async #effect(action: EffectAction): Promise<boolean> {
    try {
      await action.run(this.#driver.signal);
    } catch (thrown) {
      return this.#fail(action, thrown);
    }
    this.#results.push({ action, status: "done" });
    return false;
  }

  async #fail(action: WriteAction | ConfirmAction | EffectAction, thrown: unknown): Promise<boolean> {
    this.#driver.signal.throwIfAborted();
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const rule = action.kind === "confirm" ? "stop" : (action.onError ?? "stop");
    const { severity, actions = [] } = typeof rule === "function" ? rule(error) : { severity: rule };
    this.#results.push({ action, status: "failed", error, severity });
    await this.#followUp(actions);
    if (!countsAsFailure(severity)) return severity === "leave";
    this.#failure ??= error;
    if (severity === "stop") this.isStopped = true;
    return true;
  }

  /** What belongs to an action that has ended, even when another of its group has stopped the plan meanwhile. */
  async #followUp(actions: readonly Action[]): Promise<void> {
    for (const action of actions) await this.#carry(action);
  }

  async #confirm(action: ConfirmAction): Promise<boolean> {
    const { client, signal } = this.#driver;
    try {
      const object = await client.get(action.resource, action.namespace, action.name, { signal });
      const isSame = object.metadata.uid === action.uid && object.metadata.deletionTimestamp === undefined;
      this.#results.push(isSame ? { action, status: "done", object: object as DeepReadonly<KubeObject> } : { action, status: "skipped" });
      if (!isSame) this.isStopped = true;
      return !isSame;
    } catch (error) {
      if (!isNotFound(error)) return this.#fail(action, error);
      this.#results.push({ action, status: "skipped" });
      this.isStopped = true;
      return true;
    }
  }

  async #group(group: GroupAction): Promise<boolean> {
    let batchSize = group.mode === "parallel" ? group.actions.length : 1;
    for (let start = 0; start < group.actions.length; start += batchSize, batchSize *= 2) {
      const failed = await Promise.all(group.actions.slice(start, start + batchSize).map((action) => this.#carry(action)));
      if (!failed.includes(true)) continue;
      for (const action of group.actions.slice(start + batchSize)) this.#results.push({ action, status: "skipped" });
      return true;
    }
    return false;
  }
}

async function send(action: WriteAction, { client, signal }: PlanDriver): Promise<DeepReadonly<KubeObject> | undefined> {
  switch (action.kind) {
    case "create":
      return (await client.create(action.resource, action.object, { signal })) as DeepReadonly<KubeObject>;
    case "update":
      return (await client.update(action.resource, action.object, { signal, ...subresourceOf(action) })) as DeepReadonly<KubeObject>;
    case "patch":
      return (await client.patch(action.resource, action.namespace, action.name, {
        ...action.patch,
        signal,
        ...subresourceOf(action),
      })) as DeepReadonly<KubeObject>;
    case "delete": {
      const answer = await client.delete(action.resource, action.namespace, action.name, { ...action.options, signal });
      return isDeletedObject(answer) ? (answer as DeepReadonly<KubeObject>) : undefined;
    }
  }
}

function subresourceOf(action: { readonly subresource?: string | undefined }): { subresource?: string } {
  return action.subresource === undefined ? {} : { subresource: action.subresource };
}

import { formatTime } from "../../apimachinery/time.ts";
import { resourceLabel } from "../../client/index.ts";
import { countsAsFailure } from "../../operator/index.ts";
import type { ActionResult, ReconcileRecord } from "../../operator/index.ts";

/** A pass in which something was done, as it is kept and shown. */
export interface KeptPass {
  readonly controller: string;
  readonly key: string;
  readonly time: string;
  readonly reasons: readonly string[];
  /** `create pods default/web-x: done`. */
  readonly actions: readonly string[];
  readonly failure?: string;
}

const maxKeys = 1000;
const passesPerKey = 10;
const maxActions = 20;

/** What the controllers did last, and why: some passes of each of the objects worked on last. Passes that did nothing are not kept. */
export class DecisionLog {
  /** In the order in which they were last worked on. */
  readonly #passes = new Map<string, KeptPass[]>();

  add(record: ReconcileRecord): void {
    const { results, failure } = record.outcome;
    if (results.length === 0) return;
    const id = `${record.controller}/${record.key}`;
    const passes = this.#passes.get(id) ?? [];
    this.#passes.delete(id);
    this.#passes.set(id, passes);
    passes.push({
      controller: record.controller,
      key: record.key,
      time: formatTime(record.atMs),
      reasons: record.plan.reasons ?? [],
      actions: actionsOf(results),
      ...(failure !== undefined && { failure: failure.message }),
    });
    if (passes.length > passesPerKey) passes.shift();
    if (this.#passes.size > maxKeys) this.#passes.delete(this.#passes.keys().next().value!);
  }

  /** The passes of an object, the newest first; `key` is as the controller names it, `NAMESPACE/NAME` for most. */
  of(controller: string, key: string): readonly KeptPass[] {
    return (this.#passes.get(`${controller}/${key}`) ?? []).toReversed();
  }

  /** The last pass of each object, the newest first. */
  last(): readonly KeptPass[] {
    return Array.from(this.#passes.values(), (passes) => passes.at(-1)!).reverse();
  }
}

function actionsOf(results: readonly ActionResult[]): readonly string[] {
  const shown = results.slice(0, maxActions).map(actionText);
  return results.length <= maxActions ? shown : [...shown, `and ${results.length - maxActions} more`];
}

function actionText(result: ActionResult): string {
  const end = result.status === "failed" ? `${countsAsFailure(result.severity) ? "failed" : "ignored"}: ${result.error.message}` : result.status;
  return `${whatOf(result)}: ${end}`;
}

function whatOf(result: ActionResult): string {
  const { action } = result;
  switch (action.kind) {
    case "create": {
      const { metadata } = (result.status === "done" ? result.object : undefined) ?? action.object;
      return `create ${resourceLabel(action.resource)} ${nameOf(metadata.namespace, metadata.name ?? `${metadata.generateName}…`)}`;
    }
    case "update":
      return `update ${resourceLabel(action.resource)}${partOf(action)} ${nameOf(action.object.metadata.namespace, action.object.metadata.name)}`;
    case "patch":
      return `patch ${resourceLabel(action.resource)}${partOf(action)} ${nameOf(action.namespace, action.name)}`;
    case "delete":
    case "confirm":
      return `${action.kind} ${resourceLabel(action.resource)} ${nameOf(action.namespace, action.name)}`;
    case "event":
      return `event ${action.event.reason}`;
    case "effect":
      return action.name;
    case "group":
      return `${action.actions.length} actions`;
  }
}

const partOf = ({ subresource }: { readonly subresource?: string | undefined }) => (subresource === undefined ? "" : `/${subresource}`);
const nameOf = (namespace: string | undefined, name: string | undefined) => (namespace === undefined || namespace === "" ? `${name}` : `${namespace}/${name}`);

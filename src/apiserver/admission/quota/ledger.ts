/**
 * Writes charges into the quotas' status. Requests of one namespace that arrive while a write is under way are charged together in the
 * next one, so that the sum is exact however many come at once. A quota that somebody else changed meanwhile is read again.
 *
 * Driven by the ResourceQuota plugin; holds one queue per namespace that has requests waiting, and nothing else.
 */
import type { ResourceQuota } from "../../../api/core-v1/types.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { conflictError } from "../../../apimachinery/status.ts";
import type { StatusError } from "../../../apimachinery/status.ts";
import { updateInternally } from "../../registry/internal-writes.ts";
import { findObjects } from "../../registry/rule-context.ts";
import type { ServerState } from "../../server-state.ts";
import { chargeQuotas } from "./charge.ts";
import type { Charge, Used } from "./charge.ts";

/** How often a quota that changed under us is charged again. */
const attempts = 10;

export class QuotaLedger {
  readonly #server: ServerState;
  readonly #queues = new Map<string, Waiting[]>();

  constructor(server: ServerState) {
    this.#server = server;
  }

  /** Resolves when the charge is written (or, in a dry run, would be); rejects with what `refuse` makes of the reason. */
  charge(namespace: string, charge: Charge, options: { readonly isDryRun: boolean; refuse(reason: string): StatusError }): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { charge, isDryRun: options.isDryRun, refuse: (reason) => reject(options.refuse(reason)), fail: reject, resolve };
      const queue = this.#queues.get(namespace);
      if (queue !== undefined) {
        queue.push(waiting);
        return;
      }
      this.#queues.set(namespace, [waiting]);
      this.#server.tasks.start("charge quotas", () => this.#drain(namespace));
    });
  }

  async #drain(namespace: string): Promise<void> {
    for (;;) {
      const batch = this.#queues.get(namespace)!;
      if (batch.length === 0) break;
      this.#queues.set(namespace, []);
      await this.#settle(namespace, batch).catch((error: unknown) => {
        for (const { fail } of batch) fail(error);
      });
    }
    this.#queues.delete(namespace);
  }

  async #settle(namespace: string, batch: readonly Waiting[]): Promise<void> {
    let waiting = batch;
    let only: ReadonlySet<string> | undefined;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const quotas = (findObjects(this.#server, "/resourcequotas", namespace) as unknown as ResourceQuota[]).filter(
        ({ metadata }) => only === undefined || only.has(metadata.name!),
      );
      const used = new Map<string, Used>();
      waiting = waiting.filter((one) => admitOne(one, quotas, used));
      const stale = await this.#write(namespace, quotas, used);
      if (stale.size === 0) {
        for (const { resolve } of waiting) resolve();
        return;
      }
      only = stale;
    }
    for (const { fail } of waiting)
      fail(
        conflictError(
          { group: "", resource: "resourcequotas" },
          [...(only ?? [])][0] ?? "",
          "the object has been modified; please apply your changes to the latest version and try again",
        ),
      );
  }

  /** Names of quotas that were changed by others since they were read. */
  async #write(namespace: string, quotas: readonly ResourceQuota[], used: ReadonlyMap<string, Used>): Promise<Set<string>> {
    const stale = new Set<string>();
    const definition = this.#server.resources.find("", "v1", "resourcequotas")!;
    for (const { metadata } of quotas) {
      const name = metadata.name!;
      const amounts = used.get(name);
      if (amounts === undefined) continue;
      await updateInternally(this.#server, definition, { namespace, name, subresource: "status" }, (old) => {
        if (old.metadata.resourceVersion !== metadata.resourceVersion) {
          stale.add(name);
          return undefined;
        }
        return withUsed(old, amounts);
      });
    }
    return stale;
  }
}

interface Waiting {
  readonly charge: Charge;
  readonly isDryRun: boolean;
  refuse(reason: string): void;
  fail(error: unknown): void;
  resolve(): void;
}

/** Charges one request to `used`; false when it is answered already. */
function admitOne(one: Waiting, quotas: readonly ResourceQuota[], used: Map<string, Used>): boolean {
  const result = chargeQuotas(one.charge, quotas, used);
  if ("refused" in result) {
    one.refuse(result.refused);
    return false;
  }
  if (one.isDryRun) {
    one.resolve();
    return false;
  }
  for (const [name, amounts] of result.used) used.set(name, amounts);
  return true;
}

function withUsed(quota: KubeObject, used: Used): KubeObject {
  return { ...quota, status: { ...(quota["status"] as object | undefined), used: { ...used } } };
}

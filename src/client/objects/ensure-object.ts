import { backoffMs } from "../../base/backoff.ts";
import { sleep } from "../../base/clock.ts";
import { isAlreadyExists, StatusError } from "../../apimachinery/status.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { BackoffPolicy } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Client } from "../client.ts";
import type { ResourceType } from "../resource-type.ts";

/**
 * Creates an object unless it is there, for components that cannot do without it: a server that cannot be reached or is busy is asked again,
 * with growing pauses. Throws a StatusError when the server refuses it, the signal's reason when aborted.
 */
export async function ensureObject<T extends KubeObject>(
  client: Client,
  resource: ResourceType<T>,
  object: DeepReadonly<T>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      await client.create(resource, object, { signal });
      return;
    } catch (error) {
      if (isAlreadyExists(error)) return;
      if (signal.aborted || !mayPass(error)) throw error;
    }
    await sleep(clock, backoffMs(policy, failures), signal);
  }
}

const policy: BackoffPolicy = { baseMs: 100, maxMs: 10_000 };

function mayPass(error: unknown): boolean {
  return !(error instanceof StatusError) || error.code === 429 || error.code >= 500;
}

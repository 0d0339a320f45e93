import { isAlreadyExists, isConflict, isForbidden, isNotFound, StatusError } from "../apimachinery/status.ts";
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Client, ResourceType } from "../client/index.ts";
import type { Outcome, WriteAction } from "./plan.ts";
import { countsAsFailure } from "./plan.ts";

/**
 * Writes that may have been done although no answer says so: the connection broke, the server failed half way, or what refused the write may be
 * that very write (a request that was sent twice). Noted by the controller harness when a plan failed; before the key is decided on again it
 * asks what is there now, so that the caches can be waited for. Holds nothing for keys that will not be tried again.
 */
export class UncertainWrites {
  readonly #byKey = new Map<string, WriteAction[]>();

  /** Remembers what of a plan that is tried again is uncertain. */
  note(key: string, { results }: Outcome): void {
    const uncertain = results.flatMap((result) =>
      result.status === "failed" && countsAsFailure(result.severity) && isWrite(result.action) && isUncertain(result.error) ? [result.action] : [],
    );
    if (uncertain.length > 0) this.#byKey.set(key, uncertain);
  }

  /** What the objects of the key's uncertain writes are now. Rejects, to be asked again, when the server does not say. */
  async ask(key: string, client: Client, signal: AbortSignal): Promise<readonly Answer[]> {
    const uncertain = this.#byKey.get(key);
    if (uncertain === undefined) return [];
    const answers: Answer[] = [];
    for (const action of uncertain) {
      const address = addressOf(action);
      // The server makes the name up: there is nothing to ask for.
      if (address.name === "") continue;
      const object = await read(client, action.resource, address, signal);
      if (object !== "untold") answers.push({ ...address, resource: action.resource, object });
    }
    this.#byKey.delete(key);
    return answers;
  }
}

/** `object` is undefined when there is none. */
export interface Answer {
  readonly resource: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly object: DeepReadonly<KubeObject> | undefined;
}

function isWrite(action: { readonly kind: string }): action is WriteAction {
  return action.kind === "create" || action.kind === "update" || action.kind === "patch" || action.kind === "delete";
}

function isUncertain(error: Error): boolean {
  return !(error instanceof StatusError) || error.code >= 500 || isConflict(error) || isAlreadyExists(error);
}

function addressOf(action: WriteAction): { namespace: string; name: string } {
  if (action.kind === "patch" || action.kind === "delete") return { namespace: action.namespace, name: action.name };
  const { namespace = "", name = "" } = action.object.metadata;
  return { namespace, name };
}

/** A controller need not be allowed to read what it writes. */
async function read(client: Client, resource: ResourceType, address: { namespace: string; name: string }, signal: AbortSignal) {
  try {
    return (await client.get(resource, address.namespace, address.name, { signal })) as DeepReadonly<KubeObject>;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (isForbidden(error)) return "untold" as const;
    throw error;
  }
}

/** Takes a pod that has ended out of the API. */
import { isConflict, isNotFound } from "../../apimachinery/status.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";

/** One that is gone, or another of its name, is no fault. */
export async function deletePodObject(client: Client, { metadata }: DeepReadonly<Pod>, signal: AbortSignal): Promise<void> {
  const { namespace = "", name = "", uid = "" } = metadata;
  try {
    await client.delete(resources.pods, namespace, name, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

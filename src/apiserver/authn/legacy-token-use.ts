/** Notes on Secrets by day when the token in them was last used, so that tokens nobody uses can be told (documentation page "Managing Service Accounts"). */
import { isNotFound } from "../../apimachinery/status.ts";
import type { TaskGroup } from "../../base/task-group.ts";
import { updateInternally } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";

export const lastUsedLabel = "kubernetes.io/legacy-token-last-used";
/** Set by the controller that cleans them up. */
export const invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since";

export type NoteTokenUse = (namespace: string, name: string, day: string) => void;

/** Writes in the background; a token that comes with many requests at once is noted once. */
export function tokenUseNotes(server: () => ServerState, tasks: TaskGroup): NoteTokenUse {
  const underWay = new Set<string>();
  return (namespace, name, day) => {
    const key = `${namespace}/${name}`;
    if (underWay.has(key)) return;
    underWay.add(key);
    tasks.start(`note the use of the token in ${key}`, async () => {
      try {
        await note(server(), { namespace, name, day });
      } catch (error) {
        if (!isNotFound(error)) server().log.warn("The use of a token could not be noted", { secret: key, error });
      } finally {
        underWay.delete(key);
      }
    });
  };
}

function note(server: ServerState, { namespace, name, day }: { namespace: string; name: string; day: string }): Promise<void> {
  const definition = server.resources.find("", "v1", "secrets")!;
  return updateInternally(server, definition, { namespace, name }, (secret) => {
    secret.metadata.labels = { ...secret.metadata.labels, [lastUsedLabel]: day };
    return secret;
  });
}

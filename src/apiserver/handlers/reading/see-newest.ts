/** What several API servers on one store owe their clients: none of them answers from a past that another one's clients have left. */
import { storageFailure } from "../../registry/storage/storage-errors.ts";
import type { RequestContext } from "../../request-context.ts";
import { parseVersion } from "./versions.ts";

/**
 * Waits until the caches show what was acknowledged before the request came. Reads that name a resourceVersion are content with it
 * (documentation page "API concepts", "Resource versions"). Rejects with a StatusError when the store does not answer.
 */
export async function seeNewest({ server, info, query }: RequestContext): Promise<void> {
  const isRead = info.verb === "get" || info.verb === "list" || info.verb === "watch";
  const asked = isRead ? parseVersion(query.get("resourceVersion") ?? "") : undefined;
  if (asked !== undefined && asked <= server.cacher.revision) return;
  try {
    await server.cacher.catchUp();
  } catch (error) {
    throw storageFailure(error);
  }
}

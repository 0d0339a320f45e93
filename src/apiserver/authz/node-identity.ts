/** Which node a user is (documentation page "Using Node Authorization"). */
import type { UserInfo } from "../../apimachinery/request.ts";

const prefix = "system:node:";

/** The node's name; `""` for a member of the nodes' group whose name tells no node; undefined for everybody else. */
export function nodeNameOf({ username, groups }: UserInfo): string | undefined {
  if (!username.startsWith(prefix) || !groups.includes("system:nodes")) return undefined;
  return username.slice(prefix.length);
}

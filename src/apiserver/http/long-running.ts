/** Requests that last as long as the client wants: watches, logs, connections. */
import type { RequestContext } from "../request-context.ts";
import { isTrue } from "./request-info.ts";

const longRunning = new Set(["exec", "attach", "portforward", "proxy", "log"]);

export function isLongRunning({ info, query }: Pick<RequestContext, "info" | "query">): boolean {
  return info.verb === "watch" || longRunning.has(info.subresource) || isTrue(query.get("watch"));
}

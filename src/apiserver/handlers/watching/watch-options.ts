/** Options of a watch (documentation page "API concepts: Efficient detection of changes"). */
import { forbidden } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import type { RequestContext } from "../../request-context.ts";
import { isTrue } from "../../http/request-info.ts";
import { invalidListOptions, matchErrors, parseInteger } from "../reading/list-options.ts";
import { invalidGetVersion, parseVersion } from "../reading/versions.ts";

export interface WatchOptions {
  /** Events after this revision; undefined: the present state first, then what follows. */
  readonly revision: number | undefined;
  /** Whether the present state is sent as ADDED events first, and a bookmark ends it. */
  readonly sendsInitial: boolean;
  /** Whether the client said anything about initial events. */
  readonly asksInitial: boolean;
  readonly mayBookmark: boolean;
  readonly timeoutMs: number;
}

/** Reads and checks the options. Throws 422, 500. Without `timeoutSeconds` a watch lasts the minimum time and up to as much again. */
export function parseWatchOptions(context: RequestContext): WatchOptions {
  const { query, server } = context;
  const version = query.get("resourceVersion") ?? "";
  const errors = matchErrors({
    version,
    match: query.get("resourceVersionMatch") ?? "",
    continueToken: query.get("continue") ?? "",
    isWatch: true,
    sendsInitial: query.get("sendInitialEvents"),
  });
  if (query.has("sendInitialEvents") && !server.isEnabled("WatchList"))
    errors.push(forbidden(FieldPath.root("sendInitialEvents"), "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"));
  if (errors.length > 0) throw invalidListOptions(errors);
  const timeoutSeconds = parseInteger(query, "timeoutSeconds");
  const revision = version === "" ? undefined : parseVersion(version);
  if (version !== "" && revision === undefined) throw invalidGetVersion(version);
  const minMs = server.settings.minRequestTimeoutMs;
  return {
    revision: revision === 0 ? undefined : revision,
    sendsInitial: isTrue(query.get("sendInitialEvents")),
    asksInitial: query.has("sendInitialEvents"),
    mayBookmark: isTrue(query.get("allowWatchBookmarks")),
    timeoutMs: timeoutSeconds !== undefined && timeoutSeconds > 0 ? timeoutSeconds * 1000 : minMs * (1 + server.random.fraction()),
  };
}

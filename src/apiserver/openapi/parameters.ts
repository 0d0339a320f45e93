/** Query and path parameters of operations, in the order of their names. */
import type { Descriptions } from "./descriptions.ts";

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path";
  readonly type: "string" | "boolean" | "integer";
  readonly description: string;
}

type Kind = "s" | "b" | "i";
type Names = Readonly<Record<string, Kind>>;

const listing: Names = {
  allowWatchBookmarks: "b",
  continue: "s",
  fieldSelector: "s",
  labelSelector: "s",
  limit: "i",
  resourceVersion: "s",
  resourceVersionMatch: "s",
  sendInitialEvents: "b",
  shardSelector: "s",
  timeoutSeconds: "i",
  watch: "b",
};
const writing: Names = { dryRun: "s", fieldManager: "s", fieldValidation: "s" };
const deleting: Names = {
  dryRun: "s",
  gracePeriodSeconds: "i",
  ignoreStoreReadErrorWithClusterBreakingPotential: "b",
  orphanDependents: "b",
  propagationPolicy: "s",
};
const { allowWatchBookmarks: _bookmarks, watch: _watch, ...listingOnce } = listing;

/** What each action takes; custom resources' are a little different. */
const ofAction: Readonly<Record<string, Names>> = {
  list: listing,
  watch: listing,
  watchlist: listing,
  post: writing,
  put: writing,
  patch: { ...writing, force: "b" },
  delete: deleting,
  deletecollection: { ...listingOnce, ...deleting },
  get: {},
};
const ofCustomAction: Readonly<Record<string, Names>> = { ...ofAction, deletecollection: listing, get: { resourceVersion: "s" } };

const streams: Names = { container: "s", stderr: "b", stdin: "b", stdout: "b", tty: "b" };
/** What a subresource takes instead. */
const ofConnection: Readonly<Record<string, Names>> = {
  "pods/attach": streams,
  "pods/exec": { ...streams, command: "s" },
  "pods/portforward": { ports: "i" },
  "pods/proxy": { path: "s" },
  "services/proxy": { path: "s" },
  "nodes/proxy": { path: "s" },
  "pods/log": {
    container: "s",
    follow: "b",
    insecureSkipTLSVerifyBackend: "b",
    limitBytes: "i",
    pretty: "s",
    previous: "b",
    sinceSeconds: "i",
    stream: "s",
    tailLines: "i",
    timestamps: "b",
  },
};

const types = { s: "string", b: "boolean", i: "integer" } as const;

/** Parameters of an action on a resource. */
export function parametersOf(action: string, isCustom: boolean, descriptions: Descriptions): Parameter[] {
  const names = { ...(isCustom ? ofCustomAction : ofAction)[action]!, pretty: "s" as const };
  return queryParameters(names, descriptions, action === "patch" ? "Patch" : "");
}

/** Parameters of a subresource that is not an object (`pods/exec`, `pods/log`), or undefined. */
export function connectionParameters(resource: string, subresource: string, descriptions: Descriptions): Parameter[] | undefined {
  const names = ofConnection[`${resource}/${subresource}`];
  if (names === undefined) return undefined;
  const kind = `${resource.charAt(0).toUpperCase()}${resource.slice(1, -1)}${subresource.charAt(0).toUpperCase()}${subresource.slice(1)}`;
  return queryParameters(names, descriptions, kind);
}

function queryParameters(names: Names, descriptions: Descriptions, scope: string): Parameter[] {
  return Object.keys(names)
    .sort()
    .map((name): Parameter => ({ name, in: "query", type: types[names[name]!], description: descriptions.parameter(name, scope) }));
}

export function namespaceParameter(descriptions: Descriptions): Parameter {
  return { name: "namespace", in: "path", type: "string", description: descriptions.parameter("namespace") };
}

export function nameParameter(kind: string): Parameter {
  return { name: "name", in: "path", type: "string", description: `name of the ${kind}` };
}

/** The rest of a proxy's path. */
export function pathParameter(): Parameter {
  return { name: "path", in: "path", type: "string", description: "path to the resource" };
}

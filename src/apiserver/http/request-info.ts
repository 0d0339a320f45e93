/** What a request asks for, read off its method, path and query (documentation page "Authorization: Determine the Request Verb"). */
import { exactFieldValue, parseFieldSelector } from "../../apimachinery/selectors/field-selector.ts";
import { pathSegmentName } from "../../apimachinery/names.ts";

export interface RequestInfo {
  readonly isResourceRequest: boolean;
  /** Decoded path. */
  readonly path: string;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; the lower-case method otherwise. */
  readonly verb: string;
  /** `api` or `apis`. */
  readonly apiPrefix: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Segments from the resource on. */
  readonly parts: readonly string[];
  /** Below `/watch/` (the legacy form). */
  readonly isLegacyWatch: boolean;
}

const verbs: Readonly<Record<string, string>> = { POST: "create", GET: "get", HEAD: "get", PUT: "update", PATCH: "patch", DELETE: "delete" };
const namespaceSubresources = new Set(["status", "finalize"]);

/** Reads a request's path. Throws `URIError` when a percent escape is broken. */
export function parseRequestInfo(method: string, rawPath: string, query: URLSearchParams): RequestInfo {
  const path = rawPath.includes("%") ? decodeURIComponent(rawPath) : rawPath;
  // An escaped slash separates like any other.
  const segments = trimSlashes(path).split("/");
  const prefix = segments[0]!;
  const isGroupless = prefix === "api";
  if (segments.length < (isGroupless ? 3 : 4) || (prefix !== "api" && prefix !== "apis")) return nonResource(method, path);
  const group = isGroupless ? "" : segments[1]!;
  const version = segments[isGroupless ? 1 : 2]!;
  let rest = segments.slice(isGroupless ? 2 : 3);
  let verb = verbs[method] ?? "";
  const isLegacyWatch = rest[0] === "watch";
  if (isLegacyWatch || rest[0] === "proxy") {
    verb = rest[0]!;
    rest = rest.slice(1);
  }
  let namespace = "";
  if (rest[0] === "namespaces" && rest.length > 1) {
    namespace = rest[1]!;
    if (rest.length > 2 && !namespaceSubresources.has(rest[2]!)) rest = rest.slice(2);
  }
  const subresource = rest[2] ?? "";
  let name = rest[1] ?? "";
  if (name === "" && (verb === "get" || verb === "watch")) {
    if (verb === "get") verb = isTrue(query.get("watch")) ? "watch" : "list";
    name = nameOfSelector(query.get("fieldSelector"));
  }
  if (name === "" && verb === "delete" && rest.length === 1) verb = "deletecollection";
  return {
    isResourceRequest: true,
    path,
    verb,
    apiPrefix: prefix,
    group,
    version,
    namespace,
    resource: rest[0] ?? "",
    subresource,
    name,
    parts: rest,
    isLegacyWatch,
  };
}

/** A query flag as the API server reads it: absent, `false`, `0` are false; anything else, nonsense included, is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value.toLowerCase() !== "false" && value !== "0";
}

function nonResource(method: string, path: string): RequestInfo {
  return {
    isResourceRequest: false,
    path,
    verb: method.toLowerCase(),
    apiPrefix: "",
    group: "",
    version: "",
    namespace: "",
    resource: "",
    subresource: "",
    name: "",
    parts: [],
    isLegacyWatch: false,
  };
}

/** `metadata.name=x` in a field selector names the object for authorization. */
function nameOfSelector(selector: string | null): string {
  if (selector === null || !selector.includes("metadata.name")) return "";
  try {
    const name = exactFieldValue(parseFieldSelector(selector), "metadata.name");
    return name !== undefined && pathSegmentName(name).length === 0 ? name : "";
  } catch {
    // An unreadable selector is refused where the list is read; it names nothing.
    return "";
  }
}

const slash = 0x2f;

function trimSlashes(path: string): string {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === slash) start++;
  while (end > start && path.charCodeAt(end - 1) === slash) end--;
  return path.slice(start, end);
}

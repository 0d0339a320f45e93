/** The headers of a request that is passed on to an extension API server: who asks, and for what (documentation page "Configure the Aggregation Layer"). Pure. */
import type { UserInfo } from "../../apimachinery/request.ts";

export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Concern this connection, or the client's identity, which the aggregator tells by itself. */
const ownHeaders = new Set([
  "authorization",
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What a client sent, without what is not for others. */
export function passedOn(headers: Readonly<Record<string, string>>): Record<string, string> {
  const named = new Set((headers["connection"] ?? "").split(",").map((name) => name.trim().toLowerCase()));
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) =>
        !ownHeaders.has(name) &&
        !named.has(name) &&
        (name !== "te" || value === "trailers") &&
        !name.startsWith("x-remote-") &&
        !name.startsWith("impersonate-"),
    ),
  );
}

/** Who asks, as an extension API server trusts it from a front proxy. */
export function identityHeaders({ username, uid = "", groups, extra = {} }: UserInfo): Record<string, string | readonly string[]> {
  return {
    "x-remote-user": username,
    ...(uid !== "" && { "x-remote-uid": uid }),
    ...(groups.length > 0 && { "x-remote-group": groups }),
    ...Object.fromEntries(Object.entries(extra).map(([key, values]) => [`x-remote-extra-${headerName(key)}`, values])),
  };
}

/** What a header name cannot hold, percent-encoded. */
function headerName(key: string): string {
  return [...Buffer.from(key)]
    .map((byte) => (/[\w!#$&'*+.^`|~-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte).toLowerCase() : `%${byte.toString(16).padStart(2, "0")}`))
    .join("");
}

/** Where a request was sent, for servers that make links. */
export function forwardingHeaders(request: {
  readonly path: string;
  readonly host: string;
  readonly forwardedFor?: string;
  readonly clientAddress: string;
}): Record<string, string> {
  const route = [request.forwardedFor ?? "", request.clientAddress].filter((hop) => hop !== "").join(", ");
  return { "x-forwarded-uri": request.path, "x-forwarded-host": request.host, "x-forwarded-proto": "https", ...(route !== "" && { "x-forwarded-for": route }) };
}

/** A decoded path as Go writes it. */
export function goEscapedPath(path: string): string {
  return encodeURI(path).replace(/[?#!'()*[\]]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A query as Go writes it: sorted by name. */
export function goEncodedQuery(query: URLSearchParams): string {
  const sorted = new URLSearchParams(query);
  sorted.sort();
  return sorted.toString();
}

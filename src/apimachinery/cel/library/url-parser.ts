/** URLs as Go's `url.ParseRequestURI` reads them, with its faults. */

export interface ParsedUrl {
  readonly scheme: string;
  /** With the port. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  /** Empty for opaque URLs (`mailto:x`). */
  readonly escapedPath: string;
  readonly rawQuery: string;
  /** The whole, as it is compared. */
  readonly text: string;
}

/** The URL, or Go's complaint. */
export function parseRequestUri(text: string): ParsedUrl | string {
  const fault = (reason: string) => `parse ${goQuote(text)}: ${reason}`;
  if ([...text].some((character) => character < " " || character === "\u007f")) return fault("net/url: invalid control character in URL");
  if (text === "") return fault("empty url");
  if (text === "*") return { scheme: "", host: "", hostname: "", port: "", escapedPath: "*", rawQuery: "", text };
  if (text.startsWith(":")) return fault("missing protocol scheme");
  const [, scheme = "", rest = text] = /^(?:([A-Za-z][\w+.-]*):(.*))?/s.exec(/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) ? text : "") ?? [];
  const question = rest.indexOf("?");
  const beforeQuery = question < 0 ? rest : rest.slice(0, question);
  const rawQuery = question < 0 ? "" : rest.slice(question + 1);
  const common = { scheme: scheme.toLowerCase(), rawQuery, text: scheme.toLowerCase() + text.slice(scheme.length) };
  if (!beforeQuery.startsWith("/")) {
    return scheme === "" ? fault("invalid URI for request") : { ...common, host: "", hostname: "", port: "", escapedPath: "" };
  }
  const hasAuthority = beforeQuery.startsWith("//") && (scheme !== "" || !beforeQuery.startsWith("///"));
  const slash = hasAuthority ? beforeQuery.indexOf("/", 2) : 0;
  const authority = hasAuthority ? beforeQuery.slice(2, slash < 0 ? undefined : slash) : "";
  const path = slash < 0 ? "" : beforeQuery.slice(slash);
  const host = parseAuthority(authority);
  if ("fault" in host) return fault(host.fault);
  const badEscape = wrongEscape(path);
  if (badEscape !== undefined) return fault(`invalid URL escape ${goQuote(badEscape)}`);
  return { ...common, ...host, escapedPath: escapePath(path) };
}

/** Values by key, in order; pairs that cannot be decoded are left out. */
export function parseQuery(rawQuery: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of rawQuery.split("&")) {
    if (pair === "" || pair.includes(";")) continue;
    const equals = pair.indexOf("=");
    const key = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    if (key === undefined || value === undefined) continue;
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return values;
}

interface Authority {
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
}

function parseAuthority(authority: string): Authority | { fault: string } {
  const at = authority.lastIndexOf("@");
  if (at >= 0) {
    const userInfo = authority.slice(0, at);
    if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userInfo)) return { fault: "net/url: invalid userinfo" };
    const badUser = wrongEscape(userInfo);
    if (badUser !== undefined) return { fault: `invalid URL escape ${goQuote(badUser)}` };
  }
  const raw = authority.slice(at + 1);
  const open = raw.indexOf("[");
  if (open > 0) return { fault: "invalid IP-literal" };
  const close = open === 0 ? raw.lastIndexOf("]") : -1;
  if (open === 0 && close < 0) return { fault: "missing ']' in host" };
  const colon = open === 0 ? close + 1 : raw.lastIndexOf(":");
  const portPart = open === 0 ? raw.slice(colon) : colon < 0 ? "" : raw.slice(colon);
  if (portPart !== "" && !/^:\d*$/.test(portPart)) return { fault: `invalid port ${goQuote(portPart)} after host` };
  const host = decodeHost(raw, open === 0 ? raw.indexOf("%25") : -1);
  if (typeof host !== "string") return host;
  const hostPart = host.slice(0, host.length - portPart.length);
  return { host, hostname: open === 0 ? hostPart.slice(1, -1) : hostPart, port: portPart.slice(1) };
}

/** Escapes in hosts are those of characters beyond ASCII, but for the zone of an IPv6 address, which may escape anything. */
function decodeHost(raw: string, zone: number): string | { fault: string } {
  const name = zone < 0 ? raw : raw.slice(0, zone);
  const wrong = wrongEscape(name) ?? /%[0-7][0-9A-Fa-f]/.exec(name)?.[0];
  if (wrong !== undefined) return { fault: `invalid URL escape ${goQuote(wrong)}` };
  const invalid = /[ #\\^`{|}]/.exec(name);
  if (invalid !== null) return { fault: `invalid character ${goQuote(invalid[0])} in host name` };
  if (zone < 0) return decodeBytes(name);
  const zoneName = raw.slice(zone);
  const wrongZone = wrongEscape(zoneName);
  return wrongZone === undefined ? decodeBytes(name) + decodeBytes(zoneName) : { fault: `invalid URL escape ${goQuote(wrongZone)}` };
}

function wrongEscape(text: string): string | undefined {
  const found = /%(?![0-9A-Fa-f]{2})/.exec(text);
  return found === null ? undefined : text.slice(found.index, found.index + 3);
}

/** A path stays as it was written where that is a valid encoding; else it is encoded anew. */
function escapePath(path: string): string {
  if (/^[A-Za-z0-9\-._~!$&'()*+,;=:@/[\]%]*$/.test(path)) return path;
  return [...Buffer.from(decodeBytes(path, "latin1"), "latin1")]
    .map((byte) => (/[A-Za-z0-9\-._~$&+,/:;=@]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : escapeByte(byte)))
    .join("");
}

function escapeByte(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

function decode(text: string): string | undefined {
  return wrongEscape(text) === undefined ? decodeBytes(text.replaceAll("+", " ")) : undefined;
}

function decodeBytes(text: string, encoding: BufferEncoding = "utf8"): string {
  const bytes = Buffer.from(text, "utf8").toString("latin1");
  return Buffer.from(
    bytes.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString(encoding);
}

/** In double quotes as Go's `%q`. */
export function goQuote(text: string): string {
  return JSON.stringify(text)
    .replaceAll("\u007f", String.raw`\x7f`)
    .replace(/\\u00([01][0-9a-f])/g, (_, hex: string) => ({ "07": "\\a", "0b": "\\v" })[hex] ?? `\\x${hex}`);
}

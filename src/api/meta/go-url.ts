/** URLs as Go's net/url reads them: what it accepts, and what it says of the rest. */

export interface GoUrl {
  readonly scheme: string;
  /** Text before `@`, undefined without one. */
  readonly user: string | undefined;
  /** With its port. */
  readonly host: string;
  readonly query: string;
  readonly fragment: string;
}

/** The parts of a URL, or Go's error text. */
export function parseGoUrl(text: string): { readonly url: GoUrl } | { readonly fault: string } {
  const fail = (reason: string) => ({ fault: `parse ${JSON.stringify(text)}: ${reason}` });
  const hash = text.indexOf("#");
  const fragment = hash < 0 ? "" : text.slice(hash + 1);
  const beforeFragment = hash < 0 ? text : text.slice(0, hash);
  // Control characters have no place in a URL.
  if (/[\u0000-\u001f\u007f]/.test(beforeFragment)) return fail("net/url: invalid control character in URL");
  if (beforeFragment.startsWith(":")) return fail("missing protocol scheme");
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(beforeFragment)?.[1] ?? "";
  const rest = scheme === "" ? beforeFragment : beforeFragment.slice(scheme.length + 1);
  const mark = rest.indexOf("?");
  const query = mark < 0 ? "" : rest.slice(mark + 1);
  const beforeQuery = mark < 0 ? rest : rest.slice(0, mark);
  if (scheme === "" && !beforeQuery.startsWith("/") && /^[^/]*:/.test(beforeQuery)) return fail("first path segment in URL cannot contain colon");
  const authority = /^\/\/([^/]*)/.exec(beforeQuery)?.[1] ?? "";
  const at = authority.lastIndexOf("@");
  const user = at < 0 ? undefined : authority.slice(0, at);
  const host = authority.slice(at + 1);
  const hostFault = faultOfHost(host) ?? faultOfEscapes(beforeQuery) ?? faultOfEscapes(fragment);
  if (user !== undefined && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return fail("net/url: invalid userinfo");
  return hostFault === undefined ? { url: { scheme: scheme.toLowerCase(), user, host, query, fragment } } : fail(hostFault);
}

function faultOfHost(host: string): string | undefined {
  if (host.startsWith("[") && !host.includes("]")) return "missing ']' in host";
  const colon = host.lastIndexOf(":");
  const hasPort = colon > host.lastIndexOf("]");
  if (hasPort && !/^:\d*$/.test(host.slice(colon))) return `invalid port ${JSON.stringify(host.slice(colon))} after host`;
  const illegal = /[ "<>\\^`{|}]/.exec(host)?.[0];
  return illegal === undefined ? undefined : `invalid character ${JSON.stringify(illegal)} in host name`;
}

function faultOfEscapes(text: string): string | undefined {
  const escape = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(text)?.[0];
  return escape === undefined ? undefined : `invalid URL escape ${JSON.stringify(escape)}`;
}

/** URLs. */
import { declare, memberOverload, overload } from "../check/declarations.ts";
import { boolType, closedStructType, listType, mapType, stringType } from "../check/types.ts";
import type { Library } from "../environment.ts";
import { ArrayList, CelError, mapOf, OpaqueValue } from "../eval/values.ts";
import type { Value } from "../eval/values.ts";
import { goQuote, parseQuery, parseRequestUri } from "./url-parser.ts";
import type { ParsedUrl } from "./url-parser.ts";

export const urlType = closedStructType("kubernetes.URL");

class UrlValue extends OpaqueValue {
  readonly url: ParsedUrl;
  constructor(url: ParsedUrl) {
    super();
    this.url = url;
  }
  override get typeName(): string {
    return urlType.name;
  }
  override equals(other: OpaqueValue): boolean {
    return other instanceof UrlValue && other.url.text === this.url.text;
  }
}

function accessor(name: string, part: (url: ParsedUrl) => string) {
  const id = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return declare(
    name,
    memberOverload(`url_${id}`, [urlType], stringType, (value) => part((value as UrlValue).url)),
  );
}

export const urlsLibrary: Library = {
  name: "urls",
  types: new Map([[urlType.name, urlType]]),
  functions: [
    declare("url", overload("string_to_url", [stringType], urlType, toUrl)),
    declare(
      "isURL",
      overload("is_url_string", [stringType], boolType, (text) => typeof parseRequestUri(text as string) !== "string"),
    ),
    accessor("getScheme", (url) => url.scheme),
    accessor("getHost", (url) => url.host),
    accessor("getHostname", (url) => url.hostname),
    accessor("getPort", (url) => url.port),
    accessor("getEscapedPath", (url) => url.escapedPath),
    declare("getQuery", memberOverload("url_get_query", [urlType], mapType(stringType, listType(stringType)), query)),
  ],
};

function toUrl(text: Value): Value {
  const whole = text as string;
  const request = parseRequestUri(whole);
  const hash = typeof request === "string" ? -1 : whole.indexOf("#");
  const url = hash < 0 ? request : withFragment(whole.slice(0, hash), whole, hash);
  return typeof url === "string" ? new CelError(`URL parse error during conversion from string: ${url}`) : new UrlValue(url);
}

/** A request has no fragment, so that `#` is part of what it is in; the value has none of it. */
function withFragment(beforeFragment: string, whole: string, hash: number): ParsedUrl | string {
  const wrong = /%(?![0-9A-Fa-f]{2})/.exec(whole.slice(hash + 1));
  if (wrong !== null) return `parse ${goQuote(whole)}: invalid URL escape ${goQuote(whole.slice(hash + 1 + wrong.index, hash + 4 + wrong.index))}`;
  const url = parseRequestUri(beforeFragment);
  return typeof url === "string" ? url : { ...url, text: url.text + whole.slice(hash) };
}

function query(value: Value): Value {
  return mapOf([...parseQuery((value as UrlValue).url.rawQuery)].map(([key, values]) => [key, new ArrayList(values)]));
}

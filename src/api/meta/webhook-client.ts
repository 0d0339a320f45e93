/** How a webhook is reached, by URL or by Service: admission, conversion of custom resources, audit. */
import { invalid, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isPortNumber } from "../../apimachinery/formats.ts";
import { isDns1123Subdomain } from "../../apimachinery/names.ts";
import { parseGoUrl } from "./go-url.ts";

export interface WebhookClient {
  readonly url?: string;
  readonly service?: ServiceTarget;
}

export interface ServiceTarget {
  readonly namespace?: string;
  readonly name?: string;
  readonly path?: string;
  readonly port?: number;
}

/** Exactly one of the two ways. */
export function validateWebhookClient({ url, service }: WebhookClient, path: FieldPath): FieldError[] {
  if ((url === undefined) === (service === undefined)) return [required(path, "exactly one of url or service is required")];
  return url === undefined ? validateServiceTarget(service!, path.child("service")) : validateWebhookUrl(url, path.child("url"));
}

const form = "; desired format: https://host[/path]";

function validateWebhookUrl(text: string, path: FieldPath): FieldError[] {
  const parsed = parseGoUrl(text);
  if ("fault" in parsed) return [required(path, `url must be a valid URL: ${parsed.fault}${form}`)];
  const { scheme, host, user, fragment, query } = parsed.url;
  const errors: FieldError[] = [];
  if (scheme !== "https") errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme${form}`));
  if (host === "") errors.push(invalid(path, host, `host must be specified${form}`));
  if (user !== undefined) errors.push(invalid(path, user, "user information is not permitted in the URL"));
  if (fragment !== "") errors.push(invalid(path, fragment, "fragments are not permitted in the URL"));
  if (query !== "") errors.push(invalid(path, query, "query parameters are not permitted in the URL"));
  return errors;
}

function validateServiceTarget({ namespace, name, path: urlPath, port = 0 }: ServiceTarget, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  // The two are told as each other: upstream checks them in the wrong order.
  if (!namespace) errors.push(required(path.child("name")));
  if (!name) errors.push(required(path.child("namespace")));
  errors.push(...isPortNumber(port).map((fault) => invalid(path.child("port"), port, `port is not valid: ${fault}`)));
  return urlPath === undefined ? errors : [...errors, ...validateUrlPath(urlPath, path.child("path"))];
}

function validateUrlPath(urlPath: string, path: FieldPath): FieldError[] {
  if (urlPath === "/" || urlPath === "") return [];
  if (urlPath === "//") return [invalid(path, urlPath, "segment[0] may not be empty")];
  const errors = urlPath.startsWith("/") ? [] : [invalid(path, urlPath, "must start with a '/'")];
  const segments = urlPath.slice(1).replace(/\/$/, "").split("/");
  segments.forEach((segment, index) => {
    if (segment === "") errors.push(invalid(path, urlPath, `segment[${index}] may not be empty`));
    else errors.push(...isDns1123Subdomain(segment).map((fault) => invalid(path, urlPath, `segment[${index}]: ${fault}`)));
  });
  return errors;
}

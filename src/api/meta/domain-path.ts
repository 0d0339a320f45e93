/** Names made of a domain and a path: `acme.io/foo`. */
import { invalid, invalidEach, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain, regexText } from "../../apimachinery/names.ts";

/** A domain, a slash and a path. */
export function validateDomainPath(value: string, path: FieldPath): FieldError[] {
  if (value === "") return [required(path)];
  const slash = value.indexOf("/");
  const domain = value.slice(0, Math.max(0, slash));
  const rest = value.slice(slash + 1);
  if (domain === "" || rest === "") return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const errors = invalidEach(path, domain, isDns1123Subdomain(domain));
  const legal = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
  if (!new RegExp(`^${legal}$`).test(rest)) errors.push(invalid(path, rest, regexText("Invalid path", legal)));
  return errors;
}

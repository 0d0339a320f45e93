/** Rules of the names in the API of dynamic resource allocation (KEP-4381). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { duplicate, invalid, invalidEach, required, tooLong, tooMany } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isCIdentifier } from "../../apimachinery/formats.ts";
import { byteLength, isDns1123Label, isDns1123Subdomain, maxLengthText, regexText } from "../../apimachinery/names.ts";

const maxDriverBytes = 63;
const maxPoolBytes = 253;
const maxDomainBytes = 63;
const maxIdentifierBytes = 32;

export function validateLabelText(name: string, path: FieldPath): FieldError[] {
  return invalidEach(path, name, isDns1123Label(name));
}

/** Name of the driver that publishes a slice. */
export function validateDriver(driver: string, path: FieldPath): FieldError[] {
  if (driver === "") return [required(path)];
  return [...(byteLength(driver) > maxDriverBytes ? [tooLong(path, maxDriverBytes)] : []), ...invalidEach(path, driver, isDns1123Subdomain(driver))];
}

/** Name of a driver where the declarative rules check it: letters of either case. */
export function validateDriverReference(driver: string, path: FieldPath): FieldError[] {
  if (driver === "") return [required(path)];
  if (byteLength(driver) > maxDriverBytes) return [tooLong(path, maxDriverBytes)];
  const rule = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  const expression = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
  const isLegal = isDns1123Subdomain(driver.toLowerCase()).length === 0;
  return isLegal ? [] : [invalid(path, driver, byteLength(driver) > 253 ? maxLengthText(253) : regexText(rule, expression, "Example.com"))];
}

/** One subdomain, or several with slashes between. */
export function validatePoolName(name: string, path: FieldPath): FieldError[] {
  if (name === "") return [required(path)];
  const errors = byteLength(name) > maxPoolBytes ? [tooLong(path, maxPoolBytes)] : [];
  return [...errors, ...name.split("/").flatMap((segment) => invalidEach(path, segment, isDns1123Subdomain(segment)))];
}

/** As `validatePoolName`, where the declarative rules check it. */
export function validatePoolReference(name: string, path: FieldPath): FieldError[] {
  if (name === "") return [required(path)];
  if (byteLength(name) > maxPoolBytes) return [tooLong(path, maxPoolBytes)];
  return name.split("/").flatMap((segment, index) => isDns1123Subdomain(segment).map((fault) => invalid(path, name, `segment ${index}: ${fault}`)));
}

/** Name of an attribute or a capacity: an identifier, in a domain or in that of the driver. */
export function validateQualifiedName(name: string, path: FieldPath): FieldError[] {
  if (name === "") return [required(path, "name required")];
  const slash = name.indexOf("/");
  if (slash < 0) return validateIdentifier(name, path);
  const domain = name.slice(0, slash);
  const identifier = name.slice(slash + 1);
  const errors: FieldError[] = [];
  if (domain === "") errors.push(invalid(path, "", "the domain must not be empty"));
  else if (byteLength(domain) > maxDomainBytes) errors.push(tooLong(path, maxDomainBytes));
  else errors.push(...isDns1123Subdomain(domain).map((fault) => invalid(path, domain, `prefix: ${fault}`)));
  if (identifier === "") errors.push(invalid(path, "", "the name must not be empty"));
  else errors.push(...validateIdentifier(identifier, path));
  return errors;
}

export function validateFullyQualifiedName(name: string, path: FieldPath): FieldError[] {
  const errors = validateQualifiedName(name, path);
  return name === "" || name.includes("/")
    ? errors
    : [...errors, invalid(path, name, "a fully qualified name must be a domain and a name separated by a slash")];
}

function validateIdentifier(name: string, path: FieldPath): FieldError[] {
  const errors = byteLength(name) > maxIdentifierBytes ? [tooLong(path, maxIdentifierBytes)] : [];
  return [...errors, ...invalidEach(path, name, isCIdentifier(name))];
}

/** At most `max` items, each by its rule. */
export function validateItems<T>(
  items: readonly T[] | undefined,
  max: number,
  rule: (item: T, path: FieldPath) => FieldError[],
  path: FieldPath,
): FieldError[] {
  const list = items ?? [];
  return [...(list.length > max ? [tooMany(path, list.length, max)] : []), ...list.flatMap((item, index) => rule(item, path.index(index)))];
}

/** A fault for each item whose key an earlier one has; `shown` is what its text prints. */
export function validateUnique<T>(
  items: readonly T[] | undefined,
  key: (item: T) => string,
  path: FieldPath,
  shown: (item: T) => unknown = (item) => item,
): FieldError[] {
  const seen = new Set<string>();
  return (items ?? []).flatMap((item, index) => {
    const isRepeated = seen.has(key(item));
    seen.add(key(item));
    return isRepeated ? [duplicate(path.index(index), shown(item))] : [];
  });
}

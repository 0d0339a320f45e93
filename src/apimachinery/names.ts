/**
 * Rules for names, labels and the like (documentation page "Object Names and IDs"). Each returns the faults as texts, none when fine.
 */

/** Faults of a name; with `isPrefix` the name is a `generateName`, to which letters will be added. */
export type NameRule = (name: string, isPrefix?: boolean) => string[];

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const dns1123Label = new RegExp(`^${label}$`);
const dns1123Subdomain = new RegExp(`^${label}(\\.${label})*$`);
const dns1035Label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const pathSegmentForbidden = ["/", "%"] as const;

/** UTF-8 length, as Go's `len`. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

export function maxLengthText(max: number): string {
  return `must be no more than ${max} ${max === 1 ? "byte" : "bytes"}`;
}

/** Text of a fault found by a regular expression: the rule, examples, the expression itself. */
export function regexText(message: string, expression: string, ...examples: string[]): string {
  const shown = examples.map((example) => `'${example}'`).join(" or ");
  return examples.length === 0 ? `${message} (regex used for validation is '${expression}')` : `${message} (e.g. ${shown.replaceAll(" or ", ", or ").replace(/^, or /, "")}, regex used for validation is '${expression}')`;
}

/** RFC 1123 label, at most 63 bytes. */
export function isDns1123Label(value: string): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 63) faults.push(maxLengthText(63));
  if (!dns1123Label.test(value)) {
    faults.push(
      dns1123Subdomain.test(value)
        ? "must not contain dots"
        : regexText("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character", label, "my-name", "123-abc"),
    );
  }
  return faults;
}

/** RFC 1123 subdomain, at most 253 bytes. */
export function isDns1123Subdomain(value: string): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 253) faults.push(maxLengthText(253));
  if (!dns1123Subdomain.test(value)) {
    faults.push(regexText("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character", `${label}(\\.${label})*`, "example.com"));
  }
  return faults;
}

/** RFC 1035 label, at most 63 bytes. */
export function isDns1035Label(value: string): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 63) faults.push(maxLengthText(63));
  if (!dns1035Label.test(value)) {
    faults.push(regexText("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character", "[a-z]([-a-z0-9]*[a-z0-9])?", "my-name", "abc-123"));
  }
  return faults;
}

/** `prefix/name` or `name`: keys of labels, annotations, taints, finalizers. */
export function isQualifiedName(value: string): string[] {
  const faults: string[] = [];
  const parts = value.split("/");
  let name = parts[0]!;
  if (parts.length === 2) {
    const prefix = parts[0]!;
    name = parts[1]!;
    if (prefix === "") faults.push("prefix part must be non-empty");
    else faults.push(...isDns1123Subdomain(prefix).map((fault) => `prefix part ${fault}`));
  } else if (parts.length > 2) {
    return [regexText("a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character", "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", "MyName", "my.name", "123-abc") + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"];
  }
  if (name === "") faults.push("name part must be non-empty");
  else if (byteLength(name) > 63) faults.push(`name part ${maxLengthText(63)}`);
  if (!qualifiedName.test(name)) {
    faults.push(`name part ${regexText("must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character", "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", "MyName", "my.name", "123-abc")}`);
  }
  return faults;
}

export function isLabelValue(value: string): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 63) faults.push(maxLengthText(63));
  if (!labelValue.test(value)) {
    faults.push(regexText("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character", "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", "MyValue", "my_value", "12345"));
  }
  return faults;
}

/** A name that stands as one segment of a URL path: RBAC names and the like. */
export const pathSegmentName: NameRule = (name, isPrefix = false) => {
  if (!isPrefix && name === ".") return ["may not be '.'"];
  if (!isPrefix && name === "..") return ["may not be '..'"];
  return pathSegmentForbidden.filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

/** A `generateName` may end where letters will follow: a trailing dash is masked. */
const masked = (name: string) => (name.length > 1 && name.endsWith("-") ? `${name.slice(0, -1)}a` : name);
const named = (rule: (value: string) => string[]): NameRule => (name, isPrefix = false) => rule(isPrefix ? masked(name) : name);

export const subdomainName: NameRule = named(isDns1123Subdomain);
export const labelName: NameRule = named(isDns1123Label);
export const dns1035Name: NameRule = named(isDns1035Label);

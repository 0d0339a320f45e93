/**
 * Rules for names, labels and the like (documentation page "Object Names and IDs"). Each returns the faults as texts, none when fine.
 */

/** Faults of a name; with `isPrefix` the name is a `generateName`, to which letters will be added. */
export type NameRule = (name: string, isPrefix?: boolean) => string[];

/** Names are counted in what texts call characters, label keys and values in bytes; both are UTF-8 bytes. */
export type LengthUnit = "bytes" | "characters";

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(\\.${label})*`;
const qualified = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const labelRule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const qualifiedRule = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const whole = (expression: string) => new RegExp(`^(?:${expression})$(?!\\n)`);
const patterns = {
  label: whole(label),
  subdomain: whole(subdomain),
  subdomainUnderscore: whole("[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*"),
  wildcard: whole(`\\*\\.${subdomain}`),
  dns1035: whole("[a-z]([-a-z0-9]*[a-z0-9])?"),
  qualified: whole(qualified),
  labelValue: whole(`(${qualified})?`),
};

/** UTF-8 length, as Go's `len`. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

export function maxLengthText(max: number, unit: LengthUnit = "characters"): string {
  return `must be no more than ${max} ${max === 1 ? unit.slice(0, -1) : unit}`;
}

/** Text of a fault found by a regular expression: the rule, examples, the expression itself. */
export function regexText(message: string, expression: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${expression}')`;
  const shown = examples.map((example) => `'${example}', `).join(" or ");
  return `${message} (e.g. ${shown}regex used for validation is '${expression}')`;
}

/** `must be between 1 and 65535, inclusive`. */
export function rangeText(first: number, last: number): string {
  return `must be between ${first} and ${last}, inclusive`;
}

/** RFC 1123 label, at most 63 bytes. */
export function isDns1123Label(value: string, unit: LengthUnit = "characters"): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 63) faults.push(maxLengthText(63, unit));
  if (!patterns.label.test(value)) faults.push(patterns.subdomain.test(value) ? "must not contain dots" : regexText(labelRule, label, "my-name", "123-abc"));
  return faults;
}

/** RFC 1123 subdomain, at most 253 bytes. */
export function isDns1123Subdomain(value: string, unit: LengthUnit = "characters"): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 253) faults.push(maxLengthText(253, unit));
  if (!patterns.subdomain.test(value)) faults.push(regexText(subdomainRule, subdomain, "example.com"));
  return faults;
}

/** RFC 1123 subdomain in which underscores are legal, at most 253 bytes. */
export function isDns1123SubdomainWithUnderscore(value: string): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 253) faults.push(maxLengthText(253));
  if (!patterns.subdomainUnderscore.test(value)) {
    faults.push(
      regexText(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
        "[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*",
        "example.com",
      ),
    );
  }
  return faults;
}

/** `*.` and an RFC 1123 subdomain, at most 253 bytes. */
export function isWildcardDns1123Subdomain(value: string): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 253) faults.push(maxLengthText(253));
  if (!patterns.wildcard.test(value)) {
    faults.push(
      regexText(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
        `\\*\\.${subdomain}`,
        "*.example.com",
      ),
    );
  }
  return faults;
}

/** RFC 1035 label, at most 63 bytes. */
export function isDns1035Label(value: string): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 63) faults.push(maxLengthText(63));
  if (!patterns.dns1035.test(value)) {
    faults.push(
      regexText(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        "[a-z]([-a-z0-9]*[a-z0-9])?",
        "my-name",
        "abc-123",
      ),
    );
  }
  return faults;
}

/** `prefix/name` or `name`: keys of labels, annotations, taints, finalizers. */
export function isQualifiedName(value: string): string[] {
  const faults: string[] = [];
  const parts = value.split("/");
  if (parts.length > 2)
    return [
      `a valid label key ${regexText(qualifiedRule, qualified, "MyName", "my.name", "123-abc")} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = parts.at(-1)!;
  if (parts.length === 2) {
    if (parts[0] === "") faults.push("prefix part must be non-empty");
    else faults.push(...isDns1123Subdomain(parts[0]!, "bytes").map((fault) => `prefix part ${fault}`));
  }
  if (name === "") faults.push("name part must be non-empty");
  else if (byteLength(name) > 63) faults.push(`name part ${maxLengthText(63, "bytes")}`);
  if (!patterns.qualified.test(name)) faults.push(`name part ${regexText(qualifiedRule, qualified, "MyName", "my.name", "123-abc")}`);
  return faults;
}

export function isLabelValue(value: string): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 63) faults.push(maxLengthText(63, "bytes"));
  if (!patterns.labelValue.test(value)) {
    faults.push(
      regexText(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        `(${qualified})?`,
        "MyValue",
        "my_value",
        "12345",
      ),
    );
  }
  return faults;
}

/** A fully qualified name, such as `example.com/name` without its path: at least two labels. */
export function isFullyQualifiedName(value: string): string[] {
  if (value === "") return ["name must be non-empty"];
  const faults = isDns1123Subdomain(value);
  if (faults.length > 0) return faults;
  return value.split(".").length < 3 ? ["should be a domain with at least three segments separated by dots"] : [];
}

/** A fully qualified domain name, with or without a final dot: at least two labels. */
export function isFullyQualifiedDomainName(value: string): string[] {
  if (value === "") return ["name must be non-empty"];
  const name = value.endsWith(".") ? value.slice(0, -1) : value;
  const faults = isDns1123Subdomain(name);
  if (faults.length > 0) return faults;
  const labels = name.split(".");
  if (labels.length < 2) return ["should be a domain with at least two segments separated by dots"];
  return labels.flatMap((part) => isDns1123Label(part));
}

/** A name that stands as one segment of a URL path: RBAC names and the like. */
export const pathSegmentName: NameRule = (name, isPrefix = false) => {
  if (!isPrefix && (name === "." || name === "..")) return [`may not be '${name}'`];
  return ["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

/** A `generateName` may end where letters will follow: a trailing dash and the letter before it count as one letter. */
const masked = (name: string) => (name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name);
const named =
  (rule: (value: string, unit: LengthUnit) => string[], unit: LengthUnit = "characters"): NameRule =>
  (name, isPrefix = false) =>
    rule(isPrefix ? masked(name) : name, unit);

export const subdomainName: NameRule = named(isDns1123Subdomain);
export const labelName: NameRule = named(isDns1123Label);
export const dns1035Name: NameRule = named(isDns1035Label);
/** As `subdomainName`, for kinds whose name the declarative rules check: their texts count bytes. */
export const longName: NameRule = named(isDns1123Subdomain, "bytes");

/** Formats of strings that custom resources may ask for (documentation page "CustomResourceDefinitions: Validation"). */
import { isDns1123Label, isDns1123Subdomain } from "../../names.ts";
import { parseCidr, parseIp } from "../../net.ts";
import { TimeError, parseInstant } from "../../time.ts";

/** Whether `value` has the format; formats that are not known accept everything. */
export function hasFormat(value: string, format: string): boolean {
  // OpenAPI's names come with or without dashes.
  const check = checks[format.replaceAll("-", "")];
  return check === undefined || check(value);
}

export function isKnownFormat(format: string): boolean {
  return Object.hasOwn(checks, format.replaceAll("-", ""));
}

const checks: Readonly<Record<string, (value: string) => boolean>> = {
  bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
  uri: isUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: (value) => !value.includes(":") && parseIp(value, true) !== undefined,
  ipv6: (value) => value.includes(":") && parseIp(value, true) !== undefined,
  cidr: (value) => parseCidr(value, true) !== undefined,
  mac: isMac,
  uuid: uuid("[0-9a-f]", "[0-9a-f]"),
  uuid3: uuid("3", "[0-9a-f]"),
  uuid4: uuid("4", "[89ab]"),
  uuid5: uuid("5", "[89ab]"),
  isbn: (value) => isIsbn10(value) || isIsbn13(value),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: isRgbColor,
  byte: matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (value) => isDns1123Label(value).length === 0,
  k8slongname: (value) => isDns1123Subdomain(value).length === 0,
};

function matches(expression: RegExp): (value: string) => boolean {
  return (value) => expression.test(value);
}

function uuid(version: string, variant: string): (value: string) => boolean {
  const dash = "-?";
  return matches(new RegExp(`^[0-9a-f]{8}${dash}[0-9a-f]{4}${dash}${version}[0-9a-f]{3}${dash}${variant}[0-9a-f]{3}${dash}[0-9a-f]{12}$`, "i"));
}

/** An absolute URI or a path that starts with a slash, as a request line takes it. */
function isUri(value: string): boolean {
  if (value === "" || /[\u0000-\u0020\u007f]/.test(value)) return false;
  if (/%(?![0-9a-fA-F]{2})/.test(value.split("?")[0]!)) return false;
  return value.startsWith("/") || (/^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(value) && !/^[a-zA-Z][a-zA-Z0-9+.-]*:$/.test(value));
}

/** An address of RFC 5322 with or without a display name: local part and domain of atoms, or a quoted local part. */
function isEmail(value: string): boolean {
  const address = /^[^<>]*<([^<>]*)>\s*$/.exec(value)?.[1] ?? value.trim();
  const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\uffff-]+";
  return new RegExp(`^(?:${atom}(?:\\.${atom})*|"(?:[^"\\\\]|\\\\.)*")@(?:${atom}(?:\\.${atom})*|\\[[^\\]]*\\])$`).test(address);
}

function isHostname(value: string): boolean {
  if (value.length === 0 || value.length > 253) return false;
  const name = value.endsWith(".") ? value.slice(0, -1) : value;
  return name
    .split(".")
    .every((part) => part.length > 0 && part.length <= 63 && /^[a-zA-Z0-9\u00a1-\uffff](?:[a-zA-Z0-9\u00a1-\uffff-]*[a-zA-Z0-9\u00a1-\uffff])?$/.test(part));
}

/** 6, 8 or 20 bytes in pairs with colons or dashes, or in fours with dots. */
function isMac(value: string): boolean {
  const groups = /^([0-9a-fA-F]{2})(?:([:-])[0-9a-fA-F]{2}(?:\2[0-9a-fA-F]{2})*)$/.test(value)
    ? (value.length + 1) / 3
    : /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+$/.test(value)
      ? ((value.length + 1) / 5) * 2
      : 0;
  return groups === 6 || groups === 8 || groups === 20;
}

function isIsbn10(value: string): boolean {
  const digits = value.replace(/[\s-]+/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, index) => sum + (10 - index) * (digit === "X" ? 10 : Number(digit)), 0) % 11 === 0;
}

function isIsbn13(value: string): boolean {
  const digits = value.replace(/[\s-]+/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, index) => sum + (index % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0;
}

/** A number of one of the great issuers whose check digit is right. */
function isCreditCard(value: string): boolean {
  const digits = value.replace(/[^0-9]+/g, "");
  if (
    !/^(?:4\d{12}(?:\d{3,6})?|5[1-5]\d{14}|(222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11}|6[27]\d{14})$/.test(
      digits,
    )
  )
    return false;
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = index % 2 === 0 ? Number(digit) : Number(digit) * 2;
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

function isRgbColor(value: string): boolean {
  const byte = "(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])";
  return new RegExp(`^rgb\\(\\s*${byte}\\s*,\\s*${byte}\\s*,\\s*${byte}\\s*\\)$`).test(value);
}

function isDate(value: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(value) && isInstant(`${value}T00:00:00Z`);
}

function isDateTime(value: string): boolean {
  const match = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.exec(value);
  return match !== null && isInstant(`${match[1]}T${match[2]}Z`);
}

function isInstant(text: string): boolean {
  try {
    parseInstant(text, "time");
    return true;
  } catch (error) {
    if (error instanceof TimeError) return false;
    throw error;
  }
}

/** Go's form (`1h30m`), or a number and a unit in words (`3 days`), somewhere in the text. */
function isDuration(value: string): boolean {
  if (/^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(value)) return true;
  const match = /(?:\d+)\s*([A-Za-zµ]+)?/.exec(value);
  return match !== null && match[1] !== undefined && durationUnits.test(match[1]);
}

const durationUnits =
  /^(?:ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)$/i;

/** Rules for texts that are neither names nor labels: ports, keys, variables, headers. Each returns the faults as texts. */
import { byteLength, maxLengthText, rangeText, regexText } from "./names.ts";

/** IANA service name, as container ports are called: at most 15 characters, at least one letter. */
export function isPortName(value: string): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 15) faults.push(maxLengthText(15));
  if (!/^[-a-z0-9]+$/.test(value)) faults.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(value)) faults.push("must contain at least one letter (a-z)");
  if (value.includes("--")) faults.push("must not contain consecutive hyphens");
  if (value.startsWith("-") || value.endsWith("-")) faults.push("must not begin or end with a hyphen");
  return faults;
}

export function isPortNumber(value: number): string[] {
  return value >= 1 && value <= 65535 ? [] : [rangeText(1, 65535)];
}

/** A port by number or by name. */
export function isPort(value: number | string): string[] {
  return typeof value === "number" ? isPortNumber(value) : isPortName(value);
}

/** Key of a ConfigMap or Secret. */
export function isConfigMapKey(value: string): string[] {
  const faults: string[] = [];
  if (byteLength(value) > 253) faults.push(maxLengthText(253));
  if (!/^[-._a-zA-Z0-9]+$/.test(value))
    faults.push(
      regexText("a valid config key must consist of alphanumeric characters, '-', '_' or '.'", "[-._a-zA-Z0-9]+", "key.name", "KEY_NAME", "key-name"),
    );
  if (value === ".") faults.push("must not be '.'");
  else if (value === "..") faults.push("must not be '..'");
  else if (value.startsWith("..")) faults.push("must not start with '..'");
  return faults;
}

/** Name of an environment variable: printable ASCII but `=`. */
export function isEnvVarName(value: string): string[] {
  return value !== "" && /^[ -<>-~]+$/.test(value) ? [] : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

export function isHttpHeaderName(value: string): string[] {
  return /^[-A-Za-z0-9]+$/.test(value)
    ? []
    : [regexText("a valid HTTP header must consist of alphanumeric characters or '-'", "[-A-Za-z0-9]+", "X-Header-Name")];
}

/** Identifier of a variable in C. */
export function isCIdentifier(value: string): string[] {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(value)
    ? []
    : [
        regexText(
          "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
          "[A-Za-z_][A-Za-z0-9_]*",
          "my_name",
          "MY_NAME",
          "MyName",
        ),
      ];
}

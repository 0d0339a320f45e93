import assert from "node:assert/strict";
import { test } from "node:test";
import { isConfigMapKey, isEnvVarName, isHttpHeaderName, isPort, isPortName } from "./formats.ts";
import {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  longName,
  pathSegmentName,
  regexText,
  subdomainName,
} from "./names.ts";

const long = (length: number) => "a".repeat(length);

test("names and labels", () => {
  const table: [rule: (value: string) => string[], value: string, faults: RegExp[]][] = [
    [isDns1123Label, "a-1", []],
    [isDns1123Label, "a.b", [/^must not contain dots$/]],
    [isDns1123Label, long(64), [/^must be no more than 63 characters$/]],
    [isDns1123Label, "A", [/\(e\.g\. 'my-name', {2}or '123-abc', regex used for validation is '\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?'\)$/]],
    [isDns1123Label, "a\n", [/^a lowercase RFC 1123 label/]],
    [isDns1123Subdomain, "a.b", []],
    [isDns1123Subdomain, "a..b", [/^a lowercase RFC 1123 subdomain .* \(e\.g\. 'example\.com', regex/]],
    [isDns1035Label, "1a", [/^a DNS-1035 label/]],
    [isQualifiedName, "example.com/My_Name", []],
    [isQualifiedName, "", [/^name part must be non-empty$/, /^name part must consist of/]],
    [isQualifiedName, "/a", [/^prefix part must be non-empty$/]],
    [isQualifiedName, "a/b/c", [/^a valid label key must consist of .* \(e\.g\. 'example\.com\/MyName'\)$/]],
    [isQualifiedName, `${long(254)}/a`, [/^prefix part must be no more than 253 bytes$/]],
    [isQualifiedName, long(64), [/^name part must be no more than 63 bytes$/]],
    [isLabelValue, "", []],
    [isLabelValue, "-", [/^a valid label must be an empty string/]],
    [subdomainName, long(254), [/^must be no more than 253 characters$/]],
    [longName, long(254), [/^must be no more than 253 bytes$/]],
    [pathSegmentName, "a/%", [/^may not contain '\/'$/, /^may not contain '%'$/]],
    [pathSegmentName, "..", [/^may not be '\.\.'$/]],
  ];
  for (const [rule, value, faults] of table) assertFaults(rule(value), faults, value);
});

test("a prefix may end where letters will follow", () => {
  assert.deepEqual(subdomainName("web-", true), []);
  assert.deepEqual(subdomainName("G-", true), []);
  assert.equal(subdomainName("web_", true).length, 1);
  assert.deepEqual(pathSegmentName(".", true), []);
});

test("formats of other texts", () => {
  const table: [faults: string[], expected: RegExp[]][] = [
    [isPortName("http"), []],
    [isPortName("80"), [/at least one letter/]],
    [isPortName("-A"), [/only alpha-numeric/, /at least one letter/, /begin or end with a hyphen/]],
    [isPortName("a--b"), [/consecutive hyphens/]],
    [isPort(0), [/^must be between 1 and 65535, inclusive$/]],
    [isConfigMapKey(".."), [/^must not be '\.\.'$/]],
    [isConfigMapKey("..a"), [/^must not start with '\.\.'$/]],
    [isConfigMapKey("a b"), [/^a valid config key/]],
    [isEnvVarName("1 a"), []],
    [isEnvVarName("a=b"), [/printable ASCII characters other than '='/]],
    [isHttpHeaderName("a b"), [/^a valid HTTP header/]],
  ];
  for (const [faults, expected] of table) assertFaults(faults, expected);
  assert.equal(regexText("rule", "x+"), "rule (regex used for validation is 'x+')");
});

function assertFaults(faults: readonly string[], expected: readonly RegExp[], about = ""): void {
  assert.equal(faults.length, expected.length, `${about}: ${faults.join("; ")}`);
  faults.forEach((fault, index) => assert.match(fault, expected[index]!));
}

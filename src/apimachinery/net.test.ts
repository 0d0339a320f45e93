import assert from "node:assert/strict";
import { isIP } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { fieldErrorText } from "./field-error.ts";
import type { FieldError } from "./field-error.ts";
import { FieldPath } from "./field-path.ts";
import {
  cidrContains,
  cidrContainsCidr,
  cidrText,
  cidrWarnings,
  ipText,
  ipWarnings,
  parseCidr,
  parseIp,
  validateCanonicalIp,
  validateCidr,
  validateIp,
  validateNonSpecialIp,
} from "./net.ts";

const path = FieldPath.root("ip");

test("canonical texts", () => {
  const table: [text: string, canonical: string | undefined][] = [
    ["10.0.0.1", "10.0.0.1"],
    ["10.0.0.256", undefined],
    ["01.2.3.4", undefined],
    ["FD00::1", "fd00::1"],
    ["fd00:0:0::1", "fd00::1"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["64:ff9b::1.2.3.4", "64:ff9b::102:304"],
    ["fe80::1%eth0", undefined],
    ["", undefined],
  ];
  for (const [text, canonical] of table) {
    const address = parseIp(text);
    assert.equal(address === undefined ? undefined : ipText(address), canonical, text);
  }
});

test("a canonical text reads as the address it was made of", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (bits) => {
      const text = ipText({ family: "IPv6", bits });
      assert.equal(isIP(text), 6);
      if (bits >> 32n !== 0xffffn) assert.equal(parseIp(text)!.bits, bits);
    }),
  );
});

test("ranges", () => {
  const cidr = parseCidr("10.1.2.3/8")!;
  assert.equal(cidrText(cidr), "10.0.0.0/8");
  assert.ok(cidrContains(cidr, parseIp("10.255.0.1")!));
  assert.ok(!cidrContains(cidr, parseIp("11.0.0.0")!));
  assert.ok(!cidrContains(parseCidr("::/0")!, parseIp("1.2.3.4")!));
  assert.ok(cidrContainsCidr(cidr, parseCidr("10.9.0.0/16")!));
  for (const text of ["10.0.0.0/33", "10.0.0.0", "10.0.0.0/", "10.0.0.0/+8", "x/8"]) assert.equal(parseCidr(text), undefined, text);
});

test("faults", () => {
  const table: [errors: FieldError[], texts: string[]][] = [
    [validateIp("1.2.3.4", path), []],
    [validateIp("bad", path), ['ip: Invalid value: "bad": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    [validateIp("01.2.3.4", path), ['ip: Invalid value: "01.2.3.4": must not have leading 0s']],
    [validateIp("::ffff:1.2.3.4", path), ['ip: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address']],
    [validateCanonicalIp("FD00::1", path), ['ip: Invalid value: "FD00::1": must be in canonical form ("fd00::1")']],
    [validateCidr("1.2.3.0/24", path), []],
    [validateCidr("1.2.3.4/24", path), ['ip: Invalid value: "1.2.3.4/24": must not have bits set beyond the prefix length']],
    [validateCidr("bad", path), ['ip: Invalid value: "bad": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
    [validateNonSpecialIp("0.0.0.0", path), ['ip: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)']],
    [validateNonSpecialIp("::1", path), ['ip: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)']],
    [validateNonSpecialIp("fe80::1", path), ['ip: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)']],
  ];
  for (const [errors, texts] of table) assert.deepEqual(errors.map(fieldErrorText), texts);
});

test("warnings", () => {
  assert.deepEqual(ipWarnings("1.2.3.4", path), []);
  assert.deepEqual(ipWarnings("2001:DB8::9", path), ['ip: IPv6 address "2001:DB8::9" should be in RFC 5952 canonical format ("2001:db8::9")']);
  assert.deepEqual(cidrWarnings("1.2.3.4/24", path), ['ip: CIDR value "1.2.3.4/24" is ambiguous in this context (should be "1.2.3.0/24" or "1.2.3.4/32"?)']);
});

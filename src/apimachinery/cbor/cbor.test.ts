import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { typeRegistry } from "../../api/registry.ts";
import { decodeUntyped } from "../decode/decode-object.ts";
import { rawNumber } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { encodeCbor, encodeCborItem, encodeCborListHead } from "./write-cbor.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const read = (bytes: Uint8Array) => decodeUntyped(bytes, { mediaType: "cbor" }).value;

const readable: [name: string, bytes: string, value: JsonValue][] = [
  ["text as text and as bytes, with and without the tag of CBOR", "a2 63666f6f 01 43626172 f6", { foo: 1, bar: null }],
  ["the tag of CBOR", "d9d9f7 a1 41 61 f5", { a: true }],
  ["lengths that are not told", "bf 61 61 9f 01 02 ff 61 62 bf ff ff", { a: [1, 2], b: {} }],
  ["bytes that become base64", "a1 61 61 d6 42 0102", { a: "AQI=" }],
  ["bytes that become base64url and hexadecimal", "82 d5 42 fbff d7 42 fbff", ["-_8", "fbff"]],
  [
    "a float and integers of 64 bits",
    "83 fb 3ff8000000000000 1b 7fffffffffffffff 3b 7fffffffffffffff",
    [1.5, rawNumber("9223372036854775807"), rawNumber("-9223372036854775808")],
  ],
  ["a whole float, which stays one", "82 f93c00 01", [rawNumber("1.0"), 1]],
  ["a name that JavaScript has plans for", "a1 69 5f5f70726f746f5f5f 01", JSON.parse('{"__proto__":1}') as JsonValue],
];
for (const [name, bytes, value] of readable) test(`CBOR is read: ${name}`, () => equal(JSON.stringify(read(hex(bytes))), JSON.stringify(value)));

const refused: [name: string, bytes: string, message: RegExp][] = [
  ["nothing", "", /^cbor: EOF$/],
  ["a map that is cut off", "a1 61 61", /^cbor: unexpected EOF$/],
  ["a text that is cut off", "7b 7d", /^cbor: /],
  ["what follows a document", "a0 00", /^cbor: 1 bytes of extraneous data starting at index 1$/],
  ["a doubled key", "a2 61 61 01 41 61 02", /^cbor: found duplicate map key "a" at map element index 1$/],
  ["a key that is no text", "a1 01 02", /^cbor: a map's key is no string$/],
  ["a key without its value", "bf 61 61 ff", /^cbor: unexpected "break" code$/],
  ["a break in a map whose length was told", "a2 61 61 01 ff", /^cbor: unexpected "break" code$/],
  ["an integer beyond 64 bits", "1b 8000000000000000", /^cbor: 9223372036854775808 does not fit into 64 bits$/],
  ["a big number", "c2 41 01", /^cbor: cannot use CBOR bignum$/],
  ["not a number", "f97e00", /^cbor: /],
  ["bytes that are no UTF-8", "41 ff", /^cbor: /],
  ["levels without end", `${"81".repeat(100_000)}00`, /^cbor: exceeded max nested level 64$/],
  ["items without end that are not there", "9b 7fffffffffffffff", /^cbor: /],
];
for (const [name, bytes, message] of refused)
  test(`CBOR is refused: ${name}`, () => throws(() => read(hex(bytes)), { name: "DecodeError", reason: "syntax", message }));

test("CBOR is written: text as bytes, bytes under their tag, numbers as short as they can be", () => {
  const secret = typeRegistry.kind("", "v1", "Secret")!;
  deepEqual(encodeCbor({ a: [1, -1, 1.5, null, true, rawNumber("1.0")] }, undefined), hex("d9d9f7 a1 4161 86 01 20 f93e00 f6 f5 f93c00"));
  deepEqual(encodeCbor({ data: { k: "AQI=" } }, secret), hex("d9d9f7 a1 4464617461 a1 416b d6 420102"));
  deepEqual(encodeCbor({ a: rawNumber("9223372036854775807") }, undefined), hex("d9d9f7 a1 4161 1b7fffffffffffffff"));
});

test("CBOR is written: a list in pieces is the list as a whole", () => {
  const schema = typeRegistry.kind("", "v1", "SecretList")!;
  const items: JsonObject[] = [{ data: { k: "AQI=" } }, { metadata: { name: "b" } }];
  const head = { kind: "SecretList", apiVersion: "v1", metadata: { resourceVersion: "7" } };
  const itemSchema = typeRegistry.kind("", "v1", "Secret")!;
  const pieces = Buffer.concat([encodeCborListHead(head, schema, { member: "items", count: 2 }), ...items.map((item) => encodeCborItem(item, itemSchema))]);
  deepEqual(pieces, encodeCbor({ ...head, items }, schema));
});

test("CBOR is written: nesting beyond the stack", () => {
  let object: JsonObject = {};
  for (let level = 0; level < 9_000; level++) object = { a: object };
  equal(encodeCbor(object, undefined).length, 3 + 9_000 * 3 + 1);
});

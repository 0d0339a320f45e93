import assert from "node:assert/strict";
import { test } from "node:test";
import { Wire } from "./wire.ts";
import type { MessageTables } from "./wire.ts";

const tables: MessageTables = {
  enums: { Colour: { RED: 0, BLUE: 1 } },
  messages: {
    Inner: [["text", 1, "string"]],
    Outer: [
      ["text", 1, "string"], ["count", 2, "int64"], ["flag", 3, "bool"], ["colour", 4, "Colour"], ["inner", 5, "Inner"],
      ["list", 6, "string", "repeated"], ["numbers", 7, "int64", "repeated"], ["map", 8, "map<string,string>"], ["bytes", 9, "bytes"],
      ["ratio", 10, "double"], ["inners", 11, "Inner", "repeated"], ["colours", 12, "Colour", "repeated"],
    ],
    Newer: [["text", 1, "string"], ["unknown", 20, "string"], ["alsoUnknown", 21, "int64"]],
  },
};
const wire = new Wire(tables);
const empty = { text: "", count: 0, flag: false, colour: "RED", list: [], numbers: [], map: {}, bytes: Buffer.alloc(0), ratio: 0, inners: [], colours: [] };

const cases: [name: string, value: Record<string, unknown>, hex: string][] = [
  ["nothing", {}, ""],
  ["defaults are not sent", { text: "", count: 0, flag: false, colour: "RED" }, ""],
  ["a string", { text: "hé" }, "0a0368c3a9"],
  ["a number", { count: 300 }, "10ac02"],
  ["a negative number", { count: -1 }, "10ffffffffffffffffff01"],
  ["a number over 32 bits", { count: 2 ** 40 }, "10808080808020"],
  ["a flag and an enum", { flag: true, colour: "BLUE" }, "18012001"],
  ["an empty message is there", { inner: { text: "" } }, "2a00"],
  ["lists", { list: ["a", ""], numbers: [1, 300] }, "32016132003801" + "38ac02"],
  ["a map", { map: { a: "b" } }, "42060a0161120162"],
  ["bytes and a double", { bytes: Buffer.from("x"), ratio: 1.5 }, "4a017851000000000000f83f"],
  ["messages and enums repeated", { inners: [{ text: "a" }, { text: "" }], colours: ["RED", "BLUE"] }, "5a030a01615a006000" + "6001"],
];
for (const [name, value, hex] of cases) {
  test(`wire: ${name}`, () => {
    assert.equal(wire.encode("Outer", value).toString("hex"), hex);
    assert.deepEqual(wire.decode("Outer", Buffer.from(hex, "hex")), { ...empty, ...value });
  });
}

test("wire: packed lists, unknown fields, cut messages", () => {
  assert.deepEqual(wire.decode("Outer", Buffer.from("3a0301ac02", "hex"))["numbers"], [1, 300]);
  assert.deepEqual(wire.decode("Inner", wire.encode("Newer", { text: "a", unknown: "b", alsoUnknown: 5 })), { text: "a" });
  assert.throws(() => wire.decode("Inner", Buffer.from("0a05", "hex")), RangeError);
});

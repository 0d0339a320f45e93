import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageCodec } from "./messages.ts";

const codec = new MessageCodec({
  messages: {
    "p.Value": [["text", 1, "string"]],
    "p.Request": [
      ["id", 1, "string"],
      ["size", 2, "int64"],
      ["numbers", 3, "int32", "repeated"],
      ["values", 4, "Value", "repeated"],
      ["labels", 5, "map<string,string>"],
      ["mode", 6, "Mode"],
      ["body", 7, "bytes"],
      ["ratio", 8, "double"],
      ["version", 9, "int64", "oneof:target"],
      ["inner", 10, "Value"],
      ["isOn", 11, "bool"],
    ],
  },
  enums: { "p.Request.Mode": { OFF: 0, ON: 1 } },
});
const zero = { id: "", size: 0, numbers: [], values: [], labels: {}, mode: "OFF", body: new Uint8Array(0), ratio: 0, isOn: false };

test("round trips", () => {
  const rows: [value: Record<string, unknown>, hex: string, decoded?: Record<string, unknown>][] = [
    [{}, ""],
    [{ id: "a", size: 3, isOn: true }, "0a016110035801"],
    [{ size: 2n ** 60n }, "10808080808080808010"],
    [{ size: -1 }, "10ffffffffffffffffff01"],
    [{ numbers: [1, 300] }, "1a0301ac02"],
    [{ values: [{ text: "x" }, { text: "" }] }, "22030a01782200"],
    [{ labels: { b: "2", a: "1" } }, "2a060a01611201312a060a0162120132"],
    [{ mode: "ON" }, "3001"],
    [{ mode: 7 }, "3007"],
    [{ body: Uint8Array.of(1) }, "3a0101"],
    [{ ratio: 0.5 }, "41000000000000e03f"],
    [{ version: 0 }, "4800"],
    [{ inner: { text: "" } }, "5200"],
  ];
  for (const [value, hex] of rows) {
    assert.equal(Buffer.from(codec.encode("p.Request", value)).toString("hex"), hex, hex);
    assert.deepEqual(codec.decode("p.Request", Buffer.from(hex, "hex")), { ...zero, ...value }, hex);
  }
});

test("lists that were not packed, and unknown fields", () => {
  assert.deepEqual(codec.decode("p.Request", Buffer.from("180118027a0100", "hex"))["numbers"], [1, 2]);
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonValue } from "../json.ts";
import { TypeRegistry } from "../schema.ts";
import { structureFault } from "./structure-fault.ts";

const type = new TypeRegistry({
  Thing: {
    fields: [
      ["data", "map[string]string", "e", 1],
      ["items", "[]Item", "e", 2],
      ["replicas", "*int32", "e", 3],
      ["isOn", "bool", "e", 4],
      ["protocol", "api.core.v1.Protocol=string", "e", 5],
    ],
  },
  Item: { fields: [["name", "string", "", 1]] },
}).struct("Thing")!;

describe("structureFault", () => {
  const cases: [value: JsonValue, fault: string | undefined][] = [
    [{ data: { a: "1" }, items: [{ name: "x" }, null], replicas: 2.0, isOn: false, unknown: 1 }, undefined],
    [{ items: { name: "x" } }, "cannot restore slice from map"],
    [{ items: ["x"] }, "cannot restore struct from: string"],
    [{ data: "x" }, "cannot restore map from string"],
    [{ data: { a: 1 } }, "cannot convert int64 to string"],
    [{ protocol: 1 }, "cannot convert int64 to v1.Protocol"],
    [{ data: { a: true } }, "unrecognized type: string"],
    [{ replicas: "2" }, "unrecognized type: int32"],
    [{ replicas: 1.5 }, "cannot convert float64 to int32"],
    [{ isOn: "true" }, "unrecognized type: bool"],
  ];
  for (const [value, fault] of cases) it(JSON.stringify(value), () => assert.equal(structureFault(value, type), fault));
});

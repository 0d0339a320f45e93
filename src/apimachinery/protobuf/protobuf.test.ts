import assert from "node:assert/strict";
import { test } from "node:test";
import { TypeRegistry } from "../schema.ts";
import { rawNumber } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { decodeMessage } from "./decode.ts";
import { encodeMessage } from "./encode.ts";
import { decodeProtobuf, encodeProtobuf, encodeWatchEventProtobuf, openEnvelope } from "./envelope.ts";

const meta = "apimachinery.pkg.apis.meta.v1";
const registry = new TypeRegistry({
  "api.test.v1.Source": { fields: [["path", "string", "", 1]] },
  "api.test.v1.Thing": {
    fields: [
      ["kind", "string", "e", 0],
      ["apiVersion", "string", "e", 0],
      ["name", "string", "e", 1],
      ["source", "*api.test.v1.Source", "e", 3, { embedded: [["ThingSource", 2]] }],
      ["count", "*int32", "e", 4],
      ["labels", "map[string]string", "e", 5],
      ["at", `*${meta}.Time`, "e", 6],
      ["size", "*apimachinery.pkg.api.resource.Quantity", "e", 7],
      ["port", "*apimachinery.pkg.util.intstr.IntOrString", "e", 8],
      ["raw", "*apimachinery.pkg.runtime.RawExtension", "e", 9],
      ["numbers", "[]int64", "e", 10],
      ["extra", "map[string]api.test.v1.ExtraValue=[]string", "e", 11],
      ["data", "bytes", "e", 12],
      ["big", "*int64", "e", 13],
    ],
    gvk: [["test", "v1", "Thing"]],
  },
  "api.test.v1.Needs": {
    fields: [
      ["request", "bytes", "", 1],
      ["port", "apimachinery.pkg.util.intstr.IntOrString", "", 2],
      ["hint", "bytes", "e", 3],
    ],
  },
});
const schema = registry.kind("test", "v1", "Thing")!;
const hex = (object: JsonObject) => Buffer.from(encodeMessage(object, schema)).toString("hex");

test("bytes", () => {
  const empty = "0a00" + "1200";
  const rows: [object: JsonObject, hex: string][] = [
    [{}, empty],
    [{ name: "a" }, "0a01611200"],
    [{ source: { path: "/" } }, "0a00" + "12051a030a012f"],
    [{ count: 0 }, `${empty}2000`],
    [{ count: -1 }, `${empty}20ffffffffffffffffff01`],
    [{ labels: { a: "1", b: "2" } }, `${empty}2a060a01611201312a060a0162120132`],
    [{ at: "1970-01-01T00:00:01Z" }, `${empty}320408011000`],
    [{ size: "1" }, `${empty}3a030a0131`],
    [{ port: 80 }, `${empty}4206080010501a00`],
    [{ port: "web" }, `${empty}4209080110001a03776562`],
    [{ raw: { a: 1 } }, `${empty}4a090a077b2261223a317d`],
    [{ numbers: [1, 300] }, `${empty}500150ac02`],
    [{ extra: { k: ["v"] } }, `${empty}5a080a016b12030a0176`],
    [{ data: "AQI=" }, `${empty}62020102`],
    [{ big: rawNumber("9007199254740993") }, `${empty}688180808080808010`],
  ];
  for (const [object, expected] of rows) {
    assert.equal(hex(object), expected, JSON.stringify(object));
    assert.equal(JSON.stringify(decodeMessage(Buffer.from(expected, "hex"), schema)), JSON.stringify(object));
  }
});

test("empty bytes and texts are told from absent ones where JSON shows the difference", () => {
  const needs = registry.struct("api.test.v1.Needs")!;
  for (const [object, seen] of [
    [
      { request: "", port: "" },
      { request: "", port: "" },
    ],
    [{ port: 0, hint: "" }, { port: 0 }],
  ] as const) {
    const decoded = decodeMessage(encodeMessage(object, needs), needs);
    assert.deepEqual({ port: 0, ...decoded }, seen);
  }
});

test("map entries are sorted", () => {
  assert.equal(hex({ labels: { b: "2", a: "1" } }), hex({ labels: { a: "1", b: "2" } }));
});

test("envelope", () => {
  const gvk = { apiVersion: "test/v1", kind: "Thing" };
  const bytes = encodeProtobuf({ name: "a" }, schema, gvk);
  assert.equal(Buffer.from(bytes.subarray(0, 4)).toString("latin1"), "k8s\0");
  assert.deepEqual(openEnvelope(bytes), { ...gvk, raw: Buffer.from("0a01611200", "hex"), contentEncoding: "", contentType: "" });
  assert.deepEqual(decodeProtobuf(bytes, registry), { ...gvk, object: { kind: "Thing", apiVersion: "test/v1", name: "a" } });
  assert.throws(() => decodeProtobuf(Buffer.from("{}"), registry), {
    message: "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
  });
  assert.throws(() => decodeProtobuf(bytes.subarray(0, bytes.length - 9), registry), { message: "unexpected EOF" });
});

test("watch frames", () => {
  assert.equal(Buffer.from(encodeWatchEventProtobuf("ADDED", Uint8Array.of(1, 2))).toString("hex"), "0000000d" + "0a054144444544" + "1204" + "0a020102");
});

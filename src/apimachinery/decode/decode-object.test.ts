import assert from "node:assert/strict";
import { test } from "node:test";
import { TypeRegistry } from "../schema.ts";
import type { CompactType } from "../schema.ts";
import { decodeObject, decodeUntyped, decodeValue, faultWarnings, readBody, typeMetaOf, unrecognizedText } from "./decode-object.ts";
import { DecodeError } from "./decode-error.ts";

const meta = "apimachinery.pkg.apis.meta.v1";
const types: Record<string, CompactType> = {
  [`${meta}.ObjectMeta`]: {
    fields: [
      ["name", "string", "e", 1],
      ["creationTimestamp", `${meta}.Time`, "ez", 8],
      ["labels", "map[string]string", "e", 11],
    ],
  },
  "api.test.v1.Source": { fields: [["path", "string", "", 1]] },
  "api.test.v1.Item": {
    fields: [
      ["name", "string", "", 1],
      ["source", "*api.test.v1.Source", "e", 1, { embedded: [["ItemSource", 2]] }],
      ["port", "apimachinery.pkg.util.intstr.IntOrString", "e", 3],
    ],
  },
  "api.test.v1.Spec": {
    fields: [
      ["replicas", "*int32", "e", 1],
      ["big", "int64", "e", 2],
      ["paused", "bool", "e", 3],
      ["policy", "api.test.v1.Policy=string", "e", 4],
      ["items", "[]api.test.v1.Item", "e", 5],
      ["limits", "api.test.v1.Limits=map[string]apimachinery.pkg.api.resource.Quantity", "e", 6],
      ["at", `*${meta}.MicroTime`, "e", 7],
      ["raw", "apimachinery.pkg.runtime.RawExtension", "e", 8],
      ["args", "[]string", "e", 9],
    ],
  },
  "api.test.v1.Thing": {
    fields: [
      ["kind", "string", "e", 0],
      ["apiVersion", "string", "e", 0],
      ["metadata", `${meta}.ObjectMeta`, "e", 1],
      ["spec", "api.test.v1.Spec", "e", 2],
      ["data", "map[string]string", "e", 3],
      ["secret", "map[string]bytes", "e", 4],
    ],
    gvk: [["test", "v1", "Thing"]],
  },
};
const schema = new TypeRegistry(types).kind("test", "v1", "Thing")!;
const decode = (text: string, mediaType: "json" | "yaml" = "json") => decodeObject(Buffer.from(text), schema, { mediaType });

test("values in Go's form", () => {
  const rows: [text: string, object: unknown][] = [
    ["null", {}],
    ['{"spec":null,"data":null}', {}],
    ['{"data":{"k":null,"j":"x"}}', { data: { k: "", j: "x" } }],
    ['{"spec":{"replicas":null,"paused":null,"args":["a",null]}}', { spec: { args: ["a", ""] } }],
    ['{"spec":{"limits":{"cpu":1000,"memory":"1024Mi","x":null,"y":" 1 "}}}', { spec: { limits: { cpu: "1k", memory: "1Gi", x: "0", y: "1" } } }],
    ['{"metadata":{"creationTimestamp":"2020-01-01T02:00:00.5+02:00"}}', { metadata: { creationTimestamp: "2020-01-01T00:00:00Z" } }],
    ['{"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"}}', { metadata: {} }],
    ['{"spec":{"at":"2020-01-01T00:00:00.123456Z"}}', { spec: { at: "2020-01-01T00:00:00.123456Z" } }],
    ['{"spec":{"items":[{"port":80},{"port":"web"},null]}}', { spec: { items: [{ port: 80 }, { port: "web" }, {}] } }],
    ['{"secret":{"a":"YQ==","b":[1,2],"c":null}}', { secret: { a: "YQ==", b: "AQI=", c: "" } }],
    ['{"spec":{"raw":{"x":[1,{"y":null}]}}}', { spec: { raw: { x: [1, { y: null }] } } }],
    ['{"data":{"__proto__":"x"}}', JSON.parse('{"data":{"__proto__":"x"}}')],
  ];
  for (const [text, object] of rows) assert.deepEqual(decode(text).object, object, text);
});

test("a value in memory is decoded as its text would be, and left as it is", () => {
  const texts = [
    '{"spec":{"paused":null,"policy":null,"at":null,"raw":null,"limits":{"cpu":"1000m"},"items":[{"name":"a","source":null}]},"data":null}',
    '{"metadata":{"creationTimestamp":null,"labels":{"a":"b"}},"spec":{"items":[{"port":null}],"replicas":-1}}',
    '{"spec":{"raw":{"x":[1.5,{"y":null}]},"big":1e20}}',
    '{"unknown":1,"spec":{"raw":{"x":"\\ud800"}}}',
    '{"data":{"__proto__":"x"}}',
  ];
  for (const text of texts) {
    const value = JSON.parse(text);
    const outcome = (run: () => unknown) => {
      try {
        return run();
      } catch (error) {
        return String(error);
      }
    };
    assert.deepEqual(
      outcome(() => decodeValue(value, schema)),
      outcome(() => decode(JSON.stringify(value))),
      text,
    );
    assert.deepEqual(value, JSON.parse(text));
  }
});

test("numbers keep their digits", () => {
  assert.equal(JSON.stringify(decode('{"spec":{"big":9007199254740993}}').object), '{"spec":{"big":9007199254740993}}');
  assert.equal(
    JSON.stringify(decodeUntyped(Buffer.from('{"a":1.0,"b":1e2,"c":9007199254740993,"d":0.5}'), { mediaType: "json" }).value),
    '{"a":1.0,"b":1e2,"c":9007199254740993,"d":0.5}',
  );
});

test("strict faults in document order", () => {
  const rows: [text: string, faults: string[], object: unknown][] = [
    [
      '{"spec":{"x":1,"replicas":1,"replicas":2},"other":{},"data":{"a":"1","a":"2"}}',
      ['unknown field "spec.x"', 'duplicate field "spec.replicas"', 'unknown field "other"', 'duplicate field "data.a"'],
      { spec: { replicas: 2 }, data: { a: "2" } },
    ],
    ['{"Spec":{},"spec":{"Replicas":1}}', ['unknown field "Spec"', 'unknown field "spec.Replicas"'], { spec: {} }],
    ['{"spec":{"items":[{"name":"a"},{"name":"b","bogus":1}]}}', ['unknown field "spec.items[1].bogus"'], { spec: { items: [{ name: "a" }, { name: "b" }] } }],
    ['{"spec":{"replicas":1},"spec":{"paused":true}}', ['duplicate field "spec"'], { spec: { replicas: 1, paused: true } }],
    ['{"x":1,"x":2}', ['unknown field "x"'], {}],
  ];
  for (const [text, faults, object] of rows) assert.deepEqual(decode(text), { object, faults }, text);
});

test("type errors", () => {
  const rows: [text: string, message: string][] = [
    ['{"spec":{"replicas":"3"}}', "json: cannot unmarshal string into Go struct field Spec.spec.replicas of type int32"],
    ['{"spec":{"replicas":1.5}}', "json: cannot unmarshal number 1.5 into Go struct field Spec.spec.replicas of type int32"],
    ['{"spec":{"replicas":1.0}}', "json: cannot unmarshal number 1.0 into Go struct field Spec.spec.replicas of type int32"],
    ['{"spec":{"replicas":2147483648}}', "json: cannot unmarshal number 2147483648 into Go struct field Spec.spec.replicas of type int32"],
    ['{"spec":{"policy":5}}', "json: cannot unmarshal number into Go struct field Spec.spec.policy of type v1.Policy"],
    ['{"metadata":"x"}', "json: cannot unmarshal string into Go struct field Thing.metadata of type v1.ObjectMeta"],
    ['{"data":{"a":1}}', "json: cannot unmarshal number into Go struct field Thing.data of type string"],
    ['{"data":[]}', "json: cannot unmarshal array into Go struct field Thing.data of type map[string]string"],
    ['{"spec":{"items":{}}}', "json: cannot unmarshal object into Go struct field Spec.spec.items of type []v1.Item"],
    ['{"spec":{"limits":"x"}}', "json: cannot unmarshal string into Go struct field Spec.spec.limits of type v1.Limits"],
    [
      '{"spec":{"items":[{"source":{"path":1}}]}}',
      "json: cannot unmarshal number into Go struct field Source.spec.items.ItemSource.source.path of type string",
    ],
    ['{"spec":{"items":[{"source":1}]}}', "json: cannot unmarshal number into Go struct field Item.spec.items.ItemSource.source of type v1.Source"],
    ['{"spec":{"items":[{"port":true}]}}', "json: cannot unmarshal bool into Go struct field Item.spec.items.port of type int32"],
    ['{"spec":{"at":5}}', "json: cannot unmarshal number into Go struct field Spec.spec.at of type string"],
    ['{"secret":{"a":[true]}}', "json: cannot unmarshal bool into Go struct field Thing.secret of type uint8"],
    ['{"secret":{"a":"Y"}}', "illegal base64 data at input byte 0"],
    ['{"secret":{"a":"YQ="}}', "illegal base64 data at input byte 3"],
    ['{"secret":{"a":"Y Q=="}}', "illegal base64 data at input byte 1"],
    // The first wrong type is what counts, but a special type's own error wins over it.
    ['{"spec":{"replicas":"a","paused":1}}', "json: cannot unmarshal string into Go struct field Spec.spec.replicas of type int32"],
    ['{"spec":{"replicas":"a","limits":{"cpu":"lots"}}}', "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
    ['{"unknown":1,"spec":{"replicas":"3"}}', "json: cannot unmarshal string into Go struct field Spec.spec.replicas of type int32"],
  ];
  for (const [text, message] of rows) assert.throws(() => decode(text), { name: "DecodeError", reason: "value", message }, text);
});

test("schemas inside schemas", () => {
  const name = "apiextensions-apiserver.pkg.apis.apiextensions.v1";
  const schemas = new TypeRegistry({
    [`${name}.JSONSchemaProps`]: {
      fields: [
        ["type", "string", "e", 5],
        ["items", `*${name}.JSONSchemaPropsOrArray`, "e", 28],
        ["properties", `map[string]${name}.JSONSchemaProps`, "e", 33],
        ["additionalProperties", `*${name}.JSONSchemaPropsOrBool`, "e", 34],
        ["dependencies", `map[string]${name}.JSONSchemaPropsOrStringArray`, "e", 36],
      ],
    },
  }).struct(`${name}.JSONSchemaProps`)!;
  const read = (text: string) => decodeObject(Buffer.from(text), schemas, { mediaType: "json" });
  assert.deepEqual(read('{"items":{"type":"a","bogus":1},"additionalProperties":true,"dependencies":{"p":["q"],"r":{"type":"s"}}}'), {
    object: { items: { type: "a" }, additionalProperties: true, dependencies: { p: ["q"], r: { type: "s" } } },
    faults: [],
  });
  assert.throws(() => read('{"properties":{"p":{"items":{"type":1}}}}'), {
    message: "json: cannot unmarshal number into Go struct field JSONSchemaProps.properties.items.type of type string",
  });
  assert.throws(() => read('{"additionalProperties":1}'), { message: "boolean or JSON schema expected" });
});

test("syntax errors", () => {
  const rows: [text: string, message: string][] = [
    ["", "unexpected end of JSON input"],
    ["{", "unexpected end of JSON input"],
    ["}", "invalid character '}' looking for beginning of value"],
    ["{]", "invalid character ']' looking for beginning of object key string"],
    ["{} {}", "invalid character '{' after top-level value"],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":01}', "invalid character '1' after object key:value pair"],
    ["[1 2]", "invalid character '2' after array element"],
    ['{"a":1.}', "invalid character '}' after decimal point in numeric literal"],
    ['{"a":1e}', "invalid character '}' in exponent of numeric literal"],
    ['{"a":-}', "invalid character '}' in numeric literal"],
    ['{"a":nul}', "invalid character '}' in literal null (expecting 'l')"],
    ['{"a":"\u0000"}', "invalid character '\\x00' in string literal"],
    ['{"a":"\n"}', "invalid character '\\n' in string literal"],
    ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
    ['{"a":"\\u12g4"}', "invalid character 'g' in \\u hexadecimal character escape"],
    ["\ufeff{}", "invalid character 'ï' looking for beginning of value"],
    ["[".repeat(10_001), "invalid character '[' exceeded max depth"],
  ];
  for (const [text, message] of rows) assert.throws(() => decode(text), { name: "DecodeError", reason: "syntax", message }, JSON.stringify(text.slice(0, 30)));
});

test("deep nesting is walked without recursion", () => {
  const depth = 9_990;
  const text = `{"spec":{"raw":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}}`;
  assert.equal(decode(text).faults.length, 0);
  assert.equal(decodeUntyped(Buffer.from(text), { mediaType: "json" }).faults.length, 0);
});

test("YAML", () => {
  assert.deepEqual(decode("spec: {replicas: 2}\nbogus: 1\ndata:\n  k: v\n  k: w\n", "yaml"), {
    object: { data: { k: "w" }, spec: { replicas: 2 } },
    faults: ['yaml: unmarshal errors:\n  line 5: key "k" already set in map', 'unknown field "bogus"'],
  });
  assert.deepEqual(decode('{"data":{"q":"1","q":"2"}}', "yaml"), {
    object: { data: { q: "2" } },
    faults: ['yaml: unmarshal errors:\n  line 1: key "q" already set in map'],
  });
  assert.throws(() => decode("data: {k: yes}\n", "yaml"), { message: "json: cannot unmarshal bool into Go struct field Thing.data of type string" });
  assert.deepEqual(
    faultWarnings(['yaml: unmarshal errors:\n  line 1: key "q" already set in map\n  line 2: key "r" already set in map', 'unknown field "x"']),
    ['line 1: key "q" already set in map', 'line 2: key "r" already set in map', 'unknown field "x"'],
  );
});

test("apiVersion and kind", () => {
  const metaOf = (text: string) => typeMetaOf(readBody(Buffer.from(text), { mediaType: "json" }));
  assert.deepEqual(metaOf('{"apiVersion":"v1","kind":"Pod"}'), { apiVersion: "v1", kind: "Pod" });
  assert.deepEqual(metaOf("null"), { apiVersion: "", kind: "" });
  assert.deepEqual(metaOf('{"Kind":"Pod"}'), { apiVersion: "", kind: "Pod" });
  const textOf = (text: string) => {
    try {
      metaOf(text);
    } catch (error) {
      if (error instanceof DecodeError) return unrecognizedText(error);
      throw error;
    }
    return "";
  };
  const opening = "couldn't get version/kind; json parse error: json: cannot unmarshal";
  assert.equal(textOf('{"kind":5}'), `${opening} number into Go struct field .kind of type string`);
  assert.equal(
    textOf("[]"),
    `${opening} array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  );
});

test("duplicates without a schema", () => {
  const { value, faults } = decodeUntyped(Buffer.from('{"a":1,"a":2,"b":[{"c":1,"c":2}]}'), { mediaType: "json" });
  assert.deepEqual(value, { a: 2, b: [{ c: 2 }] });
  assert.deepEqual(faults, ['duplicate field "a"', 'duplicate field "b[0].c"']);
  assert.throws(() => decodeUntyped(Buffer.from('{"a":1E400}'), { mediaType: "json" }), {
    message: "json: cannot unmarshal number 1E400 into Go value of type float64",
  });
});

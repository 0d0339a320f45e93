/**
 * Bodies into objects. JSON of the common kind takes the fast path: `JSON.parse`, then one walk that checks it against the schema; the
 * number of members found must equal the number of colons in the bytes, else there were duplicates. All else is read exactly.
 */
import { readCbor } from "../cbor/read-cbor.ts";
import { isRawNumber, jsonTextOf } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { StructSchema } from "../schema.ts";
import { readYaml } from "../yaml/yaml.ts";
import { DecodeError } from "./decode-error.ts";
import { decodeExact } from "./exact-decode.ts";
import { parseExact } from "./exact-parser.ts";
import type { ExactNode } from "./exact-parser.ts";
import { countMembers, decodeFast, plainCopy } from "./fast-decode.ts";
import { scanStructure } from "./structure-scan.ts";
import { decodeUntypedNode } from "./untyped.ts";
import { typeMetaName, typeMetaOfNode } from "./type-meta.ts";
import type { TypeMeta } from "./type-meta.ts";

export { DecodeError, unrecognizedText } from "./decode-error.ts";

/** Decodes `bytes` into a `schema`: known fields only, in the form in which Go would print them. Throws a `DecodeError`. */
export function decodeObject(bytes: Uint8Array, schema: StructSchema, options: DecodeOptions): Decoded {
  return decodeBody(readBody(bytes, options), schema);
}

/** As `decodeObject` of the value's JSON text, which is made only when something in it is unusual. */
export function decodeValue(value: JsonObject, schema: StructSchema): Decoded {
  const copy = plainCopy(value);
  const object = copy === undefined ? undefined : decodeFast(copy, schema);
  return object === undefined ? decodeObject(Buffer.from(jsonTextOf(value)), schema, { mediaType: "json" }) : { object, faults: [] };
}

/** Decodes `bytes` without a schema: the text of numbers that JavaScript would change is kept. Throws a `DecodeError`. */
export function decodeUntyped(bytes: Uint8Array, options: DecodeOptions): { value: JsonValue; faults: string[] } {
  return decodeUntypedBody(readBody(bytes, options));
}

export interface DecodeOptions {
  readonly mediaType: "json" | "yaml" | "cbor";
}

export interface Decoded {
  object: JsonObject;
  /** Strict faults in document order, such as `unknown field "spec.foo"`. */
  faults: string[];
}

/** A body that was read once: ask for its type, then decode it, each at most once. */
export interface Body {
  /** What `JSON.parse` made of it, when nothing can have been lost but duplicates. */
  readonly plain: { readonly value: JsonValue; readonly members: number } | undefined;
  readonly exact: () => Reading;
}

/** A body read without loss, and the faults of the text itself: duplicate keys in YAML. */
export interface Reading {
  readonly node: ExactNode;
  readonly faults: readonly string[];
}

/** Reads a body; throws a `DecodeError` of reason `yaml` or `syntax`. */
export function readBody(bytes: Uint8Array, { mediaType }: DecodeOptions): Body {
  if (mediaType === "cbor") {
    const reading = { node: readCbor(bytes), faults: [] };
    return { plain: undefined, exact: () => reading };
  }
  const isYaml = mediaType === "yaml";
  const structure = isYaml && bytes[0] !== openBrace ? undefined : scanStructure(bytes);
  const value = structure?.isPlain === true ? tryParse(bytes) : undefined;
  const read = (): Reading => (isYaml ? readYamlOrJson(bytes) : { node: parseExact(bytes), faults: [] });
  if (structure !== undefined && value !== undefined) return { plain: { value, members: structure.members }, exact: read };
  const reading = read();
  return { plain: undefined, exact: () => reading };
}

const openBrace = 0x7b;
/** YAML bodies that are JSON and longer than this are read as JSON even when something in them is unusual. */
const maxYamlJsonBytes = 262_144;

/** In YAML even a body that is JSON reports its duplicates as YAML does. */
function readYamlOrJson(bytes: Uint8Array): Reading {
  if (bytes[0] === openBrace && bytes.length > maxYamlJsonBytes) {
    const node = tryParseExact(bytes);
    if (node !== undefined) return { node, faults: [] };
  }
  return readYaml(bytes);
}

/** `apiVersion` and `kind` of a body, empty where absent; throws a `DecodeError` of reason `version`. */
export function typeMetaOf(body: Body): TypeMeta {
  const value = body.plain?.value;
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value)) {
    const { apiVersion, kind } = value as JsonObject;
    if (typeof apiVersion === "string" && typeof kind === "string") return { apiVersion, kind };
    if (!Object.keys(value).some(typeMetaName)) return { apiVersion: "", kind: "" };
  }
  return typeMetaOfNode(body.exact().node);
}

/** Decodes a body into a `schema`. */
export function decodeBody(body: Body, schema: StructSchema): Decoded {
  const { plain } = body;
  const plainObject = plain && decodeFast(plain.value, schema, plain.members);
  if (plainObject !== undefined) return { object: plainObject, faults: [] };
  const reading = body.exact();
  // An earlier duplicate of apiVersion or kind may be of a wrong type.
  typeMetaOfNode(reading.node);
  const { object, faults } = decodeExact(reading.node, schema);
  return { object, faults: [...reading.faults, ...faults] };
}

/** Decodes a body without a schema. */
export function decodeUntypedBody(body: Body): { value: JsonValue; faults: string[] } {
  const { plain } = body;
  if (plain !== undefined && countMembers(plain.value) === plain.members) return { value: plain.value, faults: [] };
  const reading = body.exact();
  const { value, faults } = decodeUntypedNode(reading.node);
  return { value, faults: [...reading.faults, ...faults] };
}

/** The texts of warnings for strict faults: YAML's list of faults becomes one warning per line. */
export function faultWarnings(faults: readonly string[]): string[] {
  const opening = "yaml: unmarshal errors:\n";
  return faults.flatMap((fault) =>
    fault.startsWith(opening)
      ? fault
          .slice(opening.length)
          .split("\n")
          .map((line) => line.trim())
      : [fault],
  );
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function tryParse(bytes: Uint8Array): JsonValue | undefined {
  try {
    return JSON.parse(decoder.decode(bytes)) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function tryParseExact(bytes: Uint8Array): ExactNode | undefined {
  try {
    return parseExact(bytes);
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

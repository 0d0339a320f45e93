/**
 * Kubernetes' protobuf envelope: `k8s\0`, then a runtime.Unknown that names apiVersion and kind and holds the object's message (API
 * concepts, "Kubernetes Protobuf encoding"). Watch frames carry no envelope of their own, but their object has one.
 */
import { DecodeError } from "../decode/decode-error.ts";
import type { JsonObject } from "../json.ts";
import { parseApiVersion } from "../object.ts";
import type { StructSchema, TypeRegistry } from "../schema.ts";
import { decodeMessage } from "./decode.ts";
import { writeMessage } from "./encode.ts";
import { messagePlan } from "./plan.ts";
import { BackwardWriter, FieldCursor } from "./wire.ts";

/** An object in its envelope. */
export function encodeProtobuf(object: JsonObject, schema: StructSchema, gvk: { readonly apiVersion: string; readonly kind: string }): Uint8Array {
  const writer = new BackwardWriter();
  writer.raw(envelopeEnd);
  writeMessage(writer, object, messagePlan(schema));
  return closeEnvelope(writer, { ...gvk, rawBytes: writer.length - envelopeEnd.length });
}

/** A message in its envelope. */
export function envelopeOf(message: Uint8Array, gvk: { readonly apiVersion: string; readonly kind: string }): Uint8Array {
  const writer = new BackwardWriter();
  writer.raw(envelopeEnd);
  writer.raw(message);
  return closeEnvelope(writer, { ...gvk, rawBytes: message.length });
}

/** What stands behind the object: contentEncoding and contentType, both empty. */
export const envelopeEnd: Uint8Array = Uint8Array.of(0x1a, 0, 0x22, 0);

/** Puts what precedes an object of `rawBytes` bytes in front of what was written. */
export function closeEnvelope(
  writer: BackwardWriter,
  { apiVersion, kind, rawBytes }: { readonly apiVersion: string; readonly kind: string; readonly rawBytes: number },
): Uint8Array {
  writer.varint(rawBytes);
  writer.tag(2, 2);
  const afterType = writer.length;
  writer.string(2, kind);
  writer.string(1, apiVersion);
  writer.closeMessage(1, afterType);
  writer.raw(protobufPrefix);
  return writer.finish();
}

/**
 * The object in an envelope, with `apiVersion` and `kind` set. What the envelope does not say is taken from `fallback`. Throws a
 * `DecodeError`: `syntax` for damaged bytes, `version` for a kind that is not in the registry.
 */
export function decodeProtobuf(
  bytes: Uint8Array,
  registry: TypeRegistry,
  fallback: { readonly apiVersion: string; readonly kind: string } = { apiVersion: "", kind: "" },
): ProtobufObject {
  const envelope = openEnvelope(bytes);
  const apiVersion = envelope.apiVersion || fallback.apiVersion;
  const kind = envelope.kind || fallback.kind;
  const version = parseApiVersion(apiVersion);
  const schema = version === undefined ? undefined : registry.kind(version.group, version.version, kind);
  if (schema === undefined && envelope.apiVersion === "" && envelope.kind === "" && envelope.raw.length === 0) throw new DecodeError("version", "empty body");
  if (schema === undefined)
    throw new DecodeError(
      "version",
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  const object = decodeMessage(envelope.raw, schema);
  return { object: { kind, apiVersion, ...object }, apiVersion, kind };
}

export interface ProtobufObject {
  readonly object: JsonObject;
  readonly apiVersion: string;
  readonly kind: string;
}

/** What stands before every protobuf body. */
export const protobufPrefix: Uint8Array = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

/** Whether `bytes` are an envelope. */
export function isProtobuf(bytes: Uint8Array): boolean {
  return protobufPrefix.every((byte, index) => bytes[index] === byte);
}

/** The parts of an envelope; throws a `DecodeError` of reason `syntax`. */
export function openEnvelope(bytes: Uint8Array): Envelope {
  if (!isProtobuf(bytes)) throw new DecodeError("syntax", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  const envelope = { apiVersion: "", kind: "", raw: new Uint8Array(0) as Uint8Array, contentEncoding: "", contentType: "" };
  const cursor = new FieldCursor(bytes, protobufPrefix.length);
  while (cursor.next()) {
    if (cursor.number === 1) Object.assign(envelope, readTypeMeta(cursor.message()));
    else if (cursor.number === 2) envelope.raw = cursor.bytes;
    else if (cursor.number === 3) envelope.contentEncoding = cursor.text;
    else if (cursor.number === 4) envelope.contentType = cursor.text;
  }
  return envelope;
}

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The object's message. */
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  readonly contentType: string;
}

/** A watch event as it stands in a protobuf stream: four bytes of length, then the event. `objectBytes` is the object in its envelope. */
export function encodeWatchEventProtobuf(type: string, objectBytes: Uint8Array): Uint8Array {
  const writer = new BackwardWriter();
  writer.bytes(1, objectBytes);
  writer.closeMessage(2, 0);
  writer.string(1, type);
  const { length } = writer;
  writer.raw(Uint8Array.of(length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255));
  return writer.finish();
}

function readTypeMeta(cursor: FieldCursor): { apiVersion?: string; kind?: string } {
  const typeMeta: { apiVersion?: string; kind?: string } = {};
  while (cursor.next()) {
    if (cursor.number === 1) typeMeta.apiVersion = cursor.text;
    else if (cursor.number === 2) typeMeta.kind = cursor.text;
  }
  return typeMeta;
}

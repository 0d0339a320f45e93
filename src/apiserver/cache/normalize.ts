/** Stored values in our JSON form: ours are left as they are, protobuf, CBOR and foreign JSON (another server's) are made over. */
import { selfDescribed } from "../../apimachinery/cbor/read-cbor.ts";
import { decodeUntyped } from "../../apimachinery/decode/decode-object.ts";
import { canonicalize } from "../../apimachinery/encode/canonical.ts";
import { decodeProtobuf } from "../../apimachinery/protobuf/envelope.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { parseApiVersion } from "../../apimachinery/object.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { typeRegistry } from "../../api/registry.ts";
import { encodeStored } from "./stored-object.ts";
import { isUnreadable } from "./unreadable-value.ts";

const protobufMagic = Buffer.from("k8s\0");
const ownStart = Buffer.from('{"kind":"');

/** The value as our own server would have stored it. */
export function normalizeStored(_key: string, value: Uint8Array): Buffer {
  // What this server wrote comes back as it was given: the very buffer.
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (bytes.subarray(0, ownStart.length).equals(ownStart) || isUnreadable(bytes)) return bytes;
  if (bytes.subarray(0, 4).equals(protobufMagic)) {
    const decoded = decodeProtobuf(bytes, typeRegistry);
    return encode({ ...decoded.object, apiVersion: decoded.apiVersion, kind: decoded.kind });
  }
  if (bytes.subarray(0, selfDescribed.length).equals(selfDescribed)) return encode(decodeUntyped(bytes, { mediaType: "cbor" }).value as JsonObject);
  return encode(JSON.parse(bytes.toString()) as JsonObject);
}

function encode(object: JsonObject): Buffer {
  const gv = parseApiVersion(String(object["apiVersion"] ?? ""));
  const schema = gv && typeRegistry.kind(gv.group, gv.version, String(object["kind"] ?? ""));
  const canonical = schema === undefined ? object : canonicalize(object, schema);
  return encodeStored({ metadata: {}, ...canonical } as unknown as KubeObject);
}

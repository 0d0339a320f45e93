/** `metadata` of custom resources and of resources inside them: decoded as ObjectMeta, whatever the schema says. */
import { canonicalize } from "../../apimachinery/encode/canonical.ts";
import { decodeBody } from "../../apimachinery/decode/decode-object.ts";
import { decodeExact } from "../../apimachinery/decode/exact-decode.ts";
import { parseExact } from "../../apimachinery/decode/exact-parser.ts";
import { countMembers } from "../../apimachinery/decode/fast-decode.ts";
import { isObject } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import type { ObjectMeta } from "../../apimachinery/object.ts";
import type { StructSchema } from "../../apimachinery/schema.ts";
import { typeRegistry } from "../../api/registry.ts";

export const metadataSchema: StructSchema = typeRegistry.struct("apimachinery.pkg.apis.meta.v1.ObjectMeta")!;

/** The metadata in `value`, and the paths of members that ObjectMeta does not have, below `metadata`. Throws a `DecodeError`. */
export function decodeMetadata(value: JsonValue): { readonly metadata: ObjectMeta; readonly unknown: string[] } {
  const exact = () => ({ node: parseExact(Buffer.from(JSON.stringify(value))), faults: [] });
  const { object, faults } = isObject(value)
    ? decodeBody({ plain: { value, members: countMembers(value) }, exact }, metadataSchema)
    : decodeExact(exact().node, metadataSchema);
  const unknown = faults.filter((fault) => fault.startsWith(opening)).map((fault) => `metadata.${JSON.parse(fault.slice(opening.length)) as string}`);
  return { metadata: withoutEmpties(object as ObjectMeta), unknown };
}

/** What Go leaves out; an empty list of managed fields stays: it asks to clear them. */
function withoutEmpties(metadata: ObjectMeta): ObjectMeta {
  const { managedFields } = metadata;
  const printed = printMetadata(metadata) as ObjectMeta;
  return managedFields?.length === 0 ? { ...printed, managedFields } : printed;
}

const opening = "unknown field ";

/** Metadata as Go prints it; a creation time that is not set is left out. */
export function printMetadata(metadata: ObjectMeta): JsonObject {
  const json = canonicalize(metadata as unknown as JsonObject, metadataSchema);
  if (json["creationTimestamp"] === null) delete json["creationTimestamp"];
  return json;
}

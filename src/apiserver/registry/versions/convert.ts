/** Objects between the version they are stored in and the version a client speaks. */
import type { Eventual } from "../../../base/eventual.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { StoredObject, parseStored } from "../../cache/stored-object.ts";
import type { ResourceDefinition } from "../resource-definition.ts";

/** The object in the version of `definition`, after `prepareVersions`. Callers must not change it. */
export function readVersion(definition: ResourceDefinition, stored: StoredObject): KubeObject {
  return inVersion(definition, stored, definition.storage!.cache.parse(stored));
}

/** As `readVersion`, for a state that is about to be superseded: its parsed form is not kept. */
export function readOnce(definition: ResourceDefinition, stored: StoredObject): KubeObject {
  return inVersion(definition, stored, stored.parsed ?? parseStored(stored));
}

function inVersion(definition: ResourceDefinition, stored: StoredObject, object: KubeObject): KubeObject {
  if (definition.codec !== undefined) return definition.codec.read(stored, object);
  return definition.conversion === undefined ? object : definition.conversion.fromStored(object);
}

/** Lets stored objects be read in the version of `definition`: to be awaited before. Rejects with an UndecodableError. */
export function prepareVersions(definition: ResourceDefinition, stored: readonly StoredObject[]): Eventual<void> {
  if (definition.codec?.isConvertedByWebhook === true) return definition.codec.prepare(stored, (one) => definition.storage!.cache.parse(one));
}

/** What a client would read of an object whose bytes are not stored (dry run): a webhook may make another one of it on the way there and back. */
export async function readBack(definition: ResourceDefinition, object: KubeObject, bytes: Buffer): Promise<KubeObject> {
  if (definition.codec?.isConvertedByWebhook !== true) return object;
  const stored = new StoredObject("", bytes, 0, 0);
  await prepareVersions(definition, [stored]);
  const { metadata, ...rest } = readVersion(definition, stored);
  const { resourceVersion: _resourceVersion, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

/** Whether an object's stored bytes can be served as they are. */
export function isServedAsStored(definition: ResourceDefinition, stored: StoredObject): boolean {
  const { codec, conversion } = definition;
  if (codec !== undefined) return codec.isServedAsStored(stored, () => definition.storage!.cache.parse(stored));
  return conversion === undefined;
}

/** Puts an object into the store and waits until the server's own cache shows it. */
import type { Eventual } from "../../base/eventual.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { badRequestError } from "../../apimachinery/status.ts";
import { canonicalize } from "../../apimachinery/encode/canonical.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import type { MutationResult } from "../../storage/store.ts";
import { StoredObject, encodeStored } from "../cache/stored-object.ts";
import type { BytesNotes } from "../cache/stored-object.ts";
import type { ServerState } from "../server-state.ts";
import { writtenFieldValues } from "./field-values.ts";
import { relativeKey } from "./resource-definition.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import type { ObjectCodec } from "./storage/object-codec.ts";
import { storageFailure } from "./storage/storage-errors.ts";

/** An object as it is stored: in the storage version, canonical, without its resourceVersion. */
export interface EncodedObject {
  readonly bytes: Buffer;
  readonly notes?: BytesNotes;
}

/** Encodes an object for the store. Throws or rejects with a StatusError. */
export function encodeForStore(definition: ResourceDefinition, object: KubeObject): Eventual<EncodedObject> {
  const { codec } = definition;
  if (codec !== undefined) return encodeCustom(codec, object);
  const storage = definition.storage!;
  const converted = definition.conversion === undefined ? object : definition.conversion.toStored(object);
  const canonical = canonicalize(converted as unknown as JsonObject, storage.schema, { emptiesVanish: storage.isJson !== true }) as unknown as KubeObject;
  const fieldValues = writtenFieldValues(definition, definition.conversion === undefined ? canonical : object);
  return { bytes: encode(canonical), notes: { canonicalIn: storage.schema, fieldValues } };
}

async function encodeCustom(codec: ObjectCodec, object: KubeObject): Promise<EncodedObject> {
  const bytes = encode(codec.print(await codec.toStored(object)) as unknown as KubeObject);
  codec.noteWritten(bytes, object);
  return { bytes };
}

/** A patch can make an object deeper than any body may be, and deeper than can be written. Throws 400. */
function encode(object: KubeObject): Buffer {
  try {
    return encodeStored(object);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw badRequestError("exceeded max depth");
  }
}

export type CommitResult =
  | { readonly isCommitted: true; readonly stored: StoredObject }
  | { readonly isCommitted: false; readonly current: StoredObject | undefined };

/** Writes an encoded object under its key if that is still at `expected` (0: absent). */
export async function commitPut(
  server: ServerState,
  definition: ResourceDefinition,
  target: { namespace: string; name: string },
  { bytes, notes }: EncodedObject,
  expected: number,
): Promise<CommitResult> {
  const storage = definition.storage!;
  const key = relativeKey(definition, target.namespace, target.name);
  const ttl = storage.ttlSeconds === undefined ? {} : { ttlSeconds: storage.ttlSeconds };
  server.encodings.count(definition, "application/json");
  const forget = notes === undefined ? undefined : storage.cache.expect(bytes, notes);
  try {
    const result = await attempt(() => server.store.commit({ kind: "put", key: storage.prefix + key, value: bytes, expected, ...ttl }));
    if (!result.isCommitted) return { isCommitted: false, current: await current(server, definition, result, key) };
    await server.cacher.waitFor(result.revision);
    const cached = storage.cache.get(key);
    // A later write may already have replaced ours: the answer still shows what this request wrote.
    const stored = cached?.revision === result.revision ? cached : new StoredObject(key, bytes, result.revision, expected === 0 ? result.revision : 0);
    return { isCommitted: true, stored };
  } finally {
    forget?.();
  }
}

/** Deletes the object if it is still at `expected`. On success `stored` is the last state under the deletion's revision. */
export async function commitDelete(server: ServerState, definition: ResourceDefinition, existing: StoredObject): Promise<CommitResult> {
  const storage = definition.storage!;
  const result = await attempt(() => server.store.commit({ kind: "delete", key: storage.prefix + existing.key, expected: existing.revision }));
  if (!result.isCommitted) return { isCommitted: false, current: await current(server, definition, result, existing.key) };
  await server.cacher.waitFor(result.revision);
  return { isCommitted: true, stored: existing.at(result.revision) };
}

async function attempt(commit: () => Promise<MutationResult>): Promise<MutationResult> {
  try {
    return await commit();
  } catch (error) {
    throw storageFailure(error);
  }
}

/** What the cache holds once it has caught up with the state that refused the write. */
async function current(server: ServerState, definition: ResourceDefinition, result: MutationResult, key: string): Promise<StoredObject | undefined> {
  await server.cacher.waitFor(result.revision);
  return definition.storage!.cache.get(key);
}

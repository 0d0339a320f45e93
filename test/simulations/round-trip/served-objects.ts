/** Objects put into the store of a running server, and read from it in every way there is: by name, by list and by watch, as JSON and protobuf. */
import { deepEqual, equal } from "node:assert/strict";
import { typeRegistry } from "../../../src/api/registry.ts";
import { decodeObject } from "../../../src/apimachinery/decode/decode-object.ts";
import { isObject } from "../../../src/apimachinery/json.ts";
import type { JsonObject } from "../../../src/apimachinery/json.ts";
import type { GroupVersionKind, KubeObject } from "../../../src/apimachinery/object.ts";
import { decodeProtobuf } from "../../../src/apimachinery/protobuf/envelope.ts";
import { FieldCursor } from "../../../src/apimachinery/protobuf/wire.ts";
import { encodeStored } from "../../../src/apiserver/cache/stored-object.ts";
import type { ResourceDefinition } from "../../../src/apiserver/registry/resource-definition.ts";
import { relativeKey } from "../../../src/apiserver/registry/resource-definition.ts";
import { readBody } from "../../../src/client/index.ts";
import type { TestCluster } from "../../../src/testing/cluster.ts";

export class ServedObjects {
  readonly #cluster: TestCluster;
  readonly #definition: ResourceDefinition;

  /** The resource that is stored as `gvk`; undefined when there is none. */
  static of(cluster: TestCluster, gvk: GroupVersionKind): ServedObjects | undefined {
    const definition = cluster.serverState.resources.byKind(gvk.group, gvk.version, gvk.kind);
    const stored = definition?.storage?.gvk;
    const isStored = stored?.group === gvk.group && stored.version === gvk.version && stored.kind === gvk.kind;
    return definition !== undefined && isStored && !kept.has(definition.resource) ? new ServedObjects(cluster, definition) : undefined;
  }

  private constructor(cluster: TestCluster, definition: ResourceDefinition) {
    this.#cluster = cluster;
    this.#definition = definition;
  }

  /** Hands each object to `check` as each way showed it, under the names and without the resourceVersion it had before. */
  async pass(objects: readonly JsonObject[], check: (seen: JsonObject, index: number, way: string) => void): Promise<void> {
    const { store } = this.#cluster.serverState;
    const before = await store.revision();
    const revisions: number[] = [];
    for (const [index, object] of objects.entries()) {
      const value = encodeStored(named(object, this.#definition, index) as unknown as KubeObject);
      const result = await store.commit({ kind: "put", key: this.#key(index), value, expected: 0 });
      revisions.push(result.revision);
    }
    await this.#cluster.turn();
    for (const form of forms) {
      const see = (seen: JsonObject, index: number, way: string) => check(unnamed(seen, objects[index]!, revisions[index]!), index, `${way} as ${form.name}`);
      for (let index = 0; index < objects.length; index += readEvery)
        see(form.read(await this.#get(`/${nameOf(index)}`, "", form), this.#definition), index, "read");
      const list = (form.read(await this.#get("", "", form), this.#definition, true)["items"] as JsonObject[]).filter(isOurs);
      equal(list.length, objects.length);
      for (const [index, item] of list.entries()) see({ kind: this.#definition.kind, apiVersion: objects[index]!["apiVersion"]!, ...item }, index, "listed");
      const events = await this.#watch(before, form, objects.length);
      for (const [index, event] of events.entries()) {
        equal(event.type, "ADDED");
        see(event.object, index, "watched");
      }
    }
    for (const [index, expected] of revisions.entries()) await store.commit({ kind: "delete", key: this.#key(index), expected });
    await this.#cluster.turn();
  }

  #key(index: number): string {
    return this.#definition.storage!.prefix + relativeKey(this.#definition, namespace, nameOf(index));
  }

  async #get(name: string, query: string, form: Form): Promise<Uint8Array> {
    const response = await this.#cluster.client.send({
      method: "GET",
      path: this.#path(name),
      query,
      headers: { accept: form.mediaType },
      body: new Uint8Array(),
    });
    const bytes = await readBody(response.body);
    equal(response.status, 200, Buffer.from(bytes).toString());
    return bytes;
  }

  #path(name: string): string {
    const { group, version, resource, isNamespaced } = this.#definition;
    return `${group === "" ? "/api" : `/apis/${group}`}/${version}${isNamespaced ? `/namespaces/${namespace}` : ""}/${resource}${name}`;
  }

  /** The first `count` events after a revision. */
  async #watch(after: number, form: Form, count: number): Promise<SeenEvent[]> {
    const leaving = new AbortController();
    const accept = form.mediaType === "application/json" ? form.mediaType : `${form.mediaType};stream=watch`;
    const response = await this.#cluster.client.send(
      { method: "GET", path: this.#path(""), query: `watch=true&resourceVersion=${after}`, headers: { accept }, body: new Uint8Array() },
      { signal: leaving.signal },
    );
    equal(response.status, 200);
    const events: SeenEvent[] = [];
    if (response.body.kind === "stream") {
      for await (const chunk of response.body.chunks) {
        events.push(...form.events(chunk, this.#definition));
        if (events.length >= count) break;
      }
    }
    leaving.abort(new DOMException("the client left", "AbortError"));
    deepEqual(events.length, count);
    return events;
  }
}

interface SeenEvent {
  readonly type: string;
  readonly object: JsonObject;
}

interface Form {
  readonly name: string;
  readonly mediaType: string;
  read(bytes: Uint8Array, definition: ResourceDefinition, isList?: boolean): JsonObject;
  /** A chunk of a watch holds whole events. */
  events(chunk: Uint8Array, definition: ResourceDefinition): SeenEvent[];
}

const forms: readonly Form[] = [
  {
    name: "JSON",
    mediaType: "application/json",
    read: (bytes, { group, version, kind, listKind }, isList = false) =>
      decodeObject(bytes, typeRegistry.kind(group, version, isList ? listKind : kind)!, { mediaType: "json" }).object,
    events(chunk, definition) {
      const lines = Buffer.from(chunk)
        .toString()
        .split("\n")
        .filter((line) => line !== "");
      return lines.map((line) => {
        const { 1: type, 2: object } = /^\{"type":"(\w+)","object":(.*)\}$/.exec(line)!;
        return { type: type!, object: this.read(Buffer.from(object!), definition) };
      });
    },
  },
  {
    name: "protobuf",
    mediaType: "application/vnd.kubernetes.protobuf",
    read: (bytes) => decodeProtobuf(bytes, typeRegistry).object,
    events(chunk, definition) {
      const events: SeenEvent[] = [];
      const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      for (let at = 0; at < chunk.length; at += 4 + view.getUint32(at)) {
        const cursor = new FieldCursor(chunk.subarray(at + 4, at + 4 + view.getUint32(at)));
        let type = "";
        while (cursor.next()) {
          if (cursor.number === 1) type = cursor.text;
          else events.push({ type, object: this.read(rawOf(cursor.message()), definition) });
        }
      }
      return events;
    },
  },
];

/** The bytes of a RawExtension. */
function rawOf(cursor: FieldCursor): Uint8Array {
  return cursor.last(1) ? cursor.bytes : new Uint8Array();
}

/** Reads by name cost more than lists and watches, and show the same bytes. */
const readEvery = 10;
/** The server itself writes their status. */
const kept: ReadonlySet<string> = new Set(["apiservices", "customresourcedefinitions", "flowschemas"]);
const namespace = "default";
/** The cluster has objects of its own. */
const isOurs = (object: JsonObject) => String((object["metadata"] as JsonObject)["name"]).startsWith("object-");
const nameOf = (index: number) => `object-${String(index).padStart(3, "0")}`;

/** The object under the name of its key. */
function named(object: JsonObject, { isNamespaced }: ResourceDefinition, index: number): JsonObject {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : {};
  return { ...object, metadata: { ...metadata, name: nameOf(index), ...(isNamespaced && { namespace }) } };
}

/** What was seen, with the names of `original` again. */
function unnamed(seen: JsonObject, original: JsonObject, revision: number): JsonObject {
  const { name: _name, namespace: _namespace, resourceVersion, ...rest } = seen["metadata"] as JsonObject;
  equal(resourceVersion, String(revision));
  const before = (original["metadata"] ?? {}) as JsonObject;
  const kept = Object.fromEntries(["name", "namespace", "resourceVersion"].flatMap((key) => (before[key] === undefined ? [] : [[key, before[key]]])));
  return { ...seen, metadata: { ...rest, ...kept } };
}

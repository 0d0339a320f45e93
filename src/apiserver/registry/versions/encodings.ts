/**
 * The forms in which objects are sent, each made once of a version of an object: lists, GETs and watch frames of all clients are slices of
 * the same bytes. JSON is the stored form and stays with the object; protobuf messages are kept while they are in use, up to a bound, the one
 * made first goes first. The metric `apiserver_object_encodings_total` counts every encoding.
 */
import type { Counter, MetricRegistry } from "../../../base/metrics.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import { MessageEncoder } from "../../../apimachinery/protobuf/message-encoder.ts";
import type { StoredObject } from "../../cache/stored-object.ts";
import { printed } from "../storage/object-codec.ts";
import type { ResourceDefinition } from "../resource-definition.ts";
import { isServedAsStored, readVersion } from "./convert.ts";

/** What kept messages may take. */
const defaultLimitBytes = 64 * 1024 * 1024;

export class Encodings {
  readonly #counter: Counter;
  readonly #limitBytes: number;
  readonly #encoder = new MessageEncoder();
  /** In the order in which they were made: an object with messages, and their bytes. */
  readonly #kept = new Set<StoredObject>();
  #bytes = 0;

  constructor(metrics: MetricRegistry, limitBytes = defaultLimitBytes) {
    this.#counter = metrics.counter("apiserver_object_encodings_total", "Encodings of whole objects; what is sent again of the same bytes is not counted.", [
      "group",
      "version",
      "resource",
      "content_type",
    ]);
    this.#limitBytes = limitBytes;
  }

  /** Notes that an object was encoded by somebody else. */
  count({ group, version, resource }: ResourceDefinition, contentType: string): void {
    this.#counter.add(1, group, version, resource, contentType);
  }

  /** The protobuf message of a built-in object, without an envelope, in the version of `definition`. */
  protobuf(definition: ResourceDefinition, stored: StoredObject): Uint8Array {
    const version = `${definition.group}/${definition.version}`;
    const known = stored.messages?.get(version);
    if (known !== undefined) return known;
    const object = readVersion(definition, stored);
    // What is stored is canonical already.
    const json = isServedAsStored(definition, stored) ? (object as unknown as JsonObject) : printed(definition, object);
    const message = this.#encoder.encode(json, definition.schema);
    this.count(definition, "application/vnd.kubernetes.protobuf");
    (stored.messages ??= new Map()).set(version, message);
    this.#kept.add(stored);
    this.#bytes += message.length;
    this.#trim();
    return message;
  }

  #trim(): void {
    for (const stored of this.#kept) {
      if (this.#bytes <= this.#limitBytes) return;
      for (const { length } of stored.messages!.values()) this.#bytes -= length;
      stored.messages = undefined;
      this.#kept.delete(stored);
    }
  }
}

/** Watch frames in every form: `{"type":"ADDED","object":{…}}` and its Table, metadata and protobuf relatives. */
import { encodeCbor } from "../../../apimachinery/cbor/write-cbor.ts";
import { goJson } from "../../../apimachinery/json.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { encodeProtobuf, envelopeOf, encodeWatchEventProtobuf } from "../../../apimachinery/protobuf/envelope.ts";
import type { StructSchema } from "../../../apimachinery/schema.ts";
import type { Status } from "../../../apimachinery/status.ts";
import { jsonToYaml } from "../../../apimachinery/yaml/yaml-writer.ts";
import { typeRegistry } from "../../../api/registry.ts";
import type { CacheEvent, EventType } from "../../cache/resource-cache.ts";
import type { StoredObject } from "../../cache/stored-object.ts";
import type { Negotiated } from "../../http/negotiation.ts";
import { isServedAsStored, readVersion } from "../../registry/versions/convert.ts";
import { printed } from "../../registry/storage/object-codec.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { RequestContext } from "../../request-context.ts";
import { gvkOf } from "../respond.ts";
import { bookmarkObject, printedBookmark } from "./bookmarks.ts";
import { parseIncludeObject, partialOf, partialSchema, tableOf, tableSchema } from "../reading/transform.ts";

const tail = Buffer.from("}\n");
const heads = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};

/** More than come up in one turn: a watch that catches up, which does so alone. */
const sharedEventsAtMost = 128;

export class FrameEncoder {
  readonly #context: RequestContext;
  readonly #definition: ResourceDefinition;
  readonly #form: Negotiated;
  /** Key under which frames of this form are shared between watchers; undefined when they are not. */
  readonly #sharedKey: string | undefined;
  readonly #includeObject: "None" | "Metadata" | "Object";
  #hasSentColumns = false;

  constructor(context: RequestContext, definition: ResourceDefinition, form: Negotiated) {
    this.#context = context;
    this.#definition = definition;
    this.#form = form;
    this.#sharedKey = form.transform === undefined ? `${definition.version} ${form.mediaType}` : undefined;
    this.#includeObject = parseIncludeObject(context.query);
  }

  /** The frame of a cache event, shared where the form allows it. */
  event(event: CacheEvent): Buffer {
    if (this.#sharedKey === undefined) return this.object(event.type, event.object);
    return shared(event, this.#sharedKey, () => this.object(event.type, event.object));
  }

  /**
   * The frames of events that came up together, in one piece. A watch that takes all of a collection under `keyPrefix` sees the same events
   * between two revisions as any other such watch, so that they share the piece, too.
   */
  events(events: readonly CacheEvent[], keyPrefix: string): Buffer {
    const last = events[events.length - 1]!;
    if (events.length === 1) return this.event(last);
    if (this.#sharedKey === undefined || events.length > sharedEventsAtMost) return Buffer.concat(events.map((event) => this.event(event)));
    const key = `${this.#sharedKey} ${keyPrefix} from ${events[0]!.revision}`;
    return shared(last, key, () => Buffer.concat(events.map((event) => this.event(event))));
  }

  object(type: EventType, stored: StoredObject): Buffer {
    const { transform, mediaType } = this.#form;
    if (transform === undefined && mediaType === "application/json" && isServedAsStored(this.#definition, stored))
      return Buffer.concat([heads[type], stored.toJson(), tail]);
    if (transform === undefined && mediaType === "application/vnd.kubernetes.protobuf" && this.#definition.codec === undefined)
      return Buffer.from(
        encodeWatchEventProtobuf(type, envelopeOf(this.#context.server.encodings.protobuf(this.#definition, stored), gvkOf(this.#definition))),
      );
    if (transform === undefined) this.#context.server.encodings.count(this.#definition, mediaType);
    return this.#frame(type, ...this.#shape(readVersion(this.#definition, stored)));
  }

  bookmark(revision: number, endsInitialEvents: boolean): Buffer {
    const { transform, mediaType } = this.#form;
    if (transform === undefined && mediaType === "application/json") return this.#context.server.bookmarks.json(this.#definition, revision, endsInitialEvents);
    const object = bookmarkObject(this.#definition, String(revision), endsInitialEvents);
    if (transform?.kind === "Table") return this.#frame("BOOKMARK", this.#bookmarkTable(object), tableSchema);
    if (transform !== undefined) return this.#frame("BOOKMARK", ...this.#shape(object));
    return this.#frame("BOOKMARK", printedBookmark(this.#definition, object), this.#definition.schema);
  }

  error(status: Status): Buffer {
    return this.#frame("ERROR", status as unknown as JsonObject, typeRegistry.struct("apimachinery.pkg.apis.meta.v1.Status"));
  }

  #shape(object: KubeObject): [JsonObject, StructSchema | undefined] {
    const { transform } = this.#form;
    if (transform?.kind === "Table") {
      const table = tableOf(this.#definition, [object], {
        transform,
        includeObject: this.#includeObject,
        metadata: { resourceVersion: object.metadata.resourceVersion ?? "" },
        nowMs: this.#context.server.clock.nowMs(),
        descriptions: this.#context.server.descriptions,
        withColumns: !this.#hasSentColumns,
      });
      this.#hasSentColumns = true;
      return [table, tableSchema];
    }
    if (transform !== undefined) return [partialOf(object, transform.version), partialSchema];
    return [printed(this.#definition, object), this.#definition.schema];
  }

  #bookmarkTable(object: KubeObject): JsonObject {
    const table = tableOf(this.#definition, [], {
      transform: this.#form.transform!,
      includeObject: "None",
      metadata: { resourceVersion: object.metadata.resourceVersion! },
      nowMs: 0,
      descriptions: this.#context.server.descriptions,
      withColumns: !this.#hasSentColumns,
    });
    this.#hasSentColumns = true;
    return {
      ...table,
      rows: [
        {
          cells: [...this.#definition.table!.printer.cells({ metadata: {} }, { nowMs: this.#context.server.clock.nowMs() })],
          object: this.#includeObject === "None" ? null : partialOf(object, this.#form.transform!.version),
        },
      ],
    };
  }

  #frame(type: string, object: JsonObject, schema: StructSchema | undefined): Buffer {
    switch (this.#form.mediaType) {
      case "application/json":
        return Buffer.from(`{"type":${JSON.stringify(type)},"object":${goJson(object)}}\n`);
      case "application/cbor":
        // A sequence (RFC 8742): one document after the other.
        return encodeCbor({ type, object }, schema && { shape: "map", values: schema, isAtomic: false, goName: "" });
      case "application/yaml":
        return Buffer.from(`---\n${jsonToYaml({ type, object })}`);
      case "application/vnd.kubernetes.protobuf": {
        const { apiVersion = "", kind = "" } = object as { apiVersion?: string; kind?: string };
        const bytes = schema === undefined ? Buffer.from(JSON.stringify(object)) : encodeProtobuf(object, schema, { apiVersion, kind });
        return Buffer.from(encodeWatchEventProtobuf(type, bytes));
      }
    }
  }
}

/** What an event's watchers share under `key`, made for the first of them. */
function shared(event: CacheEvent, key: string, make: () => Buffer): Buffer {
  const frames = (event.frames ??= new Map());
  let frame = frames.get(key);
  if (frame === undefined) frames.set(key, (frame = make()));
  return frame;
}

/**
 * The bookmarks of a server's watches: one timer for all that are due in the same second, and one encoding per resource, of which only the
 * revision changes, so that a thousand idle watches cost next to nothing.
 */
import { canonicalize } from "../../../apimachinery/encode/canonical.ts";
import { goJson } from "../../../apimachinery/json.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import { apiVersionOf } from "../../../apimachinery/object.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Clock } from "../../../base/clock.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";

/** Time between bookmarks. */
const bookmarkMs = 60_000;
const bucketMs = 1000;
/** Annotation of the bookmark that ends the initial events (KEP-3157). */
const initialEventsEnd = { "k8s.io/initial-events-end": "true" };

export class Bookmarks {
  readonly #clock: Clock;
  /** Who waits, by the time of the clock that ends the wait, in whole seconds. A bucket has a timer as long as somebody is in it. */
  readonly #buckets = new Map<number, Bucket>();
  readonly #templates = new WeakMap<ResourceDefinition, Partial<Record<BookmarkKind, Template>>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `callback` once, when the next bookmark is due: after a minute, and up to a second more. The returned function cancels it. */
  next(callback: () => void): () => void {
    const due = Math.ceil((this.#clock.monotonicMs() + bookmarkMs) / bucketMs);
    const bucket = this.#buckets.get(due) ?? this.#open(due);
    bucket.waiting.add(callback);
    return () => {
      if (!bucket.waiting.delete(callback) || bucket.waiting.size > 0) return;
      bucket.cancel();
      this.#buckets.delete(due);
    };
  }

  /** The frame of a bookmark as plain JSON. */
  json(definition: ResourceDefinition, revision: number, endsInitialEvents: boolean): Buffer {
    let templates = this.#templates.get(definition);
    if (templates === undefined) this.#templates.set(definition, (templates = {}));
    const [head, tail] = (templates[endsInitialEvents ? "end" : "plain"] ??= templateOf(definition, endsInitialEvents));
    return Buffer.from(`${head}${revision}${tail}`);
  }

  #open(due: number): Bucket {
    const waiting = new Set<() => void>();
    const cancel = this.#clock.after(due * bucketMs - this.#clock.monotonicMs(), () => {
      this.#buckets.delete(due);
      const called = [...waiting];
      waiting.clear();
      for (const callback of called) callback();
    });
    const bucket = { waiting, cancel };
    this.#buckets.set(due, bucket);
    return bucket;
  }
}

/** A bookmark: an object of the kind with nothing but a version. */
export function bookmarkObject(definition: ResourceDefinition, resourceVersion: string, endsInitialEvents: boolean): KubeObject {
  return {
    kind: definition.kind,
    apiVersion: apiVersionOf(definition.group, definition.version),
    metadata: { resourceVersion, ...(endsInitialEvents && { annotations: initialEventsEnd }) },
  };
}

/** A bookmark as it is sent where no other form was asked for: built-in kinds with the fields that they always have. */
export function printedBookmark(definition: ResourceDefinition, object: KubeObject): JsonObject {
  return definition.isCustom ? (object as unknown as JsonObject) : canonicalize(object as unknown as JsonObject, definition.schema);
}

interface Bucket {
  readonly waiting: Set<() => void>;
  readonly cancel: () => void;
}

type BookmarkKind = "plain" | "end";
/** What stands before and after the revision. */
type Template = readonly [head: string, tail: string];

function templateOf(definition: ResourceDefinition, endsInitialEvents: boolean): Template {
  const version = '"resourceVersion":"';
  const text = goJson(printedBookmark(definition, bookmarkObject(definition, "0", endsInitialEvents)));
  const at = text.indexOf(version) + version.length;
  return [`{"type":"BOOKMARK","object":${text.slice(0, at)}`, `${text.slice(at + 1)}}\n`];
}

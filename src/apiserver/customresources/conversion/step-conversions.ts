/**
 * Conversions for a step that is pure and cannot wait: what has not been converted yet is thrown, converted, and the step begun again. One
 * per step; what it knows goes with it, since a webhook may answer otherwise next time.
 */
import { deepCopy, goJson } from "../../../apimachinery/json.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";

export class StepConversions {
  readonly #convert: (object: JsonObject, version: string) => Promise<JsonObject>;
  readonly #known = new Map<string, JsonObject>();

  constructor(convert: (object: JsonObject, version: string) => Promise<JsonObject>) {
    this.#convert = convert;
  }

  /** The object in another version. Only within `run`. */
  readonly get = (object: JsonObject, version: string): JsonObject => {
    const key = `${version} ${goJson(object)}`;
    const known = this.#known.get(key);
    if (known === undefined) throw new Unconverted(object, version, key);
    return deepCopy(known);
  };

  /** What `step` returns. Rejects with what it throws, or with the failure of a conversion. */
  async run<T>(step: () => T): Promise<T> {
    for (;;) {
      try {
        return step();
      } catch (error) {
        if (!(error instanceof Unconverted)) throw error;
        this.#known.set(error.key, await this.#convert(error.object, error.version));
      }
    }
  }
}

class Unconverted extends Error {
  readonly object: JsonObject;
  readonly version: string;
  readonly key: string;

  constructor(object: JsonObject, version: string, key: string) {
    super("an object has not been converted yet");
    this.object = object;
    this.version = version;
    this.key = key;
  }
}

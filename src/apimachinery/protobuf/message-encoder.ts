/** Encodes message after message in one buffer, so that each costs no more than its own bytes. */
import type { JsonObject } from "../json.ts";
import type { StructSchema } from "../schema.ts";
import { writeMessage } from "./encode.ts";
import { messagePlan } from "./plan.ts";
import { BackwardWriter } from "./wire.ts";

export class MessageEncoder {
  readonly #writer = new BackwardWriter();

  /** The message of `object`, without an envelope. */
  encode(object: JsonObject, schema: StructSchema): Uint8Array {
    writeMessage(this.#writer, object, messagePlan(schema));
    return this.#writer.take();
  }
}

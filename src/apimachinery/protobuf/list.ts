/** Lists of many objects as protobuf, made item by item so that others can run in between. */
import type { JsonObject } from "../json.ts";
import type { ListSchema, StructSchema } from "../schema.ts";
import { writeMessage } from "./encode.ts";
import { closeEnvelope, openEnvelopeWriter } from "./envelope.ts";
import { messagePlan } from "./plan.ts";

export interface ProtobufList {
  /** The list without its items. */
  readonly head: JsonObject;
  readonly schema: StructSchema;
  readonly apiVersion: string;
  readonly kind: string;
  readonly count: number;
  /** Item number `index`; asked for once each, the last one first. */
  readonly itemAt: (index: number) => JsonObject;
}

/** The list in its envelope. After each item `pause` may ask for a break. */
export async function encodeProtobufList(
  { head, schema, apiVersion, kind, count, itemAt }: ProtobufList,
  pause: () => Promise<void> | undefined,
): Promise<Uint8Array> {
  const items = schema.fields.get("items")!;
  const itemPlan = messagePlan((items.schema as ListSchema).items as StructSchema);
  const { writer, afterRaw } = openEnvelopeWriter();
  for (let index = count - 1; index >= 0; index--) {
    const before = writer.length;
    writeMessage(writer, itemAt(index), itemPlan);
    writer.closeMessage(items.protobufNumber, before);
    const paused = pause();
    if (paused !== undefined) await paused;
  }
  // Items are the last field of every list.
  writeMessage(writer, head, messagePlan(schema));
  return closeEnvelope(writer, afterRaw, { apiVersion, kind });
}

/** How a struct lies on the wire: its fields by number, embedded structs as messages of their own. Derived once per schema. */
import type { FieldSchema, Schema, StructSchema } from "../schema.ts";

export interface MessagePlan {
  readonly schema: StructSchema;
  /** Ascending by number. */
  readonly entries: readonly PlanEntry[];
  readonly byNumber: ReadonlyMap<number, PlanEntry>;
}

/** A field, or an embedded struct, whose members stand in the same JSON object. */
export type PlanEntry =
  | { readonly number: number; readonly field: FieldSchema; readonly embedded?: undefined }
  | { readonly number: number; readonly embedded: MessagePlan; readonly field?: undefined };

const plans = new WeakMap<StructSchema, MessagePlan>();

export function messagePlan(schema: StructSchema): MessagePlan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = planOf([...schema.fields.values()], schema, 0);
    plans.set(schema, plan);
  }
  return plan;
}

/** The plan of `fields`, of which `depth` embedded structs are already open. */
function planOf(fields: readonly FieldSchema[], schema: StructSchema, depth: number): MessagePlan {
  const entries: PlanEntry[] = [];
  const groups = new Map<number, FieldSchema[]>();
  for (const field of fields) {
    const group = field.embedded[depth];
    if (group === undefined) {
      if (field.protobufNumber > 0) entries.push({ number: field.protobufNumber, field });
    } else {
      groups.set(group.protobufNumber, [...(groups.get(group.protobufNumber) ?? []), field]);
    }
  }
  for (const [number, members] of groups) if (number > 0) entries.push({ number, embedded: planOf(members, schema, depth + 1) });
  entries.sort((left, right) => left.number - right.number);
  return { schema, entries, byNumber: new Map(entries.map((entry) => [entry.number, entry])) };
}

/** Named lists of texts (ExtraValue, Verbs) are messages with one repeated field, so that nil can be told from empty. */
export function isListMessage(schema: Schema): boolean {
  return schema.shape === "list" && !schema.goName.startsWith("[]") && schema.items.shape === "scalar";
}

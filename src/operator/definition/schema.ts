/**
 * Schemas of custom resources in TypeScript: each value is at once the OpenAPI schema that the server enforces (documentation page
 * "Extend the Kubernetes API with CustomResourceDefinitions") and, by `Infer`, the type of the objects that come back from it.
 */
import type { JSONSchemaProps } from "../../api/apiextensions-v1/types.ts";
import type { JsonValue } from "../../apimachinery/json.ts";

/**
 * - required: must be given
 * - optional: may be missing, also when read
 * - defaulted: may be left out, and is there when read: the server fills it in
 */
export type Presence = "required" | "optional" | "defaulted";

/** A structural OpenAPI schema (`json`) that knows the TypeScript type of its values; `schema` makes them. Each method returns a new one. */
export class Schema<T = unknown, P extends Presence = Presence> {
  readonly json: JSONSchemaProps;
  readonly presence: P;
  /** Carries `T`; never set. */
  declare readonly type: T;

  constructor(json: JSONSchemaProps, presence: P) {
    this.json = json;
    this.presence = presence;
  }

  /** May be missing. */
  optional(): Schema<T, "optional"> {
    return new Schema<T, "optional">(this.json, "optional");
  }

  /** What the server fills in. */
  default(value: T): Schema<T, "defaulted"> {
    return new Schema<T, "defaulted">({ ...this.json, default: value as JsonValue }, "defaulted");
  }

  /** What `kubectl explain` shows. */
  describe(description: string): Schema<T, P> {
    return new Schema<T, P>({ ...this.json, description }, this.presence);
  }

  /** A rule in CEL over `self` (and `oldSelf`: then it holds for changes only), and what a refusal says. */
  rule(rule: string, message: string): Schema<T, P> {
    const rules = [...(this.json["x-kubernetes-validations"] ?? []), { rule, message }];
    return new Schema<T, P>({ ...this.json, "x-kubernetes-validations": rules }, this.presence);
  }

  /** Cannot change once it is set. */
  immutable(message = "cannot be changed"): Schema<T, P> {
    return this.rule("self == oldSelf", message);
  }
}

/** The type of a value as it is read: what has a default is there. */
export type Infer<S extends Schema> = S["type"];

export type Members = Readonly<Record<string, Schema>>;
type ObjectOf<M extends Members> = Flat<
  { -readonly [Key in keyof M as M[Key] extends Schema<unknown, "optional"> ? never : Key]: M[Key]["type"] } & {
    -readonly [Key in keyof M as M[Key] extends Schema<unknown, "optional"> ? Key : never]?: M[Key]["type"];
  }
>;
type Flat<T> = { [Key in keyof T]: T[Key] };

interface TextLimits {
  readonly minLength?: number;
  readonly maxLength?: number;
  /** RE2. */
  readonly pattern?: string;
  /** `date-time`, `duration`, `ipv4`, `uri`, `byte` and the like. */
  readonly format?: string;
}
interface NumberLimits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
}
interface ListLimits {
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Members that identify an item: server-side apply then merges items, as it does containers by their name. */
  readonly keys?: readonly string[];
}

const required = <T>(json: JSONSchemaProps) => new Schema<T, "required">(json, "required");

/** What schemas are made of. */
export const schema = {
  text: (limits: TextLimits = {}) => required<string>({ type: "string", ...limits }),
  integer: (limits: NumberLimits = {}) => required<number>({ type: "integer", format: "int64", ...limits }),
  number: (limits: NumberLimits = {}) => required<number>({ type: "number", ...limits }),
  boolean: () => required<boolean>({ type: "boolean" }),
  /** One of these words. */
  oneOf: <const Word extends string>(...words: readonly Word[]) => required<Word>({ type: "string", enum: [...words] }),
  /** An amount: `500m`, `10Gi`, or a number. */
  quantity: () => required<string | number>({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }], pattern: quantityPattern }),
  /** An instant, RFC 3339. */
  time: () => required<string>({ type: "string", format: "date-time" }),
  object: <M extends Members>(members: M) => {
    const names = Object.entries(members).filter(([, member]) => member.presence === "required");
    return required<ObjectOf<M>>({
      type: "object",
      properties: Object.fromEntries(Object.entries(members).map(([name, member]) => [name, member.json])),
      ...(names.length > 0 && { required: names.map(([name]) => name) }),
    });
  },
  list: <S extends Schema>(items: S, { keys, ...limits }: ListLimits = {}) =>
    required<S["type"][]>({
      type: "array",
      items: items.json as JsonValue,
      ...limits,
      ...(keys !== undefined && { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [...keys] }),
    }),
  map: <S extends Schema>(values: S) => required<Record<string, S["type"]>>({ type: "object", additionalProperties: values.json as JsonValue }),
  /** Any object, kept as it is. `T` is what it is trusted to be, such as a PodSpec. */
  anything: <T = Record<string, unknown>>() => required<T>({ type: "object", "x-kubernetes-preserve-unknown-fields": true }),
} as const;

const quantityPattern = "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

/** metav1.Condition, as custom resources' status lists it. */
export const conditionsSchema = schema
  .list(
    schema.object({
      type: schema.text({ maxLength: 316 }),
      status: schema.oneOf("True", "False", "Unknown"),
      observedGeneration: schema.integer().optional(),
      lastTransitionTime: schema.time(),
      reason: schema.text({ minLength: 1, maxLength: 1024, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" }),
      message: schema.text({ maxLength: 32_768 }),
    }),
    { keys: ["type"] },
  )
  .optional();

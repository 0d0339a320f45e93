import type { StructType } from "../check/types.ts";
import { CelError, ObjectValue } from "./values.ts";
import type { Value } from "./values.ts";

/** An object that an expression builds: `Object.spec{replicas: 2}`. */
export class StructValue extends ObjectValue {
  readonly type: StructType;
  readonly members: ReadonlyMap<string, Value>;

  constructor(type: StructType, members: ReadonlyMap<string, Value>) {
    super();
    this.type = type;
    this.members = members;
  }

  override get typeName(): string {
    return this.type.name;
  }

  override field(name: string): Value | undefined {
    return this.members.get(name) ?? (this.members.has(name) || this.type.field(name) !== undefined ? undefined : new CelError(`no such field '${name}'`));
  }

  override fieldNames(): Iterable<string> {
    return this.members.keys();
  }
}

/** CEL's types, and the two ways of writing them: as the checker's faults do (`timestamp`) and as values tell their type (`google.protobuf.Timestamp`). */

export type CelType = SimpleType | ParameterizedType | StructType | TypeParameter;

export interface SimpleType {
  readonly kind: SimpleKind;
}
export type SimpleKind = "null" | "bool" | "int" | "uint" | "double" | "string" | "bytes" | "timestamp" | "duration" | "dyn" | "error";

/** `opaque` are types of a library that hold nothing but themselves (`net.IP`), and `optional_type(T)`. */
export interface ParameterizedType {
  readonly kind: "list" | "map" | "type" | "opaque";
  readonly name: string;
  readonly parameters: readonly CelType[];
  /** Lists whose order does not count: items are told apart by themselves (`[]`), or by these fields. */
  readonly listKeys?: readonly string[];
}

/** An object type with declared fields. Types may refer to themselves: fields are looked up, not compared. */
export interface StructType {
  readonly kind: "struct";
  readonly name: string;
  /** The field as CEL names it; undefined when there is none. */
  readonly field: (name: string) => StructTypeField | undefined;
  /** What a field that does not exist does to an object literal: most types say the field is undefined, some that its type is ''. */
  readonly hasSilentFields?: boolean;
  /** The name in CEL of a member of its JSON, where they differ. */
  readonly celName?: (jsonName: string) => string;
}

export interface StructTypeField {
  readonly type: CelType;
  /** Name in JSON, where it differs. */
  readonly jsonName?: string;
}

export interface TypeParameter {
  readonly kind: "parameter";
  readonly name: string;
}

function simple(kind: SimpleKind): SimpleType {
  return { kind };
}

export const nullType = simple("null");
export const boolType = simple("bool");
export const intType = simple("int");
export const uintType = simple("uint");
export const doubleType = simple("double");
export const stringType = simple("string");
export const bytesType = simple("bytes");
export const timestampType = simple("timestamp");
export const durationType = simple("duration");
export const dynType = simple("dyn");
export const errorType = simple("error");

export function listType(items: CelType): ParameterizedType {
  return { kind: "list", name: "list", parameters: [items] };
}

export function mapType(keys: CelType, values: CelType): ParameterizedType {
  return { kind: "map", name: "map", parameters: [keys, values] };
}

export function typeType(of: CelType = dynType): ParameterizedType {
  return { kind: "type", name: "type", parameters: [of] };
}

export function opaqueType(name: string, ...parameters: CelType[]): ParameterizedType {
  return { kind: "opaque", name, parameters };
}

export function optionalType(of: CelType): ParameterizedType {
  return opaqueType("optional_type", of);
}

export function parameter(name: string): TypeParameter {
  return { kind: "parameter", name };
}

/** An object type without fields that expressions could name, such as a library's. */
export function closedStructType(name: string): StructType {
  return { kind: "struct", name, field: () => undefined };
}

export function isDynOrError(type: CelType): boolean {
  return type.kind === "dyn" || type.kind === "error";
}

/** T of `optional_type(T)`. */
export function unwrapOptional(type: CelType): CelType | undefined {
  return type.kind === "opaque" && type.name === "optional_type" ? type.parameters[0] : undefined;
}

export function parametersOf(type: CelType): readonly CelType[] {
  return type.kind === "list" || type.kind === "map" || type.kind === "type" || type.kind === "opaque" ? type.parameters : [];
}

export function isSameType(left: CelType, right: CelType): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind || nameOf(left) !== nameOf(right)) return false;
  const [a, b] = [parametersOf(left), parametersOf(right)];
  return a.length === b.length && a.every((type, index) => isSameType(type, b[index]!));
}

/** Types between which nothing but the parameters' names differs. */
export function isEquivalentType(left: CelType, right: CelType): boolean {
  if (left === right) return true;
  if (left.kind === "parameter" || right.kind === "parameter") return left.kind === right.kind;
  if (left.kind !== right.kind || nameOf(left) !== nameOf(right)) return false;
  const [a, b] = [parametersOf(left), parametersOf(right)];
  return a.length === b.length && a.every((type, index) => isEquivalentType(type, b[index]!));
}

export function nameOf(type: CelType): string {
  return "name" in type ? type.name : type.kind;
}

/** As faults show it: `list(timestamp)`. */
export function formatType(type: CelType): string {
  if (type.kind === "error") return "!error!";
  return withParameters(nameOf(type), parametersOf(type), formatType);
}

const runtimeNames: Partial<Record<SimpleKind, string>> = {
  null: "null_type",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  error: "*error*",
};

/** As `type()` shows it and as callers tell what an expression evaluates to: `list(google.protobuf.Timestamp)`. */
export function runtimeTypeName(type: CelType): string {
  return withParameters(runtimeNames[type.kind as SimpleKind] ?? nameOf(type), parametersOf(type), runtimeTypeName);
}

function withParameters(name: string, parameters: readonly CelType[], show: (type: CelType) => string): string {
  return parameters.length === 0 ? name : `${name}(${parameters.map(show).join(", ")})`;
}

/** `(int, string)`, or `int.(string)` for a call on a target. */
export function formatCall(args: readonly CelType[], isMember: boolean): string {
  if (!isMember) return `(${args.map(formatType).join(", ")})`;
  return `${formatType(args[0]!)}.(${args.slice(1).map(formatType).join(", ")})`;
}

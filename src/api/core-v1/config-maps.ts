/** ConfigMaps (API reference "ConfigMap v1 core"). */
import { forbidden, invalid, invalidEach, tooLong } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isConfigMapKey } from "../../apimachinery/formats.ts";
import { byteLength, subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { isSame } from "../update-rules.ts";
import type { ConfigMap } from "./types.ts";

export const configMaps = defineKind<ConfigMap>({
  gvk: { group: "", version: "v1", kind: "ConfigMap" },
  nameRule: subdomainName,
  generation: "none",
  create: { validate: validateConfigMap },
  update: { validate: (map, old) => [...validateSealed(map, old, ["data", "binaryData"]), ...validateConfigMap(map)] },
});

/** Secrets and ConfigMaps hold up to 1 MiB. */
export const maxDataBytes = 1024 * 1024;
/** The path of the object itself, as upstream prints it. */
const wholeObject = FieldPath.root("[]");

function validateConfigMap({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  const errors = Object.keys(data)
    .sort()
    .flatMap((key) => {
      const path = FieldPath.root("data").key(key);
      return [
        ...invalidEach(path, key, isConfigMapKey(key)),
        ...(Object.hasOwn(binaryData, key) ? [invalid(path, key, "duplicate of key present in binaryData")] : []),
      ];
    });
  errors.push(
    ...Object.keys(binaryData)
      .sort()
      .flatMap((key) => invalidEach(FieldPath.root("binaryData").key(key), key, isConfigMapKey(key))),
  );
  const bytes = Object.values(data).reduce((sum, value) => sum + byteLength(value), 0) + sizeOfBase64(binaryData);
  return bytes > maxDataBytes ? [...errors, tooLong(wholeObject, maxDataBytes)] : errors;
}

/** Bytes behind values in base64. */
export function sizeOfBase64(values: Readonly<Record<string, string>>): number {
  return Object.values(values).reduce((sum, value) => sum + Buffer.byteLength(value ?? "", "base64"), 0);
}

interface Sealable {
  immutable?: boolean;
  [member: string]: unknown;
}

/** What `immutable` forbids: to take it back, and to change `fields`. */
export function validateSealed(object: Sealable, old: Sealable, fields: readonly string[]): FieldError[] {
  if (old.immutable !== true) return [];
  const text = "field is immutable when `immutable` is set";
  return [
    ...(object.immutable === true ? [] : [forbidden(FieldPath.root("immutable"), text)]),
    ...fields.filter((field) => !isSame(object[field], old[field])).map((field) => forbidden(FieldPath.root(field), text)),
  ];
}

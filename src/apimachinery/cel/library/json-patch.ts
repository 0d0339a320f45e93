/** What expressions of JSON patches have besides: the operations themselves, and escaping for their paths. */
import { declare, overload } from "../check/declarations.ts";
import { dynType, stringType } from "../check/types.ts";
import type { CelType, StructType } from "../check/types.ts";
import type { Library } from "../environment.ts";

const fields: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ["op", stringType],
  ["from", stringType],
  ["path", stringType],
  ["value", dynType],
]);

/** `JSONPatch{op: "add", path: "/a", value: 1}`. */
export const jsonPatchType: StructType = {
  kind: "struct",
  name: "JSONPatch",
  hasSilentFields: true,
  field: (name) => {
    const type = fields.get(name);
    return type === undefined ? undefined : { type };
  },
};

export const jsonPatchLibrary: Library = {
  name: "jsonpatch",
  types: new Map([[jsonPatchType.name, jsonPatchType]]),
  functions: [
    declare(
      "jsonpatch.escapeKey",
      overload("string_jsonpatch_escapeKey_string", [stringType], stringType, (key) => (key as string).replaceAll("~", "~0").replaceAll("/", "~1")),
    ),
  ],
};

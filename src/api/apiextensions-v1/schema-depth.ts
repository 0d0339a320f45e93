/** How deep schemas may be nested: whatever reads them descends by recursion. Upstream has no such limit but its stack's. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import type { CustomResourceDefinitionVersion } from "./types.ts";

/** Levels of JSON: a property takes two. */
const maxDepth = 512;

export function validateDepth(versions: readonly CustomResourceDefinitionVersion[], path: FieldPath): FieldError[] {
  return versions.flatMap(({ schema }, index) =>
    isDeeper(schema?.openAPIV3Schema, maxDepth)
      ? [forbidden(path.index(index).child("schema", "openAPIV3Schema"), `must not be nested deeper than ${maxDepth} levels`)]
      : [],
  );
}

function isDeeper(root: unknown, limit: number): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value).filter((member) => typeof member === "object") : []));
  }
  return false;
}

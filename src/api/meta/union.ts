/** Unions: of some members exactly one is to be there. */
import { invalid } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";

export function validateUnion(value: object | undefined, members: readonly string[], path: FieldPath): FieldError[] {
  const set = members.filter((name) => {
    const member = (value as Record<string, unknown> | undefined)?.[name];
    return member !== undefined && member !== null && !(Array.isArray(member) && member.length === 0);
  });
  if (set.length === 1) return [];
  const names = members.map((name) => `\`${name}\``).join(", ");
  return set.length === 0
    ? [invalid(path, "", `must specify one of: ${names}`)]
    : [invalid(path, `{${set.join(", ")}}`, `must specify exactly one of: ${names}`)];
}

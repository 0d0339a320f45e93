/** Names of properties as expressions write them: keywords and signs that names may not have are spelled out. */
import { reservedNames } from "../syntax/literals.ts";

/** Words that are no names. */
export const keywords: ReadonlySet<string> = new Set(["true", "false", "null", "in", ...reservedNames]);
const spelled: Readonly<Record<string, string>> = { __: "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__" };

/** `a-b` → `a__dash__b`; undefined for names that expressions cannot reach. */
export function escapePropertyName(name: string): string | undefined {
  if (!/^[A-Za-z_][\w.\-/]*$/.test(name)) return undefined;
  if (keywords.has(name)) return `__${name}__`;
  return name.replace(/__|[.\-/]/g, (sign) => spelled[sign]!);
}

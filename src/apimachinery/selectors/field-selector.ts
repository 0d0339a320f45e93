/**
 * Field selectors (API concept "Field Selectors"): terms `field=value`, `field==value`, `field!=value`, joined by commas.
 * `\`, `,` and `=` in a value are written with a backslash in front.
 */
import { SelectorError } from "./label-requirement.ts";

/** Parses the text of a `fieldSelector` parameter; terms come sorted. Throws `SelectorError` with Kubernetes' text (a 400 of the caller). */
export function parseFieldSelector(text: string): FieldSelector {
  const parts = splitTerms(text).filter((part) => part !== "");
  return parts.sort().map((part) => {
    const term = /^(.*?)(!=|==|=)(.*)$/s.exec(part);
    if (term === null) throw new SelectorError(`invalid selector: '${text}'; can't understand '${part}'`);
    return { field: term[1]!, isEqual: term[2] !== "!=", value: unescapeValue(term[3]!) };
  });
}

/** All terms must hold; no terms select everything. */
export type FieldSelector = readonly FieldTerm[];

export interface FieldTerm {
  readonly field: string;
  /** False for `!=`. */
  readonly isEqual: boolean;
  readonly value: string;
}

/** Whether an object whose selectable fields are `fields` is selected. An absent field is empty. */
export function matchesFields(selector: FieldSelector, fields: Readonly<Record<string, string>>): boolean {
  return selector.every(({ field, isEqual, value }) => (Object.hasOwn(fields, field) ? fields[field] === value : value === "") === isEqual);
}

/** The value that `field` must have, when the selector says so. */
export function exactFieldValue(selector: FieldSelector, field: string): string | undefined {
  return selector.find((term) => term.isEqual && term.field === field)?.value;
}

/** Canonical text: `a=b,c!=d`, values escaped. */
export function fieldSelectorText(selector: FieldSelector): string {
  return selector.map(({ field, isEqual, value }) => `${field}${isEqual ? "=" : "!="}${escapeFieldValue(value)}`).join(",");
}

export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, "\\$&");
}

/** Splits at commas that no backslash precedes. */
function splitTerms(text: string): string[] {
  return text.match(/(?:\\[^]|[^\\,]|\\$)+/g) ?? [];
}

function unescapeValue(value: string): string {
  let plain = "";
  const characters = value[Symbol.iterator]();
  for (const character of characters) {
    if (character === "," || character === "=") throw new SelectorError(`invalid field selector: unescaped character in value: ${character.codePointAt(0)}`);
    if (character !== "\\") {
      plain += character;
      continue;
    }
    const next = characters.next();
    const escaped = next.done === true ? "" : next.value;
    if (escaped !== "\\" && escaped !== "," && escaped !== "=") throw new SelectorError(`invalid field selector: invalid escape sequence: \\${escaped}`);
    plain += escaped;
  }
  return plain;
}

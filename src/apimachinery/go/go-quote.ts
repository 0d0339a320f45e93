/** Text as Go quotes it (`%q`): how every error text of the API shows a name or value. */

const shortEscapes: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

/** Characters that need no closer look: printable ASCII but for quote and backslash. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u;

export function goQuote(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  let out = '"';
  for (const character of text) out += quoteCharacter(character);
  return `${out}"`;
}

function quoteCharacter(character: string): string {
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0)!;
  if (code === 0x20 || (code > 0x20 && code < 0x7f)) return character;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  // Half a surrogate pair is no character.
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  if (printable.test(character)) return character;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

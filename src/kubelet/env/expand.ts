/**
 * References to variables in commands, arguments and values: `$(NAME)` becomes the value, `$$` a dollar sign, an unknown name stays as it
 * is written (API fields `command`, `args`, `env.value`). Pure.
 */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  let result = "";
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    const next = text[at + 1];
    if (char !== "$" || next === undefined) {
      result += char;
    } else if (next === "$") {
      result += "$";
      at++;
    } else if (next === "(") {
      const end = text.indexOf(")", at);
      // An opening without an end is copied.
      if (end < 0) {
        result += "$(";
        at++;
        continue;
      }
      const name = text.slice(at + 2, end);
      result += variables.get(name) ?? `$(${name})`;
      at = end;
    } else {
      result += char + next;
      at++;
    }
  }
  return result;
}

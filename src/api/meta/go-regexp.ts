/** Regular expressions as Go's regexp package reads them (RE2): what it refuses, in its words. */

/** Go's error text, or undefined for a legal expression. */
export function goRegexpFault(expression: string): string | undefined {
  const fault = scan(expression);
  return fault === undefined ? undefined : `error parsing regexp: ${fault}`;
}

const legalEscapes = /^\\(?:[aftnrvdDsSwWbBAzCQE]|[^A-Za-z0-9]|x[0-9A-Fa-f]{2}|x\{[0-9A-Fa-f]+\}|[0-7]{2,3}|0|[pP](?:\{\^?\w+\}|[A-Z]))/;
const legalGroups = /^\(\?(?:[imsU]*(?:-[imsU]+)?:|[imsU]*(?:-[imsU]+)?\)|P?<[A-Za-z_]\w*>)/;

function scan(expression: string): string | undefined {
  let open = 0;
  let canRepeat = false;
  for (let at = 0; at < expression.length;) {
    const rest = expression.slice(at);
    if (rest[0] === "\\") {
      const escape = legalEscapes.exec(rest)?.[0];
      if (escape === undefined) return rest.length === 1 ? "trailing backslash at end of expression: ``" : `invalid escape sequence: \`${rest.slice(0, 2)}\``;
      at += escape.length;
      canRepeat = true;
    } else if (rest[0] === "[") {
      const end = classEnd(rest);
      if (typeof end === "string") return end;
      at += end;
      canRepeat = true;
    } else if (rest[0] === "(") {
      if (rest.startsWith("(?") && !legalGroups.test(rest)) return `invalid or unsupported Perl syntax: \`${/^\(\?<?[!=]?/.exec(rest)![0]}\``;
      const flags = /^\(\?[imsU-]+\)/.exec(rest)?.[0];
      if (flags === undefined) open++;
      at += flags?.length ?? legalGroups.exec(rest)?.[0].length ?? 1;
      canRepeat = false;
    } else if (rest[0] === ")") {
      if (open-- === 0) return `unexpected ): \`${expression}\``;
      at++;
      canRepeat = true;
    } else {
      const repetition = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(rest)?.[0];
      if (repetition === undefined) {
        canRepeat = rest[0] !== "|" && rest[0] !== "^";
        at++;
        continue;
      }
      const fault = repetitionFault(repetition, canRepeat, rest);
      if (fault !== undefined) return fault;
      at += repetition.length + (rest[repetition.length] === "?" ? 1 : 0);
      const next = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(expression.slice(at))?.[0];
      if (next !== undefined) return `invalid nested repetition operator: \`${expression.slice(at - repetition.length, at)}${next}\``;
    }
  }
  return open > 0 ? `missing closing ): \`${expression}\`` : undefined;
}

const maxRepetitions = 1000;

function repetitionFault(repetition: string, canRepeat: boolean, rest: string): string | undefined {
  if (!canRepeat) return `missing argument to repetition operator: \`${repetition}\``;
  const [low, high] = repetition
    .slice(1, -1)
    .split(",")
    .map((count) => (count === "" ? undefined : Number(count)));
  const isCounted = rest.startsWith("{");
  const isIllegal = isCounted && ((low ?? 0) > maxRepetitions || (high ?? 0) > maxRepetitions || (high !== undefined && high < (low ?? 0)));
  return isIllegal ? `invalid repeat count: \`${repetition}\`` : undefined;
}

/** Length of the class that `text` begins with, or what is wrong with it. */
function classEnd(text: string): number | string {
  let at = text[1] === "^" ? 2 : 1;
  const first = at;
  while (at < text.length && (text[at] !== "]" || at === first)) {
    const named = /^\[:\^?\w+:\]/.exec(text.slice(at))?.[0];
    const escape = text[at] === "\\" ? legalEscapes.exec(text.slice(at))?.[0] : undefined;
    if (text[at] === "\\" && escape === undefined) return `invalid escape sequence: \`${text.slice(at, at + 2)}\``;
    const range = named === undefined && escape === undefined ? /^([^\]\\])-([^\]\\])/u.exec(text.slice(at)) : null;
    if (range !== null && range[1]!.codePointAt(0)! > range[2]!.codePointAt(0)!) return `invalid character class range: \`${range[0]}\``;
    at += named?.length ?? escape?.length ?? range?.[0].length ?? 1;
  }
  return at < text.length ? at + 1 : `missing closing ]: \`${text}\``;
}

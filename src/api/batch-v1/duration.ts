/** Lengths of time as Go writes them: `1h30m`, `-1.5s`, `300ms`. */

const secondsOf: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, µs: 1e-6, μs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** The length in seconds, or what Go says is wrong with the text. */
export function parseDuration(text: string): { readonly seconds: number } | { readonly fault: string } {
  const quoted = JSON.stringify(text);
  const unsigned = text.replace(/^[+-]/, "");
  if (unsigned === "0") return { seconds: 0 };
  if (unsigned === "") return { fault: `time: invalid duration ${quoted}` };
  let seconds = 0;
  for (let rest = unsigned; rest !== "";) {
    const [part, number, unit] = /^(\d*(?:\.\d*)?)([^\d.]*)/.exec(rest) as unknown as [string, string, string];
    if (number === "" || number === ".") return { fault: `time: invalid duration ${quoted}` };
    if (unit === "") return { fault: `time: missing unit in duration ${quoted}` };
    const length = secondsOf[unit];
    if (length === undefined) return { fault: `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}` };
    seconds += Number(number) * length;
    rest = rest.slice(part.length);
  }
  return { seconds: text.startsWith("-") ? -seconds : seconds };
}

/** Fields that are a number or a text: ports by number or name, counts or percentages (API type IntOrString). */

export type IntOrString = number | string;

/** The count that `value` means out of `total`: numbers as they are, `"25%"` rounded up or down. Undefined for another text. */
export function scaledCount(value: IntOrString, total: number, rounding: "up" | "down"): number | undefined {
  if (typeof value === "number") return value;
  const percent = percentOf(value);
  if (percent === undefined) return undefined;
  const exact = (percent * total) / 100;
  return rounding === "up" ? Math.ceil(exact) : Math.floor(exact);
}

/** `"25%"` → 25; undefined for what is no percentage. */
export function percentOf(value: string): number | undefined {
  return /^[+-]?\d+%$/.test(value) ? Number(value.slice(0, -1)) : undefined;
}

/** As Go prints it: the number or the text. */
export function intOrStringText(value: IntOrString): string {
  return String(value);
}

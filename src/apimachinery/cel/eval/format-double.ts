/** A double with as few digits as tell it apart, as Go's `%g` prints it: an exponent below -4 and from 6 on, of two digits at least. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const [mantissa, exponentText] = value.toExponential().split("e") as [string, string];
  const exponent = Number(exponentText);
  const digits = mantissa.replace(/[-.]/g, "").length;
  if (exponent >= -4 && exponent < 6) return value.toFixed(Math.max(digits - 1 - exponent, 0));
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${Math.abs(exponent).toString().padStart(2, "0")}`;
}

/** How YAML 1.1 reads plain words, as the Go reader that the API server uses does: `yes` and `on` are booleans, `010` is eight. */

/** A resolved scalar. Numbers come as JSON text; `unsupported` is a value that JSON lacks. */
export type YamlScalar =
  | { readonly kind: "string" | "number" | "unsupported"; readonly text: string }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "null" };

/** The value of a plain scalar without a tag. */
export function resolvePlain(text: string): YamlScalar {
  const word = words.get(text);
  if (word !== undefined) return word;
  return /^[-+.\d]/.test(text) ? (resolveNumber(text) ?? { kind: "string", text }) : { kind: "string", text };
}

/** The value of a scalar with an explicit tag such as `!!int`, or undefined when the text does not fit it. */
export function resolveTagged(text: string, tag: string): YamlScalar | undefined {
  const plain = resolvePlain(text);
  switch (tag) {
    case "!!str":
    case "!":
    case "!!timestamp":
      return { kind: "string", text };
    case "!!binary":
      return { kind: "string", text: Buffer.from(text, "base64").toString("utf8") };
    case "!!null":
      return plain.kind === "null" ? plain : undefined;
    case "!!bool":
      return plain.kind === "bool" ? plain : undefined;
    case "!!int":
      return plain.kind === "number" && /^-?\d+$/.test(plain.text) ? plain : undefined;
    case "!!float":
      return plain.kind === "number" || plain.kind === "unsupported" ? plain : undefined;
    default:
      return { kind: "string", text };
  }
}

function bothCases(word: string): string[] {
  return [word, word[0]!.toUpperCase() + word.slice(1), word.toUpperCase()];
}

const words: ReadonlyMap<string, YamlScalar> = new Map<string, YamlScalar>([
  ...["y", "yes", "true", "on"].flatMap(bothCases).map((word): [string, YamlScalar] => [word, { kind: "bool", value: true }]),
  ...["n", "no", "false", "off"].flatMap(bothCases).map((word): [string, YamlScalar] => [word, { kind: "bool", value: false }]),
  ...["", "~", ...bothCases("null")].map((word): [string, YamlScalar] => [word, { kind: "null" }]),
  ...[".nan", ".NaN", ".NAN"].map((word): [string, YamlScalar] => [word, { kind: "unsupported", text: "NaN" }]),
  ...["", "+"].flatMap((sign) => [".inf", ".Inf", ".INF"].map((word): [string, YamlScalar] => [sign + word, { kind: "unsupported", text: "+Inf" }])),
  ...["-.inf", "-.Inf", "-.INF"].map((word): [string, YamlScalar] => [word, { kind: "unsupported", text: "-Inf" }]),
]);

const integer = /^([-+]?)(?:(0[xX])([\da-fA-F]+)|(0[oO]?)([0-7]+)|(0[bB])([01]+)|(0|[1-9]\d*))$/;
const float = /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/;

function resolveNumber(text: string): YamlScalar | undefined {
  const digits = text.replaceAll("_", "");
  const match = integer.exec(digits);
  if (match !== null) {
    const [, sign, , hex, , octal, , binary, decimal] = match;
    const magnitude =
      hex !== undefined ? BigInt(`0x${hex}`) : octal !== undefined ? BigInt(`0o${octal}`) : binary !== undefined ? BigInt(`0b${binary}`) : BigInt(decimal!);
    const value = sign === "-" ? -magnitude : magnitude;
    if (value < 2n ** 64n && value >= -(2n ** 63n)) return { kind: "number", text: value.toString() };
  }
  if (!float.test(text.startsWith(".") ? text : digits)) return undefined;
  const value = Number(text.startsWith(".") ? text : digits);
  return Number.isFinite(value) ? { kind: "number", text: String(value) } : undefined;
}

import type { Literal } from "../syntax/ast.ts";
import { Double, normalizeInt, Uint } from "./values.ts";
import type { Value } from "./values.ts";

export function literalValue(literal: Literal): Value {
  switch (literal.type) {
    case "null":
      return null;
    case "int":
      return normalizeInt(literal.value);
    case "uint":
      return new Uint(literal.value);
    case "double":
      return new Double(literal.value);
    default:
      return literal.value;
  }
}

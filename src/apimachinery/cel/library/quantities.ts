/** Resource quantities. */
import { addQuantities, compareQuantities, parseQuantity, QuantityError, quantityOf, subtractQuantities } from "../../quantity.ts";
import type { Quantity } from "../../quantity.ts";
import { declare, memberOverload, overload } from "../check/declarations.ts";
import { boolType, closedStructType, doubleType, intType, stringType } from "../check/types.ts";
import type { Library } from "../environment.ts";
import { CelError, Double, intOf, OpaqueValue } from "../eval/values.ts";
import type { Int, Value } from "../eval/values.ts";

export const quantityType = closedStructType("kubernetes.Quantity");

export class QuantityValue extends OpaqueValue {
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }
  override get typeName(): string {
    return quantityType.name;
  }
  override equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && compareQuantities(this.quantity, other.quantity) === 0;
  }
}

const pair = [quantityType, quantityType];

export const quantityLibrary: Library = {
  name: "quantity",
  types: new Map([[quantityType.name, quantityType]]),
  functions: [
    declare("quantity", overload("string_to_quantity", [stringType], quantityType, toQuantity)),
    declare(
      "isQuantity",
      overload("is_quantity_string", [stringType], boolType, (text) => !(toQuantity(text) instanceof CelError)),
    ),
    declare(
      "sign",
      overload("quantity_sign", [quantityType], intType, (value) => sign(of(value).unscaled)),
    ),
    declare(
      "isGreaterThan",
      memberOverload("quantity_is_greater_than", pair, boolType, (left, right) => compareQuantities(of(left), of(right)) > 0),
    ),
    declare(
      "isLessThan",
      memberOverload("quantity_is_less_than", pair, boolType, (left, right) => compareQuantities(of(left), of(right)) < 0),
    ),
    declare(
      "compareTo",
      memberOverload("quantity_compare_to", pair, intType, (left, right) => compareQuantities(of(left), of(right))),
    ),
    declare(
      "asApproximateFloat",
      memberOverload("quantity_get_float", [quantityType], doubleType, (value) => new Double(approximate(of(value)))),
    ),
    declare(
      "asInteger",
      memberOverload("quantity_get_int", [quantityType], intType, (value) => wholeOf(of(value)) ?? new CelError("cannot convert value to integer")),
    ),
    declare(
      "isInteger",
      memberOverload("quantity_is_integer", [quantityType], boolType, (value) => wholeOf(of(value)) !== undefined),
    ),
    declare(
      "add",
      memberOverload("quantity_add", pair, quantityType, (left, right) => new QuantityValue(addQuantities(of(left), of(right)))),
      memberOverload(
        "quantity_add_int",
        [quantityType, intType],
        quantityType,
        (left, right) => new QuantityValue(addQuantities(of(left), quantityOf(right as Int, "decimalSI"))),
      ),
    ),
    declare(
      "sub",
      memberOverload("quantity_sub", pair, quantityType, (left, right) => new QuantityValue(subtractQuantities(of(left), of(right)))),
      memberOverload(
        "quantity_sub_int",
        [quantityType, intType],
        quantityType,
        (left, right) => new QuantityValue(subtractQuantities(of(left), quantityOf(right as Int, "decimalSI"))),
      ),
    ),
  ],
};

function of(value: Value): Quantity {
  return (value as QuantityValue).quantity;
}

function toQuantity(text: Value): Value {
  try {
    return new QuantityValue(parseQuantity(text as string));
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return new CelError(error.message);
  }
}

function sign(unscaled: bigint): number {
  return unscaled > 0n ? 1 : unscaled < 0n ? -1 : 0;
}

/** The value when it was written without decimals and fits 64 bits: `1.0` is no integer. */
function wholeOf({ unscaled, scale }: Quantity): Int | undefined {
  return scale < 0 ? undefined : intOf(unscaled * 10n ** BigInt(Math.min(scale, 100)));
}

function approximate({ unscaled, scale }: Quantity): number {
  return Number(`${unscaled}e${scale}`);
}

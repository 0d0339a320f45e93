/** The arithmetic operators. Results beyond 64 bits are errors. */
import { isEqual } from "./compare.ts";
import { addDuration, difference } from "./timestamps.ts";
import { CelError, Double, Duration, intOf, isInt, ListValue, noSuchOperator, noSuchOverload, Timestamp, Uint } from "./values.ts";
import type { Int, Value } from "./values.ts";

const integerOverflow = new CelError("integer overflow");
const unsignedOverflow = new CelError("unsigned integer overflow");
const maxUint64 = 2n ** 64n - 1n;

export function add(left: Value, right: Value): Value {
  if (typeof left === "number" && typeof right === "number") return checked(left + right, left, right, plusInts);
  if (typeof left === "string") return typeof right === "string" ? left + right : noSuchOverload;
  if (isInt(left)) return isInt(right) ? plusInts(left, right) : noSuchOverload;
  if (left instanceof ListValue) return right instanceof ListValue ? left.plus(right, isEqual) : noSuchOverload;
  if (left instanceof Double) return right instanceof Double ? new Double(left.value + right.value) : noSuchOverload;
  if (left instanceof Uint) return right instanceof Uint ? uintOf(left.value + right.value) : noSuchOverload;
  if (left instanceof Uint8Array) return right instanceof Uint8Array ? Buffer.concat([left, right]) : noSuchOverload;
  if (left instanceof Timestamp) return right instanceof Duration ? addDuration(left, right.nanos) : noSuchOverload;
  if (!(left instanceof Duration)) return noSuchOperator("_+_", left);
  if (right instanceof Timestamp) return addDuration(right, left.nanos);
  return right instanceof Duration ? durationOf(left.nanos + right.nanos) : noSuchOverload;
}

export function subtract(left: Value, right: Value): Value {
  if (typeof left === "number" && typeof right === "number") return checked(left - right, left, right, minusInts);
  if (isInt(left)) return isInt(right) ? minusInts(left, right) : noSuchOverload;
  if (left instanceof Double) return right instanceof Double ? new Double(left.value - right.value) : noSuchOverload;
  if (left instanceof Uint) return right instanceof Uint ? uintOf(left.value - right.value) : noSuchOverload;
  if (left instanceof Timestamp) {
    if (right instanceof Duration) return addDuration(left, -right.nanos);
    return right instanceof Timestamp ? difference(left, right) : noSuchOverload;
  }
  if (left instanceof Duration) return right instanceof Duration ? durationOf(left.nanos - right.nanos) : noSuchOverload;
  return noSuchOperator("_-_", left);
}

export function multiply(left: Value, right: Value): Value {
  if (typeof left === "number" && typeof right === "number") return checked(left * right, left, right, timesInts);
  if (isInt(left)) return isInt(right) ? timesInts(left, right) : noSuchOverload;
  if (left instanceof Double) return right instanceof Double ? new Double(left.value * right.value) : noSuchOverload;
  if (left instanceof Uint) return right instanceof Uint ? uintOf(left.value * right.value) : noSuchOverload;
  return noSuchOperator("_*_", left);
}

export function divide(left: Value, right: Value): Value {
  if (isInt(left)) return isInt(right) ? divideInts(left, right) : noSuchOverload;
  if (left instanceof Double) return right instanceof Double ? new Double(left.value / right.value) : noSuchOverload;
  if (!(left instanceof Uint)) return noSuchOperator("_/_", left);
  if (!(right instanceof Uint)) return noSuchOverload;
  return right.value === 0n ? divisionByZero : new Uint(left.value / right.value);
}

export function remainder(left: Value, right: Value): Value {
  if (isInt(left)) {
    if (!isInt(right)) return noSuchOverload;
    if (right === 0) return modulusByZero;
    if (typeof left === "number" && typeof right === "number") return (left % right) + 0;
    return right === -1 && BigInt(left) === -(2n ** 63n) ? integerOverflow : (intOf(BigInt(left) % BigInt(right)) ?? integerOverflow);
  }
  if (!(left instanceof Uint)) return noSuchOperator("_%_", left);
  if (!(right instanceof Uint)) return noSuchOverload;
  return right.value === 0n ? modulusByZero : new Uint(left.value % right.value);
}

export function negate(operand: Value): Value {
  if (typeof operand === "number") return 0 - operand;
  if (typeof operand === "bigint") return intOf(-operand) ?? integerOverflow;
  if (operand instanceof Double) return new Double(-operand.value);
  return operand === true || operand === false ? noSuchOverload : noSuchOperator("-_", operand);
}

export function not(operand: Value): Value {
  if (operand === true || operand === false) return !operand;
  return noSuchOverload;
}

const divisionByZero = new CelError("division by zero");
const modulusByZero = new CelError("modulus by zero");

/** `result` where it is exact, else the result of bigints. */
function checked(result: number, left: number, right: number, exact: (left: Int, right: Int) => Value): Value {
  return Number.isSafeInteger(result) ? result + 0 : exact(left, right);
}

function plusInts(left: Int, right: Int): Value {
  return intOf(BigInt(left) + BigInt(right)) ?? integerOverflow;
}

function minusInts(left: Int, right: Int): Value {
  return intOf(BigInt(left) - BigInt(right)) ?? integerOverflow;
}

function timesInts(left: Int, right: Int): Value {
  return intOf(BigInt(left) * BigInt(right)) ?? integerOverflow;
}

function divideInts(left: Int, right: Int): Value {
  if (right === 0) return divisionByZero;
  if (typeof left === "number" && typeof right === "number") return Math.trunc(left / right) + 0;
  return intOf(BigInt(left) / BigInt(right)) ?? integerOverflow;
}

function uintOf(value: bigint): Value {
  return value < 0n || value > maxUint64 ? unsignedOverflow : new Uint(value);
}

function durationOf(nanos: bigint): Value {
  return BigInt.asIntN(64, nanos) === nanos ? new Duration(nanos) : integerOverflow;
}

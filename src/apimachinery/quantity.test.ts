import assert from "node:assert/strict";
import { test } from "node:test";
import {
  QuantityError,
  addQuantities,
  compareQuantities,
  milli,
  normalizeQuantity,
  parseQuantity,
  quantityMilli,
  quantityOf,
  quantityValue,
  roundUpQuantity,
  subtractQuantities,
} from "./quantity.ts";

test("texts after reading", () => {
  const rows: [written: string, printed: string][] = [
    ["1", "1"],
    ["1.0", "1"],
    ["1000", "1k"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["0.5", "500m"],
    [".5", "500m"],
    ["5.", "5."],
    ["007", "007"],
    ["+5", "+5"],
    ["+1000", "1k"],
    ["0", "0"],
    ["00", "0"],
    ["-0", "0"],
    ["0m", "0"],
    ["Gi", "0"],
    ["1024Mi", "1Gi"],
    ["1536Mi", "1536Mi"],
    ["1.5Gi", "1536Mi"],
    ["0.5Ki", "512"],
    ["0.1Ki", "102400m"],
    ["+8Ki", "8Ki"],
    ["+9Ki", "+9Ki"],
    ["1e3", "1e3"],
    ["1E3", "1E3"],
    ["1e4", "10e3"],
    ["15e-1", "1500e-3"],
    ["1e19", "10e18"],
    ["1.500", "1.500"],
    ["1.5000", "1500m"],
    ["100.5", "100500m"],
    ["0.001", "1m"],
    ["8Ei", "9223372036854775807"],
    ["9223372036854775808", "9223372036854775808"],
    ["0.0000000001", "1n"],
    ["-1.5", "-1500m"],
    ["12345Ti", "12345Ti"],
    ["1.1234567891", "1123456790n"],
  ];
  for (const [written, printed] of rows) assert.equal(normalizeQuantity(written), printed, written);
});

test("texts that are no quantities", () => {
  const wrongFormat = { name: "QuantityError", message: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" };
  for (const text of ["", "abc", "1 m", "1,5", "0x1", "1_000", "1GB", "1gi", "1Zi", "7Gi500Mi", "{}"])
    assert.throws(() => parseQuantity(text), wrongFormat, text);
  for (const text of ["1M1", "1mm", "1i", "1ki", "1K", "1e", "1kk"])
    assert.throws(() => parseQuantity(text), { name: "QuantityError", message: "unable to parse quantity's suffix" }, text);
  for (const text of ["Pi", "e-12"]) assert.throws(() => parseQuantity(text), { message: "unable to parse numeric part of quantity" }, text);
  assert.throws(() => parseQuantity("1e-2147483648"), QuantityError);
});

test("rounding up to thousandths", () => {
  const rows: [written: string, printed: string][] = [
    ["1n", "1m"],
    ["0.5m", "1m"],
    ["1.23456789", "1235m"],
    ["1.5", "1500m"],
    ["007", "007"],
    ["-0.0001", "-1m"],
    ["1e-9", "1e-3"],
  ];
  for (const [written, printed] of rows) assert.equal(roundUpQuantity(written, milli).text, printed, written);
});

test("arithmetic keeps the left side's family", () => {
  assert.equal(addQuantities("1Gi", "1G").text, "2073741824");
  assert.equal(addQuantities("1Gi", "1Gi").text, "2Gi");
  assert.equal(addQuantities("0", "1Gi").text, "1Gi");
  assert.equal(addQuantities("100m", "1").text, "1100m");
  assert.equal(subtractQuantities("1", "250m").text, "750m");
  assert.equal(subtractQuantities("1Gi", "1Gi").text, "0");
  assert.equal(quantityOf(1536, "binarySI").text, "1536");
  assert.equal(quantityOf(2048, "binarySI").text, "2Ki");
});

test("values and order", () => {
  assert.equal(quantityValue("1.5"), 2);
  assert.equal(quantityValue("-1.5"), -2);
  assert.equal(quantityValue("1Ki"), 1024);
  assert.equal(quantityMilli("100m"), 100);
  assert.equal(quantityMilli("2"), 2000);
  assert.equal(compareQuantities("1Gi", "1G"), 1);
  assert.equal(compareQuantities("1000m", "1"), 0);
  assert.equal(compareQuantities("-1", "0"), -1);
});

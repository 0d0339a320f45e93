/** Counters that devices of a pool share, and what each device takes of them (KEP-4815). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { required, tooMany } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { validateLabelText } from "./device-names.ts";
import type { Counter, CounterSet, DeviceCounterConsumption } from "./types.ts";

const maxCounters = 32;

export function validateCounterSet({ name = "", counters }: CounterSet, path: FieldPath): FieldError[] {
  return [
    ...(name === "" ? [required(path.child("name"))] : validateLabelText(name, path.child("name"))),
    ...validateCounters(counters, path.child("counters")),
  ];
}

export function validateConsumption({ counterSet = "", counters }: DeviceCounterConsumption, path: FieldPath): FieldError[] {
  return [
    ...(counterSet === "" ? [required(path.child("counterSet"))] : validateLabelText(counterSet, path.child("counterSet"))),
    ...validateCounters(counters, path.child("counters")),
  ];
}

function validateCounters(counters: Readonly<Record<string, Counter>> | undefined, path: FieldPath): FieldError[] {
  const names = Object.keys(counters ?? {}).sort();
  if (names.length === 0) return [required(path)];
  return [...(names.length > maxCounters ? [tooMany(path, names.length, maxCounters)] : []), ...names.flatMap((name) => validateLabelText(name, path))];
}

/** Taints of devices, in slices and by rule (KEP-5055). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isLabelValue } from "../../apimachinery/names.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { validateLabelName } from "../meta/labels.ts";
import { isSame } from "../update-rules.ts";
import { taintEffects } from "./device-claim.ts";
import type { DeviceTaint } from "./types.ts";

/** Gives a taint without a time that of now; a taint of `old` that is the same but for that keeps its own. */
export function stampTaint(taint: DeviceTaint, old: readonly DeviceTaint[], nowMs: number): void {
  if (taint.timeAdded !== undefined) return;
  const known = old.find(({ timeAdded: _time, ...rest }) => isSame(rest, taint));
  taint.timeAdded = known?.timeAdded ?? formatTime(nowMs);
}

/**
 * A taint whose effect changes has that from now on, unless it comes with another time than before. One that came without a time and says
 * what it said before keeps its time.
 */
export function keepTime(taint: DeviceTaint, old: DeviceTaint, nowMs: number): void {
  const now = formatTime(nowMs);
  const { timeAdded, ...rest } = taint;
  const { timeAdded: before, ...oldRest } = old;
  if (before === undefined) return;
  if (timeAdded === now && isSame(rest, oldRest)) taint.timeAdded = before;
  else if (timeAdded === before && rest.effect !== oldRest.effect) taint.timeAdded = now;
}

export function validateTaint({ key = "", value = "", effect = "" }: DeviceTaint, path: FieldPath): FieldError[] {
  const errors = validateLabelName(key, path.child("key"));
  if (value !== "") errors.push(...invalidEach(path.child("value"), value, isLabelValue(value)));
  if (effect === "") return [...errors, required(path.child("effect"))];
  return taintEffects.includes(effect) ? errors : [...errors, notSupported(path.child("effect"), effect, taintEffects)];
}

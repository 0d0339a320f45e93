/** Rules of lifecycle hooks and stop signals. */
import { forbidden, invalid, notSupported } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import type { Lifecycle, PodOS } from "../types.ts";
import { validateHandler } from "./probes.ts";

export function validateLifecycle(lifecycle: Lifecycle, gracePeriodSeconds: number, os: PodOS | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const hook of ["postStart", "preStop"] as const) {
    if (lifecycle[hook] !== undefined) errors.push(...validateHandler(lifecycle[hook], gracePeriodSeconds, path.child(hook)));
  }
  if (lifecycle.stopSignal !== undefined) errors.push(...validateStopSignal(lifecycle.stopSignal, os, path.child("stopSignal")));
  return errors;
}

const windowsSignals = ["SIGKILL", "SIGTERM"];
const namedSignals =
  "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ";
const realTimeSignals = [
  "RTMIN",
  ...Array.from({ length: 15 }, (_, index) => `RTMIN+${index + 1}`),
  ...Array.from({ length: 14 }, (_, index) => `RTMAX-${14 - index}`),
  "RTMAX",
];
const linuxSignals = [...namedSignals.split(" "), ...realTimeSignals].map((name) => `SIG${name}`).sort();

function validateStopSignal(signal: string, os: PodOS | undefined, path: FieldPath): FieldError[] {
  if (os === undefined) return [forbidden(path, "may not be set for containers with empty `spec.os.name`")];
  if (os.name === "windows") return windowsSignals.includes(signal) ? [] : [notSupported(path, signal, windowsSignals)];
  return linuxSignals.includes(signal) ? [] : [signal === "" ? invalid(path, signal, "must not be empty") : notSupported(path, signal, linuxSignals)];
}

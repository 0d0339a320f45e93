/** Options of a write as the query (or a DeleteOptions body) gives them, validated as metav1's CreateOptions, UpdateOptions, PatchOptions. */
import { FieldPath } from "../../apimachinery/field-path.ts";
import { forbidden, invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalidError } from "../../apimachinery/status.ts";
import { isTrue } from "../http/request-info.ts";

export interface WriteOptions {
  readonly isDryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  readonly force: boolean;
}

/** Reads and checks the options of a create, update or patch. Throws 422 with all faults. */
export function parseWriteOptions(query: URLSearchParams, kind: "CreateOptions" | "UpdateOptions" | "PatchOptions", isApply = false): WriteOptions {
  const dryRun = query.getAll("dryRun");
  const fieldManager = query.get("fieldManager") ?? "";
  const fieldValidation = query.get("fieldValidation") ?? "";
  const errors: FieldError[] = [];
  if (kind === "PatchOptions") {
    if (!isApply && query.has("force")) errors.push(forbidden(FieldPath.root("force"), "may not be specified for non-apply patch"));
    if (isApply && fieldManager === "") errors.push(required(FieldPath.root("fieldManager"), "is required for apply patch"));
  }
  errors.push(...fieldManagerErrors(fieldManager), ...dryRunErrors(dryRun), ...fieldValidationErrors(fieldValidation));
  if (errors.length > 0) throw invalidError({ group: "meta.k8s.io", kind }, "", errors);
  return {
    isDryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === "" ? "Warn" : (fieldValidation as WriteOptions["fieldValidation"]),
    force: isTrue(query.get("force")),
  };
}

export function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  const isValid = dryRun.every((value) => value === "All");
  return isValid ? [] : [notSupported(FieldPath.root("dryRun"), dryRun, ["All"])];
}

function fieldManagerErrors(manager: string): FieldError[] {
  const path = FieldPath.root("fieldManager");
  const errors: FieldError[] = [];
  if (manager.length > 128) errors.push({ reason: "FieldValueTooLong", field: "fieldManager", message: "Too long: may not be more than 128 bytes" });
  for (const [index, character] of [...manager].entries()) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) {
      errors.push(invalid(path, manager, `invalid character ${goRune(character)} (at position ${index})`));
      break;
    }
  }
  return errors;
}

function goRune(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

function fieldValidationErrors(value: string): FieldError[] {
  const allowed = ["", "Ignore", "Warn", "Strict"];
  return allowed.includes(value) ? [] : [notSupported(FieldPath.root("fieldValidation"), value, ["", "Ignore", "Strict", "Warn"])];
}

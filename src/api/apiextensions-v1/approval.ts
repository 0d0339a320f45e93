/** Groups of the community are protected: definitions in them say where they were approved (KEP-1111). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { parseGoUrl } from "../meta/go-url.ts";
import type { CustomResourceDefinition } from "./types.ts";

export const approvalAnnotation = "api-approved.kubernetes.io";

/** `approved`: by a URL; `unapproved`: with a reason that says so. */
export type Approval = "approved" | "unapproved" | "missing" | "invalid";

export function approvalOf({ metadata }: CustomResourceDefinition): Approval {
  const text = metadata.annotations?.[approvalAnnotation] ?? "";
  if (text === "") return "missing";
  if (text.startsWith("unapproved")) return "unapproved";
  const parsed = parseGoUrl(text);
  return "url" in parsed && parsed.url.scheme !== "" && parsed.url.host !== "" ? "approved" : "invalid";
}

export function isProtectedGroup(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

/** A definition that lacked its approval before may go on lacking it. */
export function validateApproval(definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  if (!isProtectedGroup(definition.spec.group ?? "")) return [];
  const approval = approvalOf(definition);
  if (old !== undefined && approvalOf(old) === approval) return [];
  const path = FieldPath.root("metadata", "annotations").key(approvalAnnotation);
  const opening = `protected groups must have approval annotation "${approvalAnnotation}"`;
  const source = "see https://github.com/kubernetes/enhancements/pull/1111";
  if (approval === "missing") return [required(path, `${opening}, ${source}`)];
  if (approval !== "invalid") return [];
  return [
    invalid(path, definition.metadata.annotations?.[approvalAnnotation], `${opening} with either a URL or a reason starting with "unapproved", ${source}`),
  ];
}

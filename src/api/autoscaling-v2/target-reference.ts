/** References to objects by kind, name and version, as autoscalers hold them. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { parseApiVersion } from "../../apimachinery/object.ts";
import { validateSegment } from "../meta/segment.ts";
import type { CrossVersionObjectReference } from "./types.ts";

/** What is scaled. Only one kind that can be scaled has no group. `allowsInvalidVersion`: of objects stored before the version was checked. */
export function validateScaleTarget(reference: Partial<CrossVersionObjectReference>, allowsInvalidVersion: boolean, path: FieldPath): FieldError[] {
  const fault = allowsInvalidVersion ? undefined : targetVersionFault(reference);
  return [...validateKindAndName(reference, path), ...(fault === undefined ? [] : [invalid(path.child("apiVersion"), reference.apiVersion ?? "", fault)])];
}

/** What a metric describes. */
export function validateDescribedObject(reference: Partial<CrossVersionObjectReference>, path: FieldPath): FieldError[] {
  const fault = versionFault(reference, true);
  return [...validateKindAndName(reference, path), ...(fault === undefined ? [] : [invalid(path.child("apiVersion"), reference.apiVersion ?? "", fault)])];
}

export function isLegalApiVersion(reference: Partial<CrossVersionObjectReference>): boolean {
  return targetVersionFault(reference) === undefined;
}

function targetVersionFault(reference: Partial<CrossVersionObjectReference>): string | undefined {
  return versionFault(reference, reference.kind === "ReplicationController" && reference.apiVersion === "v1");
}

function validateKindAndName({ kind, name }: Partial<CrossVersionObjectReference>, path: FieldPath): FieldError[] {
  return [...validateSegment(kind, path.child("kind")), ...validateSegment(name, path.child("name"))];
}

function versionFault({ apiVersion = "" }: Partial<CrossVersionObjectReference>, allowsNoGroup: boolean): string | undefined {
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) return `unexpected GroupVersion string: ${apiVersion}`;
  return parsed.group === "" && !allowsNoGroup ? "apiVersion must specify API group" : undefined;
}

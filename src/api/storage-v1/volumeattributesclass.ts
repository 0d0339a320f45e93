import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { isSame } from "../update-rules.ts";
import { validateDriverName, validateParameters } from "./parameters.ts";
import type { VolumeAttributesClass } from "./types.ts";

export const volumeAttributesClasses = defineKind<VolumeAttributesClass>({
  gvk: { group: "storage.k8s.io", version: "v1", kind: "VolumeAttributesClass" },
  nameRule: subdomainName,
  generation: "none",
  create: { validate: validateAttributesClass },
  update: { validate: validateAttributesClassUpdate },
  delete: { answer: "object" },
});

function validateAttributesClass({ driverName = "", parameters = {} }: VolumeAttributesClass): FieldError[] {
  const path = FieldPath.root("driverName");
  return [
    ...(driverName === "" ? [required(path)] : validateDriverName(driverName, path)),
    ...validateParameters(parameters, FieldPath.root("parameters"), false),
  ];
}

function validateAttributesClassUpdate(attributesClass: VolumeAttributesClass, old: VolumeAttributesClass): FieldError[] {
  const changed = (["driverName", "parameters"] as const).filter((name) => !isSame(attributesClass[name], old[name]));
  return changed.map((name) => forbidden(FieldPath.root(name), `updates to ${name} are forbidden.`));
}

import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { deepEqual, isObject, sortedMembers } from "../../apimachinery/json.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { validateCount } from "../meta/counts.ts";
import { defineKind } from "../strategy.ts";
import type { ControllerRevision } from "./types.ts";

const dataPath = FieldPath.root("data");

export const controllerRevisions = defineKind<ControllerRevision>({
  gvk: { group: "apps", version: "v1", kind: "ControllerRevision" },
  nameRule: subdomainName,
  generation: "none",
  create: { validate: (revision) => [...validateData(revision), ...validateCount(revision.revision, FieldPath.root("revision"))] },
  update: {
    validate: (revision, old) => [
      ...validateCount(revision.revision, FieldPath.root("revision")),
      ...(deepEqual(revision.data, old.data) ? [] : [invalid(dataPath, sortedMembers((revision.data ?? {}) as JsonObject), "field is immutable")]),
    ],
  },
});

function validateData({ data }: ControllerRevision): FieldError[] {
  if (data === undefined || data === null) return [required(dataPath, "data is mandatory")];
  return isObject(data) ? [] : [required(dataPath, "data must be a valid JSON object")];
}

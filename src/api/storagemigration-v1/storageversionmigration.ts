import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1035Label, isDns1123Subdomain, subdomainName } from "../../apimachinery/names.ts";
import { validateConditions } from "../meta/conditions.ts";
import { internalForm, isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers, restoreMetadata } from "../update-rules.ts";
import type { StorageVersionMigration } from "./types.ts";

const specPath = FieldPath.root("spec");
const specType = "api.storagemigration.v1.StorageVersionMigrationSpec";

export const storageVersionMigrations = defineKind<StorageVersionMigration>({
  gvk: { group: "storagemigration.k8s.io", version: "v1", kind: "StorageVersionMigration" },
  nameRule: subdomainName,
  generation: "none",
  create: {
    prepare(migration) {
      migration.status = {};
    },
    validate: validateMigration,
  },
  update: {
    prepare: (migration, old) => restoreMembers(migration, old, "status"),
    validate: ({ spec }, old) =>
      isSemanticallyEqual(specType, spec ?? {}, old.spec ?? {}) ? [] : [invalid(specPath, internalForm(specType, spec ?? {}), "field is immutable")],
    allowsUnconditional: false,
    resetFields: ["status"],
  },
  status: {
    prepare(migration, old) {
      restoreMembers(migration, old, "spec");
      restoreMetadata(migration, old);
    },
    validate: validateStatus,
    resetFields: ["metadata", "spec"],
  },
});

function validateMigration({ spec }: StorageVersionMigration): FieldError[] {
  const path = specPath.child("resource");
  const { resource = "", group = "" } = spec?.resource ?? {};
  return [
    ...(resource === ""
      ? [required(path.child("resource"), "resource is required to be set")]
      : invalidEach(path.child("resource"), resource, isDns1035Label(resource))),
    ...(group === "" ? [] : invalidEach(path.child("group"), group, isDns1123Subdomain(group))),
  ];
}

function validateStatus({ status }: StorageVersionMigration): FieldError[] {
  const path = FieldPath.root("status", "conditions");
  const conditions = status?.conditions ?? [];
  const isTrue = (type: string) => conditions.some((condition) => condition.type === type && condition.status === "True");
  const shown = conditions.map(({ type = "", status: value = "", observedGeneration, lastTransitionTime = null, reason = "", message = "" }) => ({
    type,
    status: value,
    ...(observedGeneration !== undefined && { observedGeneration }),
    lastTransitionTime,
    reason,
    message,
  }));
  const errors = validateConditions(conditions, path);
  return isTrue("Succeeded") && isTrue("Failed")
    ? [...errors, invalid(path, shown, "Both success and failed conditions cannot be true at the same time")]
    : errors;
}

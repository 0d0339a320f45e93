import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { immutable, restoreMembers, restoreMetadata } from "../update-rules.ts";
import { validateApproval } from "./approval.ts";
import { definitionDeletion } from "./deletion.ts";
import { validateNames } from "./names.ts";
import { schemaWarnings } from "./schema-warnings.ts";
import { validateDefinitionSpec } from "./spec-rules.ts";
import type { CustomResourceDefinition, CustomResourceDefinitionSpec } from "./types.ts";

const specPath = FieldPath.root("spec");
const statusPath = FieldPath.root("status");

export const customResourceDefinitions = defineKind<CustomResourceDefinition>({
  gvk: { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" },
  nameRule: subdomainName,
  requiresQualifiedFinalizers: false,
  generation: "spec",
  defaults: applyDefaults,
  create: {
    prepare(definition) {
      definition.status = {};
      noteStorageVersion(definition);
    },
    validate: (definition, context) => [...validateName(definition), ...validateDefinition(definition, undefined, context)],
    warnings: (definition) => schemaWarnings(definition, undefined),
  },
  update: {
    prepare(definition, old) {
      restoreMembers(definition, old, "status");
      noteStorageVersion(definition);
    },
    validate: (definition, old, context) => [...validateDefinition(definition, old, context), ...validateImmutable(definition, old)],
    warnings: schemaWarnings,
    resetFields: ["status"],
    allowsUnconditional: false,
  },
  status: {
    prepare(definition, old) {
      restoreMembers(definition, old, "spec");
      restoreMetadata(definition, old);
      // An empty list is taken for one that was left out.
      const { storedVersions } = old.status ?? {};
      if ((definition.status?.storedVersions ?? []).length === 0 && storedVersions !== undefined) definition.status = { ...definition.status, storedVersions };
    },
    validate: ({ status }) => validateNames(status?.acceptedNames ?? { plural: "", kind: "" }, statusPath.child("acceptedNames")),
    resetFields: ["spec", "metadata"],
  },
  delete: definitionDeletion,
});

function applyDefaults(definition: CustomResourceDefinition): void {
  const spec = specOf(definition);
  const { names } = spec;
  if (!names.singular && names.kind) names.singular = names.kind.toLowerCase();
  if (!names.listKind && names.kind) names.listKind = `${names.kind}List`;
  spec.conversion ??= { strategy: "None" };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service !== undefined) service.port ??= 443;
}

/** Objects may exist in every version that ever was the one they are stored in. */
function noteStorageVersion(definition: CustomResourceDefinition): void {
  const stored = specOf(definition).versions?.find(({ storage }) => storage);
  const status = (definition.status ??= {});
  const { storedVersions } = status;
  if (stored === undefined || storedVersions?.includes(stored.name ?? "") === true) return;
  status.storedVersions = [...(storedVersions ?? []), stored.name ?? ""];
}

function validateName({ metadata: { name = "" }, spec }: CustomResourceDefinition): FieldError[] {
  const expected = `${spec.names.plural ?? ""}.${spec.group ?? ""}`;
  return name === "" || name === expected ? [] : [invalid(FieldPath.root("metadata", "name"), name, 'must be spec.names.plural+"."+spec.group')];
}

function validateDefinition(definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined, context: RuleContext): FieldError[] {
  const { preserveUnknownFields } = definition.spec;
  const isNewlyPreserving = preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true;
  const preserving = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [
    ...validateDefinitionSpec(definition.spec, old?.spec, context, specPath),
    ...validateNames(definition.status?.acceptedNames ?? { plural: "", kind: "" }, statusPath.child("acceptedNames")),
    ...validateStoredVersions(definition),
    ...validateApproval(definition, old),
    ...(isNewlyPreserving ? [invalid(specPath.child("preserveUnknownFields"), true, preserving)] : []),
  ];
}

function validateStoredVersions({ spec, status }: CustomResourceDefinition): FieldError[] {
  const path = statusPath.child("storedVersions");
  const stored = status?.storedVersions ?? [];
  if (stored.length === 0) return [invalid(path, status?.storedVersions, "must have at least one stored version")];
  const versions = spec.versions ?? [];
  const errors = stored.flatMap((version, index) => {
    if (versions.some(({ name = "" }) => name === version)) return [];
    const text = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    return [invalid(path.index(index), version, text)];
  });
  const storage = versions.findLast((version) => version.storage)?.name ?? stored[0]!;
  return stored.includes(storage) ? errors : [...errors, invalid(path, stored, `must have the storage version ${storage}`)];
}

/** Group and plural are part of the name; scope and kind are settled once the definition is served. */
function validateImmutable({ spec }: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const isEstablished = (old.status?.conditions ?? []).some(({ type, status }) => type === "Established" && status === "True");
  return [
    ...(isEstablished ? immutable(specPath.child("scope"), spec.scope, old.spec.scope) : []),
    ...(isEstablished ? immutable(specPath.child("names", "kind"), spec.names.kind, old.spec.names.kind) : []),
    ...immutable(specPath.child("group"), spec.group, old.spec.group),
    ...immutable(specPath.child("names", "plural"), spec.names.plural, old.spec.names.plural),
  ];
}

function specOf(definition: CustomResourceDefinition): CustomResourceDefinitionSpec {
  definition.spec ??= {} as CustomResourceDefinitionSpec;
  definition.spec.names ??= {} as CustomResourceDefinitionSpec["names"];
  return definition.spec;
}

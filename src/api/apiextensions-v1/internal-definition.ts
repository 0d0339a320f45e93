/**
 * A definition as upstream checks it: what all versions have in common stands above them, and the first version has a field of its
 * own. Paths of faults follow that shape.
 */
import { internalForm } from "../meta/internal-form.ts";
import { isSame } from "../update-rules.ts";
import type { CustomResourceDefinitionSpec, CustomResourceDefinitionVersion } from "./types.ts";

/** Settings that a version has, or that all have. */
export type VersionSettings = Pick<CustomResourceDefinitionVersion, (typeof settingNames)[number]>;

export interface InternalDefinition {
  /** What is the same in every version. */
  readonly common: VersionSettings;
  /** The versions without it. */
  readonly versions: readonly CustomResourceDefinitionVersion[];
  /** Name of the first version; empty without one. */
  readonly version: string;
}

const settingNames = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"] as const;

export function internalDefinition({ versions = [] }: Pick<CustomResourceDefinitionSpec, "versions">): InternalDefinition {
  const [first] = versions;
  if (first === undefined) return { common: {}, versions, version: "" };
  const shared = settingNames.filter((name) => versions.every((version) => isSame(version[name], first[name])));
  const common: VersionSettings = Object.fromEntries(shared.filter((name) => first[name] !== undefined).map((name) => [name, first[name]]));
  return { common, versions: versions.map((version) => omit(version, shared)), version: first.name ?? "" };
}

/** The versions as error texts show them. */
export function versionsForm(versions: readonly CustomResourceDefinitionVersion[] | undefined): unknown {
  return versions?.map((version) => internalForm("apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion", version)) ?? null;
}

function omit(version: CustomResourceDefinitionVersion, names: readonly (typeof settingNames)[number][]): CustomResourceDefinitionVersion {
  const rest = { ...version };
  for (const name of names) delete rest[name];
  return rest;
}

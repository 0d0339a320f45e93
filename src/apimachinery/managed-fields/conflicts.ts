/** What an apply that meets other owners is told: 409 Conflict with a cause per manager and field. */
import type { StatusCause } from "../status.ts";
import { compareText, managerId } from "./entries.ts";
import type { ManagerName } from "./entries.ts";
import { forEachMember } from "./sets/field-set.ts";
import { pathText } from "./sets/path-element.ts";
import type { OwnerConflict } from "./updater.ts";

export interface ConflictReport {
  readonly conflicts: readonly { readonly owner: ManagerName; readonly fields: readonly string[] }[];
  /** The Status message: `Apply failed with 1 conflict: conflict with "x": .spec.replicas`. */
  readonly statusMessage: string;
  readonly causes: StatusCause[];
}

/** Managers in the order of their identity, fields in the order of the set. */
export function reportConflicts(found: readonly OwnerConflict[]): ConflictReport {
  const conflicts = [...found]
    .sort((a, b) => compareText(managerId(a.owner), managerId(b.owner)))
    .map(({ owner, fields }) => {
      const paths: string[] = [];
      forEachMember(fields, (path) => paths.push(pathText(path)));
      return { owner, fields: paths };
    });
  const causes = conflicts.flatMap(({ owner, fields }) =>
    fields.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${ownerText(owner)}`, field })),
  );
  return { conflicts, causes, statusMessage: messageOf(conflicts, causes.length) };
}

function messageOf(conflicts: ConflictReport["conflicts"], count: number): string {
  if (count === 1) return `Apply failed with 1 conflict: conflict with ${ownerText(conflicts[0]!.owner)}: ${conflicts[0]!.fields[0]}`;
  const lines = conflicts.flatMap(({ owner, fields }) => [`conflicts with ${ownerText(owner)}:`, ...fields.map((field) => `- ${field}`)]);
  return `Apply failed with ${count} conflicts: ${lines.join("\n")}`;
}

function ownerText({ manager, operation, apiVersion, subresource }: ManagerName): string {
  const name = `${JSON.stringify(manager)}${subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`}`;
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}

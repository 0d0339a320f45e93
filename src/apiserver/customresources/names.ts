/** Which of its names a definition gets: none that another definition of its group has already. Pure. */
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from "../../api/apiextensions-v1/types.ts";
import { findCondition, isTrue } from "./conditions.ts";
import type { WantedCondition } from "./conditions.ts";

export interface NamesDecision {
  readonly acceptedNames: CustomResourceDefinitionNames;
  readonly namesAccepted: WantedCondition;
  readonly established: WantedCondition;
}

/** What a definition takes from the others of its group. */
export interface NameHolder {
  readonly status?: Pick<NonNullable<CustomResourceDefinition["status"]>, "acceptedNames">;
}

/** `others` are the other definitions of the same group. */
export function decideNames(crd: CustomResourceDefinition, others: readonly NameHolder[]): NamesDecision {
  const requested = crd.spec.names;
  const before: Partial<CustomResourceDefinitionNames> = crd.status?.acceptedNames ?? {};
  const taken = takenNames(requested, others);
  let conflict = { reason: "", message: "" };
  const accept = (name: string | undefined, old: string | undefined, from: ReadonlySet<string>, reason: string): string => {
    if (name === undefined || name === "" || !from.has(name)) return name ?? "";
    conflict = { reason, message: `${JSON.stringify(name)} is already in use` };
    return old ?? "";
  };
  const plural = accept(requested.plural, before.plural, taken.resources, "PluralConflict");
  const singular = accept(requested.singular, before.singular, taken.resources, "SingularConflict");
  const faults = (requested.shortNames ?? []).filter((name) => taken.resources.has(name));
  if (faults.length > 0) conflict = { reason: "ShortNamesConflict", message: shortNamesText(faults) };
  const shortNames = faults.length > 0 ? before.shortNames : requested.shortNames;
  const kind = accept(requested.kind, before.kind, taken.kinds, "KindConflict");
  const listKind = accept(requested.listKind, before.listKind, taken.kinds, "ListKindConflict");
  const isAccepted = conflict.reason === "";
  return {
    acceptedNames: {
      plural,
      ...(singular !== "" && { singular }),
      ...(shortNames !== undefined && { shortNames }),
      kind,
      ...(listKind !== "" && { listKind }),
      ...(requested.categories !== undefined && { categories: requested.categories }),
    },
    namesAccepted: isAccepted
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", ...conflict },
    established: establishedBy(crd, isAccepted),
  };
}

/** Of the names that are asked for, those that others have. */
function takenNames(requested: CustomResourceDefinitionNames, others: readonly NameHolder[]) {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  const wanted = new Set([requested.plural, requested.singular, ...(requested.shortNames ?? []), requested.kind, requested.listKind]);
  const note = (name: string | undefined, into: Set<string>) => void (name !== undefined && wanted.has(name) && into.add(name));
  for (const { status } of others) {
    const names = status?.acceptedNames;
    if (names === undefined) continue;
    note(names.plural, resources);
    note(names.singular, resources);
    for (const name of names.shortNames ?? []) note(name, resources);
    note(names.kind, kinds);
    note(names.listKind, kinds);
  }
  return { resources, kinds };
}

function shortNamesText(names: readonly string[]): string {
  const texts = names.map((name) => `${JSON.stringify(name)} is already in use`);
  return texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`;
}

/** Once established, a definition stays so. */
function establishedBy(crd: CustomResourceDefinition, isAccepted: boolean): WantedCondition {
  const old = findCondition(crd, "Established");
  if (isTrue(crd, "Established")) return { type: "Established", status: "True", reason: old!.reason ?? "", message: old!.message ?? "" };
  if (!isAccepted) return { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" };
  return { type: "Established", status: "False", reason: "Installing", message: "the initial names have been accepted" };
}

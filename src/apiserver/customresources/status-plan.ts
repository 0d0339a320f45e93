/**
 * What the status of a definition should become next. One step at a time, each of which is a write of its own that watchers see: names,
 * then establishing; approval and the rest beside them. Pure.
 */
import { deepEqual } from "../../apimachinery/json.ts";
import type { CustomResourceDefinition, CustomResourceDefinitionCondition, CustomResourceDefinitionStatus } from "../../api/apiextensions-v1/types.ts";
import { decideApproval } from "./approval.ts";
import { findCondition, isAsWanted, isTrue, withCondition } from "./conditions.ts";
import type { WantedCondition } from "./conditions.ts";
import { decideNames } from "./names.ts";
import type { NameHolder } from "./names.ts";

/** The next status, or undefined when it is as it should be. `others` are the other definitions of the group. */
export function nextStatus(crd: CustomResourceDefinition, others: readonly NameHolder[], nowMs: number): CustomResourceDefinitionStatus | undefined {
  if (crd.metadata.deletionTimestamp !== undefined) return undefined;
  return named(crd, others, nowMs) ?? established(crd, nowMs) ?? approved(crd, nowMs) ?? structural(crd);
}

function named(crd: CustomResourceDefinition, others: readonly NameHolder[], nowMs: number): CustomResourceDefinitionStatus | undefined {
  // A definition that has all its names is not looked at again.
  if (deepEqual(withoutEmpties(crd.spec.names), withoutEmpties(crd.status?.acceptedNames))) return undefined;
  const { acceptedNames, namesAccepted, established } = decideNames(crd, others);
  const isNamed = deepEqual(acceptedNames, crd.status?.acceptedNames) && isAsWanted(findCondition(crd, "NamesAccepted"), namesAccepted);
  // Installing is passed on by the next step: a condition that is there already is not set back to it.
  const isKnown =
    findCondition(crd, "Established") !== undefined && (established.reason !== "NotAccepted" || isAsWanted(findCondition(crd, "Established"), established));
  if (isNamed && isKnown) return undefined;
  return { ...crd.status, acceptedNames, conditions: withConditions(crd, [namesAccepted, established], nowMs) };
}

function withoutEmpties(names: object | undefined): unknown {
  return Object.fromEntries(Object.entries(names ?? {}).filter(([, value]) => value !== "" && !(Array.isArray(value) && value.length === 0)));
}

function established(crd: CustomResourceDefinition, nowMs: number): CustomResourceDefinitionStatus | undefined {
  if (!isTrue(crd, "NamesAccepted") || isTrue(crd, "Established")) return undefined;
  const wanted: WantedCondition = { type: "Established", status: "True", reason: "InitialNamesAccepted", message: "the initial names have been accepted" };
  return { ...crd.status, conditions: withConditions(crd, [wanted], nowMs) };
}

function approved(crd: CustomResourceDefinition, nowMs: number): CustomResourceDefinitionStatus | undefined {
  const wanted = decideApproval(crd);
  if (wanted === undefined || isAsWanted(findCondition(crd, wanted.type), wanted)) return undefined;
  return { ...crd.status, conditions: withConditions(crd, [wanted], nowMs) };
}

/** Schemas are refused unless they are structural, so that the condition never holds. */
function structural(crd: CustomResourceDefinition): CustomResourceDefinitionStatus | undefined {
  if (findCondition(crd, "NonStructuralSchema") === undefined) return undefined;
  const { conditions = [], ...status } = crd.status ?? {};
  const others = conditions.filter(({ type }) => type !== "NonStructuralSchema");
  return { ...status, ...(others.length > 0 && { conditions: others }) };
}

function withConditions(crd: CustomResourceDefinition, wanted: readonly WantedCondition[], nowMs: number): CustomResourceDefinitionCondition[] {
  return wanted.reduce<CustomResourceDefinitionCondition[]>(
    (conditions, condition) => withCondition(conditions, condition, nowMs),
    crd.status?.conditions ?? [],
  );
}

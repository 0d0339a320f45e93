/** What may change in a pod that exists. */
import { forbidden, invalid } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import { rangeText } from "../../../apimachinery/names.ts";
import { jsonDiff } from "../../meta/diff.ts";
import { internalForm, isSemanticallyEqual } from "../../meta/internal-form.ts";
import type { Container, NodeAffinity, Pod, PodSchedulingGate, PodSpec, Toleration } from "../types.ts";

const specType = "api.core.v1.PodSpec";
const specPath = FieldPath.root("spec");
const maxInt32 = 2 ** 31 - 1;
const changeable = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");

/** Faults of a change of the main object, beyond those of the new object itself. */
export function validatePodChange({ spec = {} }: Pod, { spec: old = {} }: Pod): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ["containers", "initContainers"] as const) {
    if ((spec[field] ?? []).length !== (old[field] ?? []).length)
      return [...errors, forbidden(specPath.child(field), "pod updates may not add or remove containers")];
  }
  const deadlineErrors = validateDeadline(spec.activeDeadlineSeconds, old.activeDeadlineSeconds);
  errors.push(...deadlineErrors);
  if (deadlineErrors.length > 0 && spec.activeDeadlineSeconds !== undefined) return errors;
  errors.push(
    ...validateTolerationChange(spec.tolerations ?? [], old.tolerations ?? []),
    ...validateGateChange(spec.schedulingGates ?? [], old.schedulingGates ?? []),
  );
  if (isSemanticallyEqual(specType, spec, old)) return errors;
  const munged = withoutAllowedChanges(spec, old);
  if ((old.schedulingGates ?? []).length > 0) errors.push(...validateGatedChange(munged, old));
  if (isSemanticallyEqual(specType, munged, old)) return errors;
  const difference = jsonDiff(internalForm(specType, old), internalForm(specType, munged));
  return [...errors, forbidden(specPath, `pod updates may not change fields other than ${changeable}\n${difference}`)];
}

function validateDeadline(now: number | undefined, old: number | undefined): FieldError[] {
  const path = specPath.child("activeDeadlineSeconds");
  if (now === undefined) return old === undefined ? [] : [invalid(path, null, "must not update from a positive integer to nil value")];
  if (now < 0 || now > maxInt32) return [invalid(path, now, rangeText(0, maxInt32))];
  return old !== undefined && old < now ? [invalid(path, now, "must be less than or equal to previous value")] : [];
}

/** Tolerations may be added; of those that exist only the seconds may change. */
function validateTolerationChange(now: readonly Toleration[], old: readonly Toleration[]): FieldError[] {
  const identity = ({ key = "", operator = "", value = "", effect = "" }: Toleration) => JSON.stringify([key, operator, value, effect]);
  const kept = old.every((before) => now.some((after) => identity(before) === identity(after)));
  return kept ? [] : [forbidden(specPath.child("tolerations"), "existing toleration can not be modified except its tolerationSeconds")];
}

function validateGateChange(now: readonly PodSchedulingGate[], old: readonly PodSchedulingGate[]): FieldError[] {
  return now.flatMap(({ name }, index) =>
    old.some((gate) => gate.name === name)
      ? []
      : [forbidden(specPath.child("schedulingGates").index(index).child("name"), `only deletion is allowed, but found new scheduling gate '${name}'`)],
  );
}

/** The new spec with everything taken back that may change. */
function withoutAllowedChanges(spec: PodSpec, old: PodSpec): PodSpec {
  const munged = deepCopy(spec);
  for (const field of ["containers", "initContainers"] as const) {
    (munged[field] ?? []).forEach((container: Container, index) => restore(container, "image", old[field]?.[index]?.image));
  }
  restore(munged, "activeDeadlineSeconds", old.activeDeadlineSeconds);
  restore(munged, "schedulingGates", old.schedulingGates);
  restore(munged, "tolerations", old.tolerations);
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && munged.terminationGracePeriodSeconds === 1)
    munged.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds!;
  return munged;
}

/** Pods that wait at a gate may become choosier about their node. Takes the changes it has judged back in `munged`. */
function validateGatedChange(munged: PodSpec, old: PodSpec): FieldError[] {
  const errors: FieldError[] = [];
  const now = munged.nodeSelector ?? {};
  if (Object.entries(old.nodeSelector ?? {}).some(([key, value]) => now[key] !== value)) {
    errors.push(invalid(specPath.child("nodeSelector"), munged.nodeSelector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)"));
  }
  restore(munged, "nodeSelector", old.nodeSelector);
  const before = old.affinity?.nodeAffinity;
  errors.push(...validateNodeAffinityChange(munged.affinity?.nodeAffinity, before));
  if (munged.affinity !== undefined && old.affinity === undefined && munged.affinity.podAffinity === undefined && munged.affinity.podAntiAffinity === undefined)
    delete munged.affinity;
  else if (munged.affinity !== undefined) restore(munged.affinity, "nodeAffinity", before);
  else if (before !== undefined) munged.affinity = { nodeAffinity: before };
  return errors;
}

function validateNodeAffinityChange(now: NodeAffinity | undefined, old: NodeAffinity | undefined): FieldError[] {
  const termsPath = specPath.child("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
  const before = old?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const after = now?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (before.length === 0) return [];
  if (before.length !== after.length) {
    const shown = after.length === 0 ? null : after.map((term) => internalForm("api.core.v1.NodeSelectorTerm", term));
    return [invalid(termsPath, shown, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")];
  }
  return after.flatMap((term, index) => {
    const kept = (["matchExpressions", "matchFields"] as const).every((field) =>
      (before[index]![field] ?? []).every((requirement, at) => isSemanticallyEqual("api.core.v1.NodeSelectorRequirement", requirement, term[field]?.[at])),
    );
    const widens =
      (before[index]!.matchExpressions ?? []).length + (before[index]!.matchFields ?? []).length === 0 &&
      (term.matchExpressions ?? []).length + (term.matchFields ?? []).length > 0;
    return kept && !widens
      ? []
      : [invalid(termsPath.index(index), internalForm("api.core.v1.NodeSelectorTerm", term), "only additions are allowed (no mutations or deletions)")];
  });
}

function restore<Holder extends object, Field extends keyof Holder>(holder: Holder, field: Field, value: Holder[Field] | undefined): void {
  if (value === undefined) delete holder[field];
  else holder[field] = value;
}

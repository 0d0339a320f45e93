import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Label, labelName } from "../../apimachinery/names.ts";
import { validateClaimSpec } from "../core-v1/claim-spec.ts";
import { validatePodTemplateSpec } from "../core-v1/pod/template.ts";
import { applyClaimSpecDefaults } from "../core-v1/pod/volume-defaults.ts";
import { hostnameWarnings, podTemplateWarnings } from "../core-v1/pod/warnings.ts";
import type { PersistentVolumeClaim, PodTemplateSpec } from "../core-v1/types.ts";
import { validateBounds, validateCount, validateCounts, validateNotDecremented } from "../meta/counts.ts";
import { internalForm, isSemanticallyEqual } from "../meta/internal-form.ts";
import { numberOrPercent, validateAtMostWhole, validateNumberOrPercent } from "../meta/number-or-percent.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { immutable, restoreMembers } from "../update-rules.ts";
import {
  defaultTemplate,
  parseSelector,
  prepareTemplate,
  selectorForm,
  validateEndlessPods,
  validateRequiredSelector,
  validateSameSelector,
  validateTemplateLabels,
} from "./pod-controller-rules.ts";
import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec,
  StatefulSetStatus,
  StatefulSetUpdateStrategy,
} from "./types.ts";

const specPath = FieldPath.root("spec");
const templatePath = specPath.child("template");

export const statefulSets = defineKind<StatefulSet>({
  gvk: { group: "apps", version: "v1", kind: "StatefulSet" },
  nameRule: labelName,
  generation: (set, old) => !isSemanticallyEqual("api.apps.v1.StatefulSetSpec", set.spec ?? {}, old.spec ?? {}),
  defaults: applyDefaults,
  create: {
    prepare(set, context) {
      set.status = { replicas: 0 };
      prepareTemplate(set.spec?.template, undefined, context);
    },
    validate: (set, context) => validateSpec(set.spec ?? { template: {} }, context),
    warnings: (set) => [...hostnameWarnings(set.metadata.name ?? "", "Pod names and hostnames"), ...templateWarnings(set), ...historyWarnings(set)],
  },
  update: {
    prepare(set, old, context) {
      restoreMembers(set, old, "status");
      prepareTemplate(set.spec?.template, old.spec?.template, context);
    },
    validate: (set, old, context) => [
      ...validateSpec(set.spec ?? { template: {} }, context),
      ...validateChange(set.spec ?? { template: {} }, old.spec ?? { template: {} }),
    ],
    warnings: (set, old) => [...(set.metadata.generation === old.metadata.generation ? [] : templateWarnings(set)), ...historyWarnings(set)],
    resetFields: ["status"],
  },
  status: {
    prepare: (set, old) => restoreMembers(set, old, "spec"),
    validate: validateStatus,
    resetFields: ["spec"],
  },
});

function applyDefaults(set: StatefulSet): void {
  const spec = (set.spec ??= { template: {} });
  defaultTemplate(spec);
  spec.podManagementPolicy ||= "OrderedReady";
  const strategy = (spec.updateStrategy ??= {});
  if (!strategy.type) {
    strategy.type = "RollingUpdate";
    strategy.rollingUpdate ??= {};
  }
  if (strategy.type === "RollingUpdate" && strategy.rollingUpdate !== undefined) {
    strategy.rollingUpdate.partition ??= 0;
    strategy.rollingUpdate.maxUnavailable ??= 1;
  }
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {});
  retention.whenDeleted ||= "Retain";
  retention.whenScaled ||= "Retain";
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  if (spec.ordinals !== undefined) spec.ordinals.start ??= 0;
  spec.volumeClaimTemplates?.forEach(defaultClaim);
}

function defaultClaim(claim: PersistentVolumeClaim, index: number, claims: PersistentVolumeClaim[]): void {
  const { kind: _kind, apiVersion: _version, ...rest } = claim;
  const named: PersistentVolumeClaim = { kind: "PersistentVolumeClaim", apiVersion: "v1", ...rest };
  named.metadata ??= {};
  applyClaimSpecDefaults((named.spec ??= {}));
  named.status = { ...named.status, phase: named.status?.phase || "Pending" };
  claims[index] = named;
}

function validateSpec(spec: StatefulSetSpec, context: RuleContext): FieldError[] {
  const policies = ["OrderedReady", "Parallel"];
  const policyPath = specPath.child("podManagementPolicy");
  const policy = spec.podManagementPolicy ?? "";
  return [
    ...(policy === "" ? [required(policyPath)] : policies.includes(policy) ? [] : [invalid(policyPath, policy, "must be 'OrderedReady' or 'Parallel'")]),
    ...validateUpdateStrategy(spec.updateStrategy ?? {}, context.isEnabled("StatefulSetRecreateStrategy"), specPath.child("updateStrategy")),
    ...validateRetention(spec.persistentVolumeClaimRetentionPolicy ?? {}, specPath.child("persistentVolumeClaimRetentionPolicy")),
    ...validateCounts(spec, ["replicas", "minReadySeconds"], specPath),
    ...validateCount(spec.ordinals?.start, specPath.child("ordinals", "start")),
    ...(spec.volumeClaimTemplates ?? []).flatMap((claim, index) =>
      validateClaimSpec(claim.spec ?? {}, specPath.child("volumeClaimTemplates").index(index).child("spec")),
    ),
    ...validateTemplate(spec, context),
    ...(spec.serviceName ? invalidEach(specPath.child("serviceName"), spec.serviceName, isDns1123Label(spec.serviceName)) : []),
  ];
}

function validateUpdateStrategy(strategy: StatefulSetUpdateStrategy, mayRecreate: boolean, path: FieldPath): FieldError[] {
  const { rollingUpdate } = strategy;
  switch (strategy.type === "Recreate" && mayRecreate ? "OnDelete" : (strategy.type ?? "")) {
    case "":
      return [required(path)];
    case "OnDelete":
      return rollingUpdate === undefined
        ? []
        : [
            invalid(
              path.child("rollingUpdate"),
              internalForm("api.apps.v1.RollingUpdateStatefulSetStrategy", rollingUpdate),
              "only allowed for updateStrategy 'RollingUpdate'",
            ),
          ];
    case "RollingUpdate":
      return rollingUpdate === undefined ? [] : validateRollingUpdate(rollingUpdate, path.child("rollingUpdate"));
    default:
      return [invalid(path, internalForm("api.apps.v1.StatefulSetUpdateStrategy", strategy), "must be 'RollingUpdate' or 'OnDelete'")];
  }
}

function validateRollingUpdate({ partition, maxUnavailable }: RollingUpdateStatefulSetStrategy, path: FieldPath): FieldError[] {
  const errors = validateCount(partition, path.child("partition"));
  if (maxUnavailable === undefined) return errors;
  const at = path.child("maxUnavailable");
  errors.push(...validateNumberOrPercent(maxUnavailable, at));
  if (numberOrPercent(maxUnavailable) === 0) errors.push(invalid(at, maxUnavailable, "cannot be 0"));
  return [...errors, ...validateAtMostWhole(maxUnavailable, at)];
}

const retentions = ["Retain", "Delete"];

function validateRetention({ whenDeleted = "", whenScaled = "" }: StatefulSetPersistentVolumeClaimRetentionPolicy, path: FieldPath): FieldError[] {
  return [
    ...(retentions.includes(whenDeleted) ? [] : [notSupported(path.child("whenDeleted"), whenDeleted, retentions)]),
    ...(retentions.includes(whenScaled) ? [] : [notSupported(path.child("whenScaled"), whenScaled, retentions)]),
  ];
}

function validateTemplate(spec: StatefulSetSpec, context: RuleContext): FieldError[] {
  const errors = validateRequiredSelector(spec.selector, "statefulset", specPath.child("selector"));
  const selector = parseSelector(spec.selector);
  if (selector === undefined) errors.push(invalid(specPath.child("selector"), selectorForm(spec.selector), ""));
  else errors.push(...validateTemplateLabels(spec.template, selector, templatePath), ...validatePodTemplateSpec(withClaimVolumes(spec), templatePath, context));
  return [...errors, ...validateEndlessPods(spec.template.spec ?? {}, "StatefulSet", templatePath.child("spec"))];
}

/** The template as its pods have it: each claim is a volume, in the place of one that has its name. */
function withClaimVolumes({ template, volumeClaimTemplates = [] }: StatefulSetSpec): PodTemplateSpec {
  if (volumeClaimTemplates.length === 0) return template;
  const names = new Set(volumeClaimTemplates.map(({ metadata }) => metadata.name ?? ""));
  const claims = [...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...template, spec: { ...template.spec!, volumes: [...claims, ...(template.spec?.volumes ?? []).filter(({ name }) => !names.has(name))] } };
}

function validateChange(spec: StatefulSetSpec, old: StatefulSetSpec): FieldError[] {
  const claims = (of: StatefulSetSpec) => of.volumeClaimTemplates?.map((claim) => internalForm("api.core.v1.PersistentVolumeClaim", claim)) ?? null;
  return [
    ...validateSameSelector(spec, old, specPath),
    ...immutable(specPath.child("volumeClaimTemplates"), claims(spec), claims(old)),
    ...immutable(specPath.child("serviceName"), spec.serviceName ?? "", old.serviceName ?? ""),
    ...immutable(specPath.child("podManagementPolicy"), spec.podManagementPolicy ?? "", old.podManagementPolicy ?? ""),
  ];
}

function validateStatus({ status = { replicas: 0 } }: StatefulSet, old: StatefulSet): FieldError[] {
  const path = FieldPath.root("status");
  const counts = ["replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount"] as const;
  const bounds = [
    ["readyReplicas", "replicas", "status.replicas"],
    ["currentReplicas", "replicas", "status.replicas"],
    ["updatedReplicas", "replicas", "status.replicas"],
    ["availableReplicas", "replicas", "status.replicas"],
    ["availableReplicas", "readyReplicas", "status.readyReplicas"],
  ] as const;
  return [
    ...validateCounts<StatefulSetStatus>(status, counts, path),
    ...validateBounds<StatefulSetStatus>(status, bounds, path),
    ...validateNotDecremented(status.collisionCount, old.status?.collisionCount, path.child("collisionCount")),
  ];
}

function templateWarnings({ spec }: StatefulSet): string[] {
  return podTemplateWarnings(spec?.template ?? {}, templatePath);
}

function historyWarnings({ spec }: StatefulSet): string[] {
  return (spec?.revisionHistoryLimit ?? 0) < 0
    ? ["spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"]
    : [];
}

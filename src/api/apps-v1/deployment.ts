import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid, notSupported } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { hostnameWarnings, podTemplateWarnings } from "../core-v1/pod/warnings.ts";
import { validateBounds, validateCount, validateCounts, validateNotDecremented } from "../meta/counts.ts";
import { internalForm, isSemanticallyEqual } from "../meta/internal-form.ts";
import { numberOrPercent, validateAtMostWhole, validateNumberOrPercent } from "../meta/number-or-percent.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { isSame, restoreLabels, restoreMembers } from "../update-rules.ts";
import { defaultTemplate, prepareTemplate, validateReplicated, validateSameSelector } from "./pod-controller-rules.ts";
import type { Deployment, DeploymentStatus, DeploymentStrategy, RollingUpdateDeployment } from "./types.ts";

const specPath = FieldPath.root("spec");

export const deployments = defineKind<Deployment>({
  gvk: { group: "apps", version: "v1", kind: "Deployment" },
  nameRule: subdomainName,
  generation: (deployment, old) => !isSameSpec(deployment, old) || !isSame(deployment.metadata.annotations, old.metadata.annotations),
  defaults: applyDefaults,
  create: {
    prepare(deployment, context) {
      delete deployment.status;
      prepareTemplate(deployment.spec?.template, undefined, context);
    },
    validate: validateDeployment,
    warnings: (deployment) => [...hostnameWarnings(deployment.metadata.name ?? "", "Pod names and hostnames"), ...templateWarnings(deployment)],
  },
  update: {
    prepare(deployment, old, context) {
      restoreMembers(deployment, old, "status");
      prepareTemplate(deployment.spec?.template, old.spec?.template, context);
    },
    validate: (deployment, old, context) => [...validateDeployment(deployment, context), ...validateSameSelector(deployment.spec, old.spec, specPath)],
    warnings: (deployment, old) => (deployment.metadata.generation === old.metadata.generation ? [] : templateWarnings(deployment)),
    resetFields: ["status"],
  },
  status: {
    prepare(deployment, old) {
      restoreMembers(deployment, old, "spec");
      restoreLabels(deployment, old);
    },
    validate: validateStatus,
    resetFields: ["spec", "metadata.labels"],
  },
});

function applyDefaults(deployment: Deployment): void {
  const spec = (deployment.spec ??= { template: {} });
  defaultTemplate(spec);
  spec.replicas ??= 1;
  const strategy = (spec.strategy ??= {});
  strategy.type ||= "RollingUpdate";
  if (strategy.type === "RollingUpdate") {
    const rollingUpdate = (strategy.rollingUpdate ??= {});
    rollingUpdate.maxUnavailable ??= "25%";
    rollingUpdate.maxSurge ??= "25%";
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
}

function validateDeployment({ spec = { template: {} } }: Deployment, context: RuleContext): FieldError[] {
  const { minReadySeconds = 0, progressDeadlineSeconds } = spec;
  const deadlinePath = specPath.child("progressDeadlineSeconds");
  return [
    ...validateCount(spec.replicas, specPath.child("replicas")),
    ...validateReplicated(spec, context, specPath),
    ...validateStrategy(spec.strategy ?? {}, specPath.child("strategy")),
    ...validateCounts(spec, ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"], specPath),
    ...(progressDeadlineSeconds !== undefined && progressDeadlineSeconds <= minReadySeconds
      ? [invalid(deadlinePath, progressDeadlineSeconds, "must be greater than minReadySeconds")]
      : []),
  ];
}

function validateStrategy(strategy: DeploymentStrategy, path: FieldPath): FieldError[] {
  switch (strategy.type) {
    case "Recreate":
      return strategy.rollingUpdate === undefined ? [] : [forbidden(path.child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")];
    case "RollingUpdate":
      return validateRollingUpdate(strategy.rollingUpdate ?? {}, path.child("rollingUpdate"));
    default:
      return [notSupported(path, internalForm("api.apps.v1.DeploymentStrategy", strategy), ["Recreate", "RollingUpdate"])];
  }
}

function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDeployment, path: FieldPath): FieldError[] {
  const unavailablePath = path.child("maxUnavailable");
  const isStuck = numberOrPercent(maxUnavailable) === 0 && numberOrPercent(maxSurge) === 0;
  return [
    ...validateNumberOrPercent(maxUnavailable, unavailablePath),
    ...validateNumberOrPercent(maxSurge, path.child("maxSurge")),
    ...(isStuck ? [invalid(unavailablePath, maxUnavailable, "may not be 0 when `maxSurge` is 0")] : []),
    ...validateAtMostWhole(maxUnavailable, unavailablePath),
  ];
}

function validateStatus({ status = {} }: Deployment, old: Deployment): FieldError[] {
  const path = FieldPath.root("status");
  const counts = [
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
  ] as const;
  const bounds = [
    ["updatedReplicas", "replicas", "status.replicas"],
    ["readyReplicas", "replicas", "status.replicas"],
    ["availableReplicas", "replicas", "status.replicas"],
    ["availableReplicas", "readyReplicas", "readyReplicas"],
  ] as const;
  return [
    ...validateCounts<DeploymentStatus>(status, counts, path),
    ...validateBounds<DeploymentStatus>(status, bounds, path),
    ...validateNotDecremented(status.collisionCount, old.status?.collisionCount, path.child("collisionCount")),
  ];
}

function isSameSpec(deployment: Deployment, old: Deployment): boolean {
  return isSemanticallyEqual("api.apps.v1.DeploymentSpec", deployment.spec ?? {}, old.spec ?? {});
}

function templateWarnings({ spec }: Deployment): string[] {
  return podTemplateWarnings(spec?.template ?? {}, specPath.child("template"));
}

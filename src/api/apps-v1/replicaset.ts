import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { hostnameWarnings, podTemplateWarnings } from "../core-v1/pod/warnings.ts";
import { validateBounds, validateCounts } from "../meta/counts.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import { defaultTemplate, prepareTemplate, validateReplicated, validateSameSelector } from "./pod-controller-rules.ts";
import type { ReplicaSet, ReplicaSetStatus } from "./types.ts";

const specPath = FieldPath.root("spec");

export const replicaSets = defineKind<ReplicaSet>({
  gvk: { group: "apps", version: "v1", kind: "ReplicaSet" },
  nameRule: subdomainName,
  generation: (set, old) => !isSemanticallyEqual("api.apps.v1.ReplicaSetSpec", set.spec ?? {}, old.spec ?? {}),
  defaults(set) {
    const spec = (set.spec ??= {});
    defaultTemplate(spec);
    spec.replicas ??= 1;
  },
  create: {
    prepare(set, context) {
      set.status = { replicas: 0 };
      prepareTemplate(set.spec?.template, undefined, context);
    },
    validate: validateReplicaSet,
    warnings: (set) => [...hostnameWarnings(set.metadata.name ?? "", "Pod names and hostnames"), ...templateWarnings(set)],
  },
  update: {
    prepare(set, old, context) {
      restoreMembers(set, old, "status");
      prepareTemplate(set.spec?.template, old.spec?.template, context);
    },
    validate: (set, old, context) => [...validateReplicaSet(set, context), ...validateSameSelector(set.spec, old.spec, specPath)],
    warnings: (set, old) => (set.metadata.generation === old.metadata.generation ? [] : templateWarnings(set)),
    resetFields: ["status"],
  },
  status: {
    prepare: (set, old) => restoreMembers(set, old, "spec"),
    validate: validateStatus,
    resetFields: ["spec"],
  },
});

function validateReplicaSet({ spec = {} }: ReplicaSet, context: RuleContext): FieldError[] {
  return [...validateCounts(spec, ["replicas", "minReadySeconds"], specPath), ...validateReplicated(spec, context, specPath)];
}

function validateStatus({ status = { replicas: 0 } }: ReplicaSet): FieldError[] {
  const path = FieldPath.root("status");
  const counts = ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "terminatingReplicas", "observedGeneration"] as const;
  const bounds = [
    ["fullyLabeledReplicas", "replicas", "status.replicas"],
    ["readyReplicas", "replicas", "status.replicas"],
    ["availableReplicas", "replicas", "status.replicas"],
    ["availableReplicas", "readyReplicas", "readyReplicas"],
  ] as const;
  return [...validateCounts<ReplicaSetStatus>(status, counts, path), ...validateBounds<ReplicaSetStatus>(status, bounds, path)];
}

function templateWarnings({ spec }: ReplicaSet): string[] {
  return podTemplateWarnings(spec?.template ?? {}, specPath.child("template"));
}

/** Pods (API reference "Pod v1 core"). */
import { forbidden } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import { subdomainName } from "../../../apimachinery/names.ts";
import { isSemanticallyEqual } from "../../meta/internal-form.ts";
import { defineKind } from "../../strategy.ts";
import type { RuleContext } from "../../strategy.ts";
import type { Pod } from "../types.ts";
import { validateAnnotationsMatchFields, validateAnnotationUpdate, validatePodAnnotations } from "./annotations.ts";
import { validateImages } from "./containers.ts";
import { applyPodDefaults } from "./defaults.ts";
import { validateEphemeralUpdate } from "./ephemeral.ts";
import { keep, prepareChangedPod, prepareNewPod } from "./prepare.ts";
import { keepOnlyResize, validateResize } from "./resize.ts";
import { validatePodSpec } from "./spec.ts";
import { validatePodStatus } from "./status.ts";
import { validatePodChange } from "./update.ts";
import { hostnameWarnings, podWarnings } from "./warnings.ts";

const annotationsPath = FieldPath.root("metadata", "annotations");
const specPath = FieldPath.root("spec");

export const pods = defineKind<Pod>({
  gvk: { group: "", version: "v1", kind: "Pod" },
  nameRule: subdomainName,
  // Only a binding sets the node's name, and that is no new generation.
  generation: (pod, old) =>
    !isSemanticallyEqual("api.core.v1.PodSpec", { ...pod.spec, nodeName: old.spec?.nodeName ?? "" }, { ...old.spec, nodeName: old.spec?.nodeName ?? "" }),
  defaults: applyPodDefaults,
  create: {
    prepare: prepareNewPod,
    validate: (pod, context) => [...validatePod(pod, context), ...validateNewPod(pod)],
    warnings: (pod) => [...hostnameWarnings(pod.metadata.name ?? "", "the Pod's hostname"), ...podWarnings(pod)],
  },
  update: {
    prepare: prepareChangedPod,
    validate: (pod, old, context) => [...validatePod(pod, context), ...validateAnnotationUpdate(pod, old, annotationsPath), ...validatePodChange(pod, old)],
    warnings: podWarnings,
    resetFields: ["status"],
  },
  status: {
    prepare: (pod, old) => {
      pod.spec = deepCopy(old.spec ?? {});
      if (old.status?.qosClass !== undefined) (pod.status ??= {}).qosClass ||= old.status.qosClass;
      keep(pod.metadata, "deletionTimestamp", old.metadata.deletionTimestamp);
      keep(pod.metadata, "ownerReferences", old.metadata.ownerReferences);
    },
    validate: (pod, old) => [...validateAnnotationUpdate(pod, old, annotationsPath), ...validatePodStatus(pod, old)],
    resetFields: ["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"],
  },
  subresources: {
    // What a binding may change was decided where it was made.
    binding: {},
    ephemeralcontainers: {
      prepare: (pod, old) => {
        const { ephemeralContainers } = pod.spec ?? {};
        restoreAllButSpec(pod, old);
        pod.spec = deepCopy(old.spec ?? {});
        keep(pod.spec, "ephemeralContainers", ephemeralContainers);
      },
      validate: (pod, old, context) => [
        ...validatePod(pod, context),
        ...validateAnnotationUpdate(pod, old, annotationsPath),
        ...validateEphemeralUpdate(pod, old),
      ],
      warnings: podWarnings,
    },
    resize: {
      prepare: keepOnlyResize,
      validate: (pod, old, context) => {
        const errors = validatePod(pod, context);
        return errors.length > 0 ? errors : validateResize(pod, old);
      },
      warnings: podWarnings,
      resetFields: ["metadata", "status"],
    },
  },
  delete: { answer: "object", gracePeriodSeconds: gracePeriod },
  selectableFields: ({ spec = {}, status = {} }) => ({
    "spec.nodeName": spec.nodeName ?? "",
    "spec.restartPolicy": spec.restartPolicy ?? "",
    "spec.schedulerName": spec.schedulerName ?? "",
    "spec.serviceAccountName": spec.serviceAccountName ?? "",
    "spec.hostNetwork": String(spec.hostNetwork ?? false),
    "status.phase": status.phase ?? "",
    "status.podIP": status.podIPs?.[0]?.ip ?? status.podIP ?? "",
    "status.podIPs": "",
    "status.nominatedNodeName": status.nominatedNodeName ?? "",
  }),
});

/** What holds for every pod, on creation and after each change. */
function validatePod(pod: Pod, context: RuleContext): FieldError[] {
  const { metadata, spec = {} } = pod;
  return [
    ...validatePodAnnotations(metadata.annotations ?? {}, spec, annotationsPath),
    ...validatePodSpec(spec, { metadata, context }, specPath),
    ...(spec.serviceAccountName ? [] : validateNoTokens(pod)),
    ...validateImages(spec.containers ?? [], specPath.child("containers")),
    ...validateImages(spec.initContainers ?? [], specPath.child("initContainers")),
  ];
}

function validateNewPod({ metadata, spec = {} }: Pod): FieldError[] {
  const errors: FieldError[] = [];
  if ((spec.ephemeralContainers ?? []).length > 0) errors.push(forbidden(specPath.child("ephemeralContainers"), "cannot be set on create"));
  if (spec.nodeName && (spec.schedulingGates ?? []).length > 0)
    errors.push(forbidden(specPath.child("nodeName"), "cannot be set until all schedulingGates have been cleared"));
  return [...errors, ...validateAnnotationsMatchFields(metadata, spec, specPath)];
}

function validateNoTokens({ spec = {} }: Pod): FieldError[] {
  return (spec.volumes ?? []).flatMap(({ projected }, volume) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }, source) =>
      serviceAccountToken === undefined
        ? []
        : [
            forbidden(
              specPath.child("volumes").index(volume).child("projected", "sources").index(source).child("serviceAccountToken"),
              "must not be specified when serviceAccountName is not set",
            ),
          ],
    ),
  );
}

function restoreAllButSpec(pod: Pod, old: Pod): void {
  const { resourceVersion, managedFields } = pod.metadata;
  pod.metadata = {
    ...deepCopy(old.metadata),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(managedFields !== undefined && { managedFields }),
  };
  keep(pod, "status", old.status);
}

/** A pod that runs nowhere, or no more, goes at once. */
function gracePeriod({ spec = {}, status = {} }: Pod, requestedSeconds: number | undefined): number {
  const seconds = requestedSeconds ?? spec.terminationGracePeriodSeconds ?? 0;
  if (!spec.nodeName || status.phase === "Failed" || status.phase === "Succeeded") return 0;
  return seconds < 0 ? 1 : seconds;
}

/** Resizing in place (KEP 1287): the resources of containers, and of the pod as a whole, are all that may change. */
import { forbidden, invalid } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import { isSemanticallyEqual } from "../../meta/internal-form.ts";
import type { ResourceList } from "../resource-names.ts";
import type { Container, Pod, PodSpec, ResourceRequirements } from "../types.ts";
import { mirrorAnnotation } from "./annotations.ts";
import { keep } from "./prepare.ts";
import { qosClassOf } from "./qos.ts";

const specPath = FieldPath.root("spec");

/** Turns `pod` into `old` with the resources, and resize policies, that it asks for. */
export function keepOnlyResize(pod: Pod, old: Pod): void {
  const asked = pod.spec ?? {};
  const spec: PodSpec = deepCopy(old.spec ?? {});
  for (const field of ["containers", "initContainers"] as const) {
    for (const container of spec[field] ?? []) {
      const wanted = (asked[field] ?? []).find(({ name }: Container) => name === container.name);
      if (wanted === undefined) continue;
      keep(container, "resources", wanted.resources);
      keep(container, "resizePolicy", wanted.resizePolicy);
    }
  }
  if (asked.resources !== undefined) spec.resources = asked.resources;
  const { resourceVersion } = pod.metadata;
  pod.metadata = { ...deepCopy(old.metadata), ...(resourceVersion !== undefined && { resourceVersion }), ...(pod.metadata.managedFields !== undefined && { managedFields: pod.metadata.managedFields }) };
  pod.spec = spec;
  keep(pod, "status", old.status);
}

export function validateResize(pod: Pod, old: Pod): FieldError[] {
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) return [forbidden(FieldPath.root(), "static pods cannot be resized")];
  const spec = pod.spec ?? {};
  const before = old.spec ?? {};
  if (before.os?.name === "windows") return [forbidden(FieldPath.root(), "windows pods cannot be resized")];
  const errors: FieldError[] = [];
  if (qosClassOf(spec) !== (old.status?.qosClass ?? qosClassOf(before))) errors.push(invalid(specPath, pod.status?.qosClass ?? "", "Pod QOS Class may not change as a result of resizing"));
  for (const field of ["containers", "initContainers"] as const) {
    (spec[field] ?? []).forEach((container, index) => {
      const path = specPath.child(field).index(index);
      errors.push(...validateRemovals(container.resources ?? {}, before[field]?.[index]?.resources ?? {}, path.child("resources")));
      if (field === "initContainers" && container.restartPolicy !== "Always" && !isSemanticallyEqual("api.core.v1.ResourceRequirements", container.resources ?? {}, before[field]?.[index]?.resources ?? {})) {
        errors.push(forbidden(path.child("resources"), "resources for non-sidecar init containers are immutable"));
      }
    });
  }
  if (spec.resources !== undefined && before.resources !== undefined) errors.push(...validateRemovals(spec.resources, before.resources, specPath.child("resources")));
  if (!isSemanticallyEqual("api.core.v1.PodSpec", withoutCpuAndMemory(spec), withoutCpuAndMemory(before))) errors.push(forbidden(specPath, "only cpu and memory resources are mutable"));
  return errors;
}

function validateRemovals(now: ResourceRequirements, old: ResourceRequirements, path: FieldPath): FieldError[] {
  const isRemoved = (list: ResourceList | undefined, before: ResourceList | undefined) => ["cpu", "memory"].some((name) => before?.[name] !== undefined && list?.[name] === undefined);
  return [
    ...(isRemoved(now.limits, old.limits) ? [forbidden(path.child("limits"), "resource limits cannot be removed")] : []),
    ...(isRemoved(now.requests, old.requests) ? [forbidden(path.child("requests"), "resource requests cannot be removed")] : []),
  ];
}

function withoutCpuAndMemory(spec: PodSpec): PodSpec {
  const copy = deepCopy(spec);
  const holders: { resources?: ResourceRequirements; resizePolicy?: unknown }[] = [...(copy.containers ?? []), ...(copy.initContainers ?? []), copy];
  for (const { resources } of holders) {
    for (const list of [resources?.limits, resources?.requests]) {
      delete list?.cpu;
      delete list?.memory;
    }
  }
  return copy;
}

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

/** The path of the object itself, as upstream prints it. */
export const wholeObject = FieldPath.root("[]");
const specPath = FieldPath.root("spec");

/** Turns `pod` into `old` with the resources, and resize policies, that it asks for. Containers that come or go stay so, to be refused. */
export function keepOnlyResize(pod: Pod, old: Pod): void {
  const asked = pod.spec ?? {};
  const spec: PodSpec = deepCopy(old.spec ?? {});
  for (const field of ["containers", "initContainers"] as const) {
    if (haveSameNames(asked[field], spec[field])) (spec[field] ?? []).forEach((container, index) => takeResources(container, asked[field]![index]!));
    else keep(spec, field, asked[field]);
  }
  if (asked.resources !== undefined) spec.resources = asked.resources;
  const { resourceVersion, managedFields } = pod.metadata;
  pod.metadata = {
    ...deepCopy(old.metadata),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(managedFields !== undefined && { managedFields }),
  };
  pod.spec = spec;
  keep(pod, "status", old.status);
}

function haveSameNames(left: readonly Container[] | undefined, right: readonly Container[] | undefined): boolean {
  const names = (list: readonly Container[] | undefined) => JSON.stringify((list ?? []).map(({ name }) => name));
  return names(left) === names(right);
}

function takeResources(container: Container, asked: Container): void {
  keep(container, "resources", asked.resources);
  keep(container, "resizePolicy", asked.resizePolicy);
}

export function validateResize(pod: Pod, old: Pod): FieldError[] {
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) return [forbidden(wholeObject, "static pods cannot be resized")];
  const spec = pod.spec ?? {};
  const before = old.spec ?? {};
  if (before.os?.name === "windows") return [forbidden(wholeObject, "windows pods cannot be resized")];
  const errors: FieldError[] = [];
  for (const field of ["containers", "initContainers"] as const) {
    if (!haveSameNames(spec[field], before[field])) return [forbidden(specPath.child(field), "containers may not be added or removed on resize")];
  }
  if (qosClassOf(spec) !== (old.status?.qosClass ?? qosClassOf(before)))
    errors.push(invalid(specPath, pod.status?.qosClass ?? "", "Pod QOS Class may not change as a result of resizing"));
  for (const field of ["containers", "initContainers"] as const) {
    (spec[field] ?? []).forEach((container, index) => {
      const path = specPath.child(field).index(index);
      errors.push(...validateRemovals(container.resources ?? {}, before[field]?.[index]?.resources ?? {}, path.child("resources")));
      if (
        field === "initContainers" &&
        container.restartPolicy !== "Always" &&
        !isSemanticallyEqual("api.core.v1.ResourceRequirements", container.resources ?? {}, before[field]?.[index]?.resources ?? {})
      ) {
        errors.push(forbidden(path.child("resources"), "resources for non-sidecar init containers are immutable"));
      }
    });
  }
  if (spec.resources !== undefined && before.resources !== undefined)
    errors.push(...validateRemovals(spec.resources, before.resources, specPath.child("resources")));
  if (!isSemanticallyEqual("api.core.v1.PodSpec", withoutCpuAndMemory(spec), withoutCpuAndMemory(before)))
    errors.push(forbidden(specPath, "only cpu and memory resources are mutable"));
  return errors;
}

function validateRemovals(now: ResourceRequirements, old: ResourceRequirements, path: FieldPath): FieldError[] {
  const isRemoved = (list: ResourceList | undefined, before: ResourceList | undefined) =>
    ["cpu", "memory"].some((name) => before?.[name] !== undefined && list?.[name] === undefined);
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

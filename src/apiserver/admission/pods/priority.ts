/** Priority: a pod's, or a group of pods', priority and preemption policy follow from its class (documentation page "Pod Priority and Preemption"). */
import type { Pod } from "../../../api/core-v1/types.ts";
import type { PriorityClass } from "../../../api/scheduling-v1/types.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { derived } from "../derived.ts";
import { refuse } from "../refuse.ts";

const resource = "scheduling.k8s.io/priorityclasses";

/** Groups of pods have a priority as pods do. */
const groupResources = ["scheduling.k8s.io/podgroups", "scheduling.k8s.io/compositepodgroups"];

export const priority: AdmissionPlugin = {
  name: "Priority",
  operations: new Set(["CREATE", "UPDATE", "DELETE"]),
  resources: new Set(["/pods", ...groupResources, resource]),
  mutate,
  validate,
};

/** The class of pods that name none; the lowest should several say so. */
const defaultClass = derived(resource, (objects) => {
  const candidates = (objects as unknown as PriorityClass[]).filter(({ globalDefault }) => globalDefault === true);
  return candidates.reduce<PriorityClass | undefined>((best, next) => (best === undefined || (next.value ?? 0) < (best.value ?? 0) ? next : best), undefined);
});

const systemClasses = new Set(["system-node-critical", "system-cluster-critical"]);

function mutate(request: AdmissionRequest): void {
  const { group, resource: name } = request.definition;
  if (request.subresource !== "" || (name !== "pods" && !groupResources.includes(`${group}/${name}`))) return;
  const pod = request.object as unknown as Pod;
  const spec = (pod.spec ??= {});
  if (request.operation === "UPDATE") {
    const old = (request.oldObject as unknown as Pod).spec ?? {};
    if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
    if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined) spec.preemptionPolicy = old.preemptionPolicy;
    return;
  }
  const chosen = classOf(request, spec.priorityClassName ?? "");
  if (chosen?.metadata.name !== undefined) spec.priorityClassName = chosen.metadata.name;
  const value = chosen?.value ?? 0;
  const policy = chosen === undefined ? "PreemptLowerPriority" : chosen.preemptionPolicy;
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refuse(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  spec.priority = value;
  if (policy === undefined) return;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refuse(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  spec.preemptionPolicy = policy;
}

function classOf(request: AdmissionRequest, name: string): PriorityClass | undefined {
  const { server } = request.context;
  if (name === "") return defaultClass(server);
  const found = findObject(server, resource, "", name);
  if (found === undefined) throw refuse(request, `no PriorityClass with name ${name} was found`);
  return found as unknown as PriorityClass;
}

function validate(request: AdmissionRequest): void {
  if (request.definition.resource !== "priorityclasses" || request.subresource !== "") return;
  if (request.operation === "DELETE") {
    if (systemClasses.has(request.name)) throw refuse(request, "this is a system priority class and cannot be deleted");
    return;
  }
  const wanted = request.object as unknown as PriorityClass;
  if (wanted.globalDefault !== true) return;
  const existing = defaultClass(request.context.server);
  if (existing === undefined || (request.operation === "UPDATE" && existing.metadata.name === wanted.metadata.name)) return;
  throw refuse(request, `PriorityClass ${existing.metadata.name} is already marked as default. Only one default can exist`);
}

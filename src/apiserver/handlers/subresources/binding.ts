/** POST pods/binding (and bindings): puts a pod on a node, once (API type core/v1 Binding). */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import type { Binding, Pod, PodCondition } from "../../../api/core-v1/types.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { StatusError, badRequestError, conflictError, notFoundError } from "../../../apimachinery/status.ts";
import { formatTime } from "../../../apimachinery/time.ts";
import { parseWriteOptions } from "../../registry/options.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { uidMismatch, updateObject } from "../../registry/update.ts";
import type { UpdateRequest } from "../../registry/update.ts";
import { statusResponse } from "../../http/write-response.ts";
import type { RequestContext } from "../../request-context.ts";
import { decodeBody } from "../writing/decode-body.ts";
import { negotiateFor } from "../respond.ts";

const bindingType = { group: "", version: "v1", kind: "Binding", schema: typeRegistry.kind("", "v1", "Binding")! };

export async function handleBinding(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFor(context, []);
  const options = parseWriteOptions(context.query, "CreateOptions");
  const binding = decodeBody(context, bindingType, options.fieldValidation) as unknown as Binding;
  context.audit?.noteRequest(binding as unknown as KubeObject, bindingType);
  const name = context.info.subresource === "binding" ? context.info.name : (binding.metadata.name ?? "");
  const pods = definition.resource === "pods" ? definition : context.server.resources.find("", "v1", "pods")!;
  const admitted = {
    context,
    operation: "CREATE",
    definition: pods,
    subresource: "binding",
    namespace: context.info.namespace,
    name,
    object: binding as unknown as KubeObject,
    oldObject: undefined,
    isDryRun: options.isDryRun,
  } as const;
  await context.server.admission.mutate(admitted);
  if (context.info.subresource === "binding" && binding.metadata.name !== name) throw badRequestError("name in URL does not match name in Binding object");
  const namespace = binding.metadata.namespace ?? "";
  if (namespace !== "" && namespace !== context.info.namespace)
    throw badRequestError("the namespace of the provided object does not match the namespace sent on the request");
  checkTarget(binding);
  await context.server.admission.validate(admitted);
  await updateObject({
    context,
    definition: pods,
    namespace: context.info.namespace,
    name,
    subresource: "binding",
    options,
    createsMissing: false,
    produce(old) {
      if (old === undefined) throw notFoundError(pods, name);
      return bound({ context, definition: pods, options }, old as unknown as Pod, binding) as unknown as KubeObject;
    },
  });
  return statusResponse({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, form);
}

function checkTarget(binding: Binding): void {
  const kind = binding.target?.kind ?? "";
  const target = binding.target?.name ?? "";
  const faults: string[] = [];
  if (kind !== "" && kind !== "Node") faults.push(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`);
  if (target === "") faults.push("target.name: Required value");
  if (faults.length > 0) throw new StatusError({ message: faults.length === 1 ? faults[0]! : `[${faults.join(", ")}]`, code: 500 });
}

function bound({ context, definition, options }: Pick<UpdateRequest, "context" | "definition" | "options">, old: Pod, binding: Binding): Pod {
  const name = old.metadata.name!;
  const nodeName = binding.target!.name!;
  const refuse = (detail: string) => conflictError({ group: "", resource: "pods/binding" }, name, detail);
  const uid = binding.metadata.uid ?? "";
  if (uid !== "" && uid !== old.metadata.uid)
    throw uidMismatch({ context, definition, options, namespace: old.metadata.namespace!, name }, uid, old.metadata.uid!);
  if (old.metadata.deletionTimestamp !== undefined) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if ((old.spec?.nodeName ?? "") !== "") throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(old.spec!.nodeName)}`);
  if ((old.spec?.schedulingGates ?? []).length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  const pod = deepCopy(old);
  pod.spec!.nodeName = nodeName;
  if (binding.metadata.annotations !== undefined) pod.metadata.annotations = { ...pod.metadata.annotations, ...binding.metadata.annotations };
  if (binding.metadata.labels !== undefined) pod.metadata.labels = { ...pod.metadata.labels, ...binding.metadata.labels };
  pod.status = { ...pod.status, conditions: withScheduled(pod.status?.conditions ?? [], formatTime(context.server.clock.nowMs())) };
  delete pod.status.nominatedNodeName;
  return pod;
}

function withScheduled(conditions: readonly PodCondition[], now: string): PodCondition[] {
  const scheduled: PodCondition = { type: "PodScheduled", status: "True", lastTransitionTime: now };
  return conditions.some((condition) => condition.type === "PodScheduled")
    ? conditions.map((condition) => (condition.type === "PodScheduled" ? scheduled : condition))
    : [...conditions, scheduled];
}

/** NodeDeclaredFeatureValidator: a pod that runs is not changed into one whose node lacks a feature it needs (KEP-5328). */
import type { Node, Pod } from "../../../api/core-v1/types.ts";
import { qosClassOf } from "../../../api/core-v1/pod/qos.ts";
import { deepEqual } from "../../../apimachinery/json.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";
import { podAmounts } from "./pod-resources.ts";

export const nodeDeclaredFeatureValidator: AdmissionPlugin = {
  name: "NodeDeclaredFeatureValidator",
  operations: new Set(["UPDATE"]),
  resources: new Set(["/pods"]),
  validate,
};

interface Feature {
  readonly name: string;
  /** Whether an update from `old` to `pod` needs it. */
  needs(pod: Pod, old: Pod): boolean;
}

const features: readonly Feature[] = [
  { name: "GuaranteedQoSPodCPUResize", needs: (pod, old) => qosClassOf(pod.spec ?? {}) === "Guaranteed" && !deepEqual(cpuOf(pod), cpuOf(old)) },
];

function validate(request: AdmissionRequest): void {
  if (request.subresource !== "" && request.subresource !== "resize") return;
  const pod = request.object as unknown as Pod;
  const nodeName = pod.spec?.nodeName ?? "";
  if (nodeName === "") return;
  const needed = features.filter((feature) => feature.needs(pod, request.oldObject as unknown as Pod)).map(({ name }) => name);
  if (needed.length === 0) return;
  const declared = (findObject(request.context.server, "/nodes", "", nodeName) as unknown as Node | undefined)?.status?.declaredFeatures;
  // A node that declares nothing at all is older than declarations.
  if (declared === undefined) return;
  const missing = needed.filter((name) => !declared.includes(name));
  if (missing.length > 0)
    throw refuse(request, `pod update requires features ${missing.join(", ")} which are not available on node ${JSON.stringify(nodeName)}`);
}

function cpuOf({ spec = {} }: Pod): readonly (string | undefined)[] {
  return (["requests", "limits"] as const).map((kind) => podAmounts(spec, kind, { withOverhead: false }).get("cpu")?.text);
}

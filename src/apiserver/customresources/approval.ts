/** Groups under `k8s.io` and `kubernetes.io` belong to the project: definitions there say who approved them (KEP-2337). Pure. */
import type { CustomResourceDefinition } from "../../api/apiextensions-v1/types.ts";
import type { WantedCondition } from "./conditions.ts";

const annotation = "api-approved.kubernetes.io";

/** The condition of a definition in a protected group, undefined for others. */
export function decideApproval(crd: CustomResourceDefinition): WantedCondition | undefined {
  if (!isProtected(crd.spec.group)) return undefined;
  const value = crd.metadata.annotations?.[annotation] ?? "";
  const type = "KubernetesAPIApprovalPolicyConformant";
  const help = "see https://github.com/kubernetes/enhancements/pull/1111";
  if (value === "")
    return { type, status: "False", reason: "MissingAnnotation", message: `protected groups must have approval annotation "${annotation}", ${help}` };
  if (value.startsWith("unapproved")) return { type, status: "False", reason: "UnapprovedAnnotation", message: `not approved: ${JSON.stringify(value)}` };
  if (URL.canParse(value)) return { type, status: "True", reason: "ApprovedAnnotation", message: `approved in ${value}` };
  return {
    type,
    status: "False",
    reason: "InvalidAnnotation",
    message: `protected groups must have approval annotation "${annotation}" with either a URL or a reason starting with "unapproved", ${help}`,
  };
}

function isProtected(group: string): boolean {
  return ["k8s.io", "kubernetes.io"].some((suffix) => group === suffix || group.endsWith(`.${suffix}`)) && !group.endsWith(".x-k8s.io");
}

/** The 403 of a request that nobody allows, in Kubernetes' words. */
import { StatusError } from "../../apimachinery/status.ts";
import { qualifiedResource } from "../../apimachinery/object.ts";
import type { AuthorizationAttributes, Decision } from "./authorizer.ts";

export function refusal(attributes: AuthorizationAttributes, decision: Decision): StatusError {
  const user = JSON.stringify(attributes.user.username);
  const reason = decision.reason === "" ? "" : `: ${decision.reason}`;
  if (attributes.kind === "path") {
    return new StatusError({
      message: `forbidden: User ${user} cannot ${attributes.verb} path ${JSON.stringify(attributes.path)}${reason}`,
      reason: "Forbidden",
      details: {},
      code: 403,
    });
  }
  const { group, resource, subresource, namespace, name, verb } = attributes;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? " at the cluster scope" : ` in the namespace ${JSON.stringify(namespace)}`;
  const label = qualifiedResource(resource, group);
  const subject = name === "" ? `${label} is forbidden` : `${label} ${JSON.stringify(name)} is forbidden`;
  return new StatusError({
    message: `${subject}: User ${user} cannot ${verb} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)}${where}${reason}`,
    reason: "Forbidden",
    details: { ...(name !== "" && { name }), ...(group !== "" && { group }), kind: resource },
    code: 403,
  });
}

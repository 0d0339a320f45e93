/** NamespaceLifecycle: nothing is created in a namespace that is missing or leaving; system namespaces stay. */
import { StatusError, forbiddenError, notFoundError } from "../../../apimachinery/status.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { nameOf } from "../refuse.ts";

const immortal = new Set(["default", "kube-system", "kube-public"]);

/** Reviews are answered for namespaces that do not exist, too. */
const exemptGroups = new Set(["authorization.k8s.io", "authentication.k8s.io"]);

export const namespaceLifecycle: AdmissionPlugin = {
  name: "NamespaceLifecycle",
  operations: new Set(["CREATE", "DELETE"]),
  mutate: check,
  validate: check,
};

function check(request: AdmissionRequest): void {
  const { definition, operation, namespace, name, context } = request;
  const isNamespace = definition.group === "" && definition.resource === "namespaces";
  if (operation === "DELETE") {
    if (isNamespace && immortal.has(name)) throw forbiddenError(definition, name, "this namespace may not be deleted");
    return;
  }
  if (isNamespace || namespace === "" || exemptGroups.has(definition.group)) return;
  const found = findObject(context.server, "/namespaces", "", namespace);
  if (found === undefined) throw notFoundError({ group: "", resource: "namespaces" }, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const refused = forbiddenError(definition, nameOf(request), `unable to create new content in namespace ${namespace} because it is being terminated`);
  throw new StatusError({
    ...refused.status,
    details: {
      ...refused.status.details,
      causes: [{ reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated`, field: "metadata.namespace" }],
    },
  });
}

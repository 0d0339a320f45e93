/** NamespaceAutoProvision and NamespaceExists: what happens when an object is created in a namespace that is not there. */
import { StatusError, notFoundError } from "../../../apimachinery/status.ts";
import { createInternally } from "../../registry/internal-writes.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";

export const namespaceAutoProvision: AdmissionPlugin = {
  name: "NamespaceAutoProvision",
  operations: new Set(["CREATE"]),
  async mutate(request) {
    if (request.isDryRun || !isMissing(request)) return;
    const { server } = request.context;
    const definition = server.resources.find("", "v1", "namespaces")!;
    try {
      await createInternally(server, definition, { kind: "Namespace", apiVersion: "v1", metadata: { name: request.namespace } });
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      throw refuse(request, error.message);
    }
  },
};

export const namespaceExists: AdmissionPlugin = {
  name: "NamespaceExists",
  operations: new Set(["CREATE", "UPDATE", "DELETE"]),
  validate(request) {
    if (isMissing(request)) throw notFoundError({ group: "", resource: "namespaces" }, request.namespace);
  },
};

function isMissing({ context, definition, namespace }: AdmissionRequest): boolean {
  const isNamespace = definition.group === "" && definition.resource === "namespaces";
  return namespace !== "" && !isNamespace && findObject(context.server, "/namespaces", "", namespace) === undefined;
}

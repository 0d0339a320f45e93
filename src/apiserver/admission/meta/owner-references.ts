/** OwnerReferencesPermissionEnforcement: who may delete an object may change its owners; who blocks an owner's deletion must be able to finalize it. */
import { deepEqual } from "../../../apimachinery/json.ts";
import { parseApiVersion } from "../../../apimachinery/object.ts";
import type { OwnerReference } from "../../../apimachinery/object.ts";
import type { Decision } from "../../authz/authorizer.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { nameOf, refuse } from "../refuse.ts";

export const ownerReferencesPermissionEnforcement: AdmissionPlugin = {
  name: "OwnerReferencesPermissionEnforcement",
  operations: new Set(["CREATE", "UPDATE"]),
  async validate(request) {
    const owners = request.object?.metadata?.ownerReferences ?? [];
    const old = request.oldObject?.metadata.ownerReferences ?? [];
    if (request.object === undefined || deepEqual(owners, old)) return;
    const isCreate = request.operation === "CREATE";
    if (!isCreate) refuseUnless(request, await mayDelete(request), "cannot set an ownerRef on a resource you can't delete");
    await checkBlocking(request, newlyBlocking(owners, old));
  },
};

/** The reason is told with the error of the decision, of which there is none. */
function refuseUnless(request: AdmissionRequest, { verdict, reason }: Decision, text: string): void {
  if (verdict !== "allow") throw refuse(request, `${text}: ${reason}, <nil>`);
}

async function mayDelete(request: AdmissionRequest): Promise<Decision> {
  const { context, definition, namespace } = request;
  const { group, version, resource } = definition;
  return context.server.authorizer.authorize({
    kind: "resource",
    user: context.user,
    verb: "delete",
    group,
    version,
    resource,
    subresource: "",
    namespace,
    name: nameOf(request),
  });
}

/** References that block their owner's deletion and did not before. */
function newlyBlocking(owners: readonly OwnerReference[], old: readonly OwnerReference[]): OwnerReference[] {
  const blocking = (list: readonly OwnerReference[]) => list.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
  const before = new Set(blocking(old).map(({ uid }) => uid));
  return blocking(owners).filter(({ uid }) => !before.has(uid));
}

async function checkBlocking(request: AdmissionRequest, references: readonly OwnerReference[]): Promise<void> {
  const { context, namespace } = request;
  for (const { apiVersion, kind, name } of references) {
    const gv = parseApiVersion(apiVersion);
    const owner = gv && context.server.resources.byKind(gv.group, gv.version, kind);
    if (owner === undefined)
      throw refuse(
        request,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
      );
    const decision = await context.server.authorizer.authorize({
      kind: "resource",
      user: context.user,
      verb: "update",
      group: owner.group,
      version: owner.version,
      resource: owner.resource,
      subresource: "finalizers",
      namespace: owner.isNamespaced ? namespace : "",
      name,
    });
    refuseUnless(request, decision, "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on");
  }
}

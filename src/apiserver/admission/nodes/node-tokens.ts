/** Tokens that a kubelet requests: only for accounts of its own pods, bound to the pod, for audiences that the pod names (KEP-4193). */
import type { TokenRequest } from "../../../api/authentication-v1/types.ts";
import type { Pod, Volume } from "../../../api/core-v1/types.ts";
import type { CSIDriver } from "../../../api/storage-v1/types.ts";
import { notFoundError } from "../../../apimachinery/status.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";
import type { NodeCheck } from "./node-restriction.ts";

export const checkServiceAccount: NodeCheck = async (request, nodeName) => {
  if (request.operation !== "CREATE" || request.subresource !== "token") return;
  const { spec } = request.object as unknown as TokenRequest;
  const reference = spec?.boundObjectRef;
  if (!reference || reference.apiVersion !== "v1" || reference.kind !== "Pod" || !reference.name)
    throw refuse(request, "node requested token not bound to a pod");
  if (!reference.uid) throw refuse(request, "node requested token with a pod binding without a uid");
  const pod = findObject(request.context.server, "/pods", request.namespace, reference.name) as unknown as Pod | undefined;
  if (pod === undefined) throw notFoundError({ group: "", resource: "pod" }, reference.name);
  if (reference.uid !== pod.metadata.uid)
    throw refuse(
      request,
      `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (pod.spec?.nodeName !== nodeName) throw refuse(request, "node requested token bound to a pod scheduled on a different node");
  const audiences = spec?.audiences ?? [];
  if (audiences.length > 1) throw refuse(request, "node may only request 0 or 1 audiences");
  await checkAudience(request, pod, audiences[0] ?? "");
};

async function checkAudience(request: AdmissionRequest, pod: Pod, audience: string): Promise<void> {
  if ((pod.spec?.volumes ?? []).some((volume) => namesAudience(request, pod, volume, audience))) return;
  const { server, user } = request.context;
  const attributes = {
    kind: "resource",
    user,
    verb: "request-serviceaccounts-token-audience",
    group: "",
    version: "v1",
    resource: audience,
    subresource: "",
    namespace: request.namespace,
    name: request.name,
  } as const;
  const decision = await server.authorizer.authorize(attributes);
  if (decision.verdict !== "allow")
    throw refuse(
      request,
      `audience ${JSON.stringify(audience)} not found in pod spec volume, ${user.username} is not authorized to request tokens for this audience`,
    );
}

/** Directly, or through the driver of a volume, which may ask for tokens itself. */
function namesAudience({ context }: AdmissionRequest, pod: Pod, volume: Volume, audience: string): boolean {
  const { server } = context;
  if (
    (volume.projected?.sources ?? []).some(({ serviceAccountToken }) => serviceAccountToken !== undefined && (serviceAccountToken.audience ?? "") === audience)
  )
    return true;
  const driver = driverOf(context, pod, volume);
  if (driver === undefined) return false;
  const found = findObject(server, "storage.k8s.io/csidrivers", "", driver) as unknown as CSIDriver | undefined;
  return (found?.spec?.tokenRequests ?? []).some((request) => request.audience === audience);
}

function driverOf({ server }: AdmissionRequest["context"], pod: Pod, volume: Volume): string | undefined {
  if (volume.csi !== undefined) return volume.csi.driver;
  const claimName = volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral === undefined ? undefined : `${pod.metadata.name}-${volume.name}`);
  if (claimName === undefined) return undefined;
  const claim = findObject(server, "/persistentvolumeclaims", pod.metadata.namespace!, claimName) as { spec?: { volumeName?: string } } | undefined;
  const volumeName = claim?.spec?.volumeName ?? "";
  if (volumeName === "") return undefined;
  const found = findObject(server, "/persistentvolumes", "", volumeName) as { spec?: { csi?: { driver: string } } } | undefined;
  return found?.spec?.csi?.driver;
}

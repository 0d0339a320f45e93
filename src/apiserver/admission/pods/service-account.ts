/** ServiceAccount: gives pods an account, its token volume and its pull secrets (documentation page "Managing Service Accounts"). */
import { nameSuffix } from "../../../base/ids.ts";
import type { Container, Pod, PodSpec, ServiceAccount, Volume, VolumeMount } from "../../../api/core-v1/types.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";
import { visitContainers } from "./containers.ts";
import type { ContainerSort } from "./containers.ts";
import { isMirrorPod, secretNamesOf } from "./references.ts";

const volumePrefix = "kube-api-access-";
const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
const tokenSeconds = 3607;
const enforceAnnotation = "kubernetes.io/enforce-mountable-secrets";

export const serviceAccount: AdmissionPlugin = {
  name: "ServiceAccount",
  operations: new Set(["CREATE", "UPDATE"]),
  resources: new Set(["/pods"]),
  mutate,
  validate,
};

function mutate(request: AdmissionRequest): void {
  if (request.operation !== "CREATE" || request.subresource !== "") return;
  const pod = request.object as unknown as Pod;
  if (isMirrorPod(pod)) return validate(request);
  const spec = (pod.spec ??= {});
  if (!spec.serviceAccountName) spec.serviceAccountName = "default";
  spec.serviceAccount = spec.serviceAccountName;
  const account = findAccount(request, spec.serviceAccountName);
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(request, spec);
  if ((spec.imagePullSecrets ?? []).length === 0 && (account.imagePullSecrets ?? []).length > 0)
    spec.imagePullSecrets = account.imagePullSecrets!.map(({ name }) => ({ ...(name !== undefined && { name }) }));
  checkSecrets(request, spec, account);
}

function validate(request: AdmissionRequest): void {
  const pod = request.object as unknown as Pod;
  const spec = pod.spec ?? {};
  if (request.operation === "UPDATE") {
    if (request.subresource === "ephemeralcontainers")
      checkSecrets(request, { ephemeralContainers: spec.ephemeralContainers ?? [] }, findAccount(request, spec.serviceAccountName ?? ""));
    return;
  }
  if (request.subresource !== "") return;
  if (isMirrorPod(pod)) return validateMirror(request, spec);
  if (!spec.serviceAccountName) throw refuse(request, `no service account specified for pod ${request.namespace}/${pod.metadata.name ?? ""}`);
  checkSecrets(request, spec, findAccount(request, spec.serviceAccountName));
}

function validateMirror(request: AdmissionRequest, spec: PodSpec): void {
  if (spec.serviceAccountName) throw refuse(request, "a mirror pod may not reference service accounts");
  if (secretNamesOf(spec).length > 0) throw refuse(request, "a mirror pod may not reference secrets");
  const usesToken = (spec.volumes ?? []).some((volume) => (volume.projected?.sources ?? []).some((source) => source.serviceAccountToken !== undefined));
  if (usesToken) throw refuse(request, "a mirror pod may not use ServiceAccountToken volume projections");
}

function findAccount(request: AdmissionRequest, name: string): ServiceAccount {
  const account = findObject(request.context.server, "/serviceaccounts", request.namespace, name);
  if (account === undefined)
    throw refuse(request, `error looking up service account ${request.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`);
  return account as unknown as ServiceAccount;
}

/** Each container without a mount of its own at the usual place gets one of the token volume. */
function mountToken({ context }: AdmissionRequest, spec: PodSpec): void {
  const existing = (spec.volumes ?? []).find((volume) => volume.name?.startsWith(volumePrefix));
  const name = existing?.name ?? volumePrefix + nameSuffix(context.server.random);
  let isNeeded = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if ((container.volumeMounts ?? []).some((mount) => mount.mountPath === mountPath)) continue;
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath } as VolumeMount];
    isNeeded = true;
  }
  if (isNeeded && existing === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        { downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] } },
      ],
      defaultMode: 0o644,
    },
  };
}

/** With the annotation on the account, its pods may use no other secrets than the account lists. */
function checkSecrets(request: AdmissionRequest, spec: PodSpec, account: ServiceAccount): void {
  if (!isTrue(account.metadata.annotations?.[enforceAnnotation])) return;
  const allowed = new Set((account.secrets ?? []).map(({ name }) => name));
  const suffix = `is not allowed because service account ${account.metadata.name} does not reference that`;
  for (const { secret } of spec.volumes ?? []) {
    if (secret !== undefined && !allowed.has(secret.secretName))
      throw refuse(request, `volume with secret.secretName="${secret.secretName ?? ""}" ${suffix} secret`);
  }
  visitContainers(spec, (container, sort) => {
    const fault = foreignSecret(container, sort, allowed);
    if (fault !== undefined) throw refuse(request, `${fault} ${suffix} secret`);
  });
  const pullable = new Set((account.imagePullSecrets ?? []).map(({ name }) => name));
  spec.imagePullSecrets?.forEach(({ name = "" }, index) => {
    if (!pullable.has(name)) throw refuse(request, `imagePullSecrets[${index}].name="${name}" ${suffix} imagePullSecret`);
  });
}

function foreignSecret(container: Container, sort: ContainerSort, allowed: ReadonlySet<string | undefined>): string | undefined {
  for (const { name, valueFrom } of container.env ?? []) {
    const secret = valueFrom?.secretKeyRef;
    if (secret !== undefined && !allowed.has(secret.name))
      return `${sort} ${container.name} with envVar ${name} referencing secret.secretName="${secret.name ?? ""}"`;
  }
  for (const { secretRef } of container.envFrom ?? []) {
    if (secretRef !== undefined && !allowed.has(secretRef.name))
      return `${sort} ${container.name} with envFrom referencing secret.secretName="${secretRef.name ?? ""}"`;
  }
  return undefined;
}

/** As Go's strconv.ParseBool reads it. */
function isTrue(text: string | undefined): boolean {
  return text !== undefined && ["1", "t", "T", "true", "TRUE", "True"].includes(text);
}

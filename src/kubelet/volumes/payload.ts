/** Files of the volumes that are made from API objects: configMap, secret, downwardAPI, projected. Pure but for what `sources` fetches. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ClusterTrustBundle } from "../../api/certificates-v1/types.ts";
import type { ConfigMap, DownwardAPIVolumeFile, KeyToPath, Pod, PodCertificateProjection, Secret, Volume, VolumeProjection } from "../../api/core-v1/types.ts";
import { fieldValue, resourceValue } from "../env/field-values.ts";
import type { PodFacts } from "../env/field-values.ts";
import type { PodCertificate } from "./projected/pod-certificates.ts";
import { trustAnchors } from "./projected/trust-anchors.ts";
import { VolumeError } from "./volume.ts";

export interface VolumeFile {
  /** Relative to the volume. */
  readonly path: string;
  readonly data: Uint8Array;
  readonly mode: number;
  /** The file's owner, where it is not root. */
  readonly uid?: number;
}

export interface Payload {
  readonly files: readonly VolumeFile[];
  /** When it has to be made anew though no object changed (tokens). */
  readonly refreshAtMs?: number;
}

export interface PayloadSources {
  readonly facts: PodFacts;
  configMap(name: string): DeepReadonly<ConfigMap> | undefined;
  secret(name: string): DeepReadonly<Secret> | undefined;
  /** A token of the pod's service account. */
  token(request: {
    readonly audience: string | undefined;
    readonly expirationSeconds: number;
  }): Promise<{ readonly token: string; readonly expirationTimestamp: string; readonly refreshAtMs: number }>;
  trustBundles(): readonly DeepReadonly<ClusterTrustBundle>[];
  /** A certificate of the pod's own; `place` tells one source from another. */
  certificate(place: string, source: DeepReadonly<PodCertificateProjection>): Promise<PodCertificate>;
}

/** Whether the volume's files come from `volumePayload`. */
export function isPayloadVolume(volume: DeepReadonly<Volume>): boolean {
  return volume.configMap !== undefined || volume.secret !== undefined || volume.downwardAPI !== undefined || volume.projected !== undefined;
}

/** Throws `VolumeError`. */
export async function volumePayload(pod: DeepReadonly<Pod>, volume: DeepReadonly<Volume>, sources: PayloadSources): Promise<Payload> {
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap !== undefined) return { files: configMapFiles(sources, configMap, configMap.defaultMode ?? defaultMode) };
  if (secret !== undefined) return { files: secretFiles(sources, { ...secret, name: secret.secretName ?? "" }, secret.defaultMode ?? defaultMode) };
  if (downwardAPI !== undefined) return { files: downwardFiles(pod, sources, downwardAPI.items ?? [], downwardAPI.defaultMode ?? defaultMode) };
  const files = new Map<string, VolumeFile>();
  let refreshAtMs: number | undefined;
  for (const [index, source] of (projected?.sources ?? []).entries()) {
    const context = { pod, mode: projected?.defaultMode ?? defaultMode, place: `${volume.name} ${index}` };
    const part = await projectedFiles(context, source, sources);
    for (const file of part.files) files.set(file.path, file);
    if (part.refreshAtMs !== undefined) refreshAtMs = Math.min(refreshAtMs ?? Number.POSITIVE_INFINITY, part.refreshAtMs);
  }
  return { files: [...files.values()], ...(refreshAtMs !== undefined && { refreshAtMs }) };
}

const defaultMode = 0o644;

interface ProjectionContext {
  readonly pod: DeepReadonly<Pod>;
  readonly mode: number;
  readonly place: string;
}

async function projectedFiles({ pod, mode, place }: ProjectionContext, source: DeepReadonly<VolumeProjection>, sources: PayloadSources): Promise<Payload> {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (configMap !== undefined) return { files: configMapFiles(sources, configMap, mode) };
  if (secret !== undefined) return { files: secretFiles(sources, { ...secret, name: secret.name ?? "" }, mode) };
  if (downwardAPI !== undefined) return { files: downwardFiles(pod, sources, downwardAPI.items ?? [], mode) };
  const own = tokenOwnership(pod, mode);
  if (clusterTrustBundle !== undefined)
    return { files: [{ path: clusterTrustBundle.path, data: Buffer.from(trustAnchors(clusterTrustBundle, sources.trustBundles())), ...own }] };
  if (podCertificate !== undefined) return certificateFiles(podCertificate, await sources.certificate(place, podCertificate), own);
  if (serviceAccountToken === undefined) throw new VolumeError("this kind of projected source is not supported by the node");
  const { token, refreshAtMs } = await sources.token({
    audience: serviceAccountToken.audience,
    expirationSeconds: serviceAccountToken.expirationSeconds ?? 3600,
  });
  return { files: [{ path: serviceAccountToken.path, data: Buffer.from(token), ...own }], refreshAtMs };
}

function certificateFiles(
  source: DeepReadonly<PodCertificateProjection>,
  { key, chain, refreshAtMs }: PodCertificate,
  own: { mode: number; uid?: number },
): Payload {
  const wanted: [path: string | undefined, text: string][] = [
    [source.credentialBundlePath, key + chain],
    [source.keyPath, key],
    [source.certificateChainPath, chain],
  ];
  return { files: wanted.flatMap(([path = "", text]) => (path === "" ? [] : [{ path, data: Buffer.from(text), ...own }])), refreshAtMs };
}

/** A token is for its readers only: the one user that all containers run as, or the group of the volumes, or else everybody. */
function tokenOwnership(pod: DeepReadonly<Pod>, mode: number): { mode: number; uid?: number } {
  if (pod.spec?.securityContext?.fsGroup !== undefined) return { mode: 0o600 };
  const shared = pod.spec?.securityContext?.runAsUser;
  const users = new Set(
    [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].map(({ securityContext }) => securityContext?.runAsUser ?? shared),
  );
  const [only] = users;
  return users.size === 1 && only !== undefined ? { mode: 0o600, uid: only } : { mode };
}

type Reference = { readonly name?: string; readonly optional?: boolean; readonly items?: readonly DeepReadonly<KeyToPath>[] };

function configMapFiles(sources: PayloadSources, reference: Reference, mode: number): VolumeFile[] {
  const found = sources.configMap(reference.name ?? "");
  if (found === undefined) return missing("configmap", reference);
  const data = new Map<string, Uint8Array>();
  for (const [key, value] of Object.entries(found.data ?? {})) data.set(key, Buffer.from(value));
  for (const [key, value] of Object.entries(found.binaryData ?? {})) data.set(key, Buffer.from(value, "base64"));
  return chosenFiles("configmap references non-existent config key", data, reference, mode);
}

function secretFiles(sources: PayloadSources, reference: Reference, mode: number): VolumeFile[] {
  const found = sources.secret(reference.name ?? "");
  if (found === undefined) return missing("secret", reference);
  const data = new Map(Object.entries(found.data ?? {}).map(([key, value]): [string, Uint8Array] => [key, Buffer.from(value, "base64")]));
  return chosenFiles("references non-existent secret key", data, reference, mode);
}

function missing(kind: string, reference: Reference): VolumeFile[] {
  if (reference.optional === true) return [];
  throw new VolumeError(`${kind} ${JSON.stringify(reference.name ?? "")} not found`);
}

function chosenFiles(fault: string, data: ReadonlyMap<string, Uint8Array>, { items = [], optional }: Reference, mode: number): VolumeFile[] {
  if (items.length === 0) return [...data].map(([path, bytes]) => ({ path, data: bytes, mode }));
  const files: VolumeFile[] = [];
  for (const item of items) {
    const bytes = data.get(item.key);
    if (bytes !== undefined) files.push({ path: item.path, data: bytes, mode: item.mode ?? mode });
    else if (optional !== true) throw new VolumeError(`${fault}: ${item.key}`);
  }
  return files;
}

function downwardFiles(pod: DeepReadonly<Pod>, { facts }: PayloadSources, items: readonly DeepReadonly<DownwardAPIVolumeFile>[], mode: number): VolumeFile[] {
  return items.map((item) => {
    const text =
      item.fieldRef === undefined
        ? item.resourceFieldRef === undefined
          ? ""
          : resourceValue(pod, facts, item.resourceFieldRef, "")
        : fieldValue(pod, facts, item.fieldRef.fieldPath);
    return { path: item.path, data: Buffer.from(text), mode: item.mode ?? mode };
  });
}

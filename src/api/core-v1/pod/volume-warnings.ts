/** Warnings about volumes: plugins that are gone, files that would overlap. */
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import type { KeyToPath, Volume, VolumeProjection } from "../types.ts";
import { fractionWarnings } from "./warnings.ts";

/** By field, with the name that paths use. PersistentVolumes have the same plugins. */
export const retiredPlugins: readonly (readonly [field: string, pathName: string, text: string])[] = [
  ["photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

export function volumeWarnings(volumes: readonly Volume[], path: FieldPath): string[] {
  const plugins = volumes.flatMap((volume, index) => {
    const at = path.index(index);
    const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
    const isUsed = volume as unknown as Readonly<Record<string, unknown>>;
    return [
      ...retiredPlugins.filter(([field]) => isUsed[field] !== undefined).map(([, name, text]) => `${at.child(name)}: ${text}`),
      ...fractionWarnings(claim?.resources?.requests, ["storage"], at.child("ephemeral", "volumeClaimTemplate", "spec", "resources", "requests")),
    ];
  });
  return [...plugins, ...volumes.flatMap(overlapWarnings)];
}

interface File {
  readonly path: string;
  /** How texts name the file. */
  readonly shown: string;
}

function overlapWarnings({ name, configMap, secret, downwardAPI, projected }: Volume): string[] {
  const warn = (kind: string, files: readonly File[]) =>
    overlaps(files).map(([file, other]) => `volume ${JSON.stringify(name)} (${kind}): overlapping paths: ${file.shown} with ${other.shown}`);
  const warnings: string[] = [];
  if (configMap !== undefined) warnings.push(...warn(`ConfigMap ${JSON.stringify(configMap.name ?? "")}`, filesOf(configMap.items)));
  if (secret !== undefined) warnings.push(...warn(`Secret ${JSON.stringify(secret.secretName ?? "")}`, filesOf(secret.items)));
  if (downwardAPI !== undefined) warnings.push(...warn("DownwardAPI", filesOf(downwardAPI.items)));
  if (projected === undefined) return warnings;
  const sources = projected.sources ?? [];
  for (const source of sources) if (Object.keys(source).length === 0) warnings.push(`volume ${JSON.stringify(name)} (Projected) has no sources provided`);
  return [...warnings, ...warn("Projected", sources.flatMap(projectedFiles))];
}

function projectedFiles({ configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate }: VolumeProjection): File[] {
  if (configMap !== undefined) return filesOf(configMap.items, `ConfigMap ${JSON.stringify(configMap.name ?? "")}`);
  if (secret !== undefined) return filesOf(secret.items, `Secret ${JSON.stringify(secret.name ?? "")}`);
  if (downwardAPI !== undefined) return filesOf(downwardAPI.items, "DownwardAPI");
  if (serviceAccountToken !== undefined) return filesOf([serviceAccountToken], "ServiceAccountToken");
  if (clusterTrustBundle !== undefined)
    return filesOf([clusterTrustBundle], `ClusterTrustBundle ${JSON.stringify(clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? "")}`);
  const { credentialBundlePath, keyPath, certificateChainPath } = podCertificate ?? {};
  return filesOf(
    [credentialBundlePath, keyPath, certificateChainPath].filter((path) => path !== undefined).map((path) => ({ path })),
    "PodCertificate",
  );
}

function filesOf(items: readonly (Pick<KeyToPath, "path"> | { path?: string })[] | undefined, source = ""): File[] {
  return (items ?? []).map(({ path = "" }) => {
    const trimmed = path.replace(/\/+$/, "");
    return { path: trimmed, shown: source === "" ? JSON.stringify(trimmed) : `${JSON.stringify(trimmed)} (${source})` };
  });
}

/** Pairs where one file stands in the other's place or below it; the later comes first. */
function overlaps(files: readonly File[]): [File, File][] {
  const within = (inner: string, outer: string) => `${inner}/`.startsWith(`${outer}/`);
  return files.flatMap((file, index) =>
    files
      .slice(0, index)
      .filter((other) => file.path !== "" && other.path !== "" && (within(file.path, other.path) || within(other.path, file.path)))
      .map((other): [File, File] => [file, other]),
  );
}

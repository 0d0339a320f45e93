/** Rules of projected volumes: several sources in one directory. */
import { forbidden, invalid, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { isQualifiedName } from "../../../apimachinery/names.ts";
import { internalForm } from "../../meta/internal-form.ts";
import { validateLabelSelector } from "../../meta/labels.ts";
import { signerOfTrustBundle, trustBundleNameFaults, validateSignerName } from "../../meta/signers.ts";
import type {
  ClusterTrustBundleProjection,
  PodCertificateProjection,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from "../types.ts";
import { validateUnreservedPath } from "./paths.ts";
import { requireFields, validateDownwardApiFile, validateKeyItems, validateMode } from "./volume-sources.ts";

export function validateProjected({ defaultMode, sources }: ProjectedVolumeSource, path: FieldPath): FieldError[] {
  const paths = new Set<string>();
  return [
    ...validateMode(defaultMode, path.child("defaultMode")),
    ...(sources ?? []).flatMap((source, index) => validateProjection(source, path, path.child("sources").index(index), paths)),
  ];
}

const kinds = ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"] as const;

/** `paths`: file paths that other sources have taken. */
function validateProjection(source: VolumeProjection, volumePath: FieldPath, path: FieldPath, paths: Set<string>): FieldError[] {
  const present = kinds.filter((kind) => source[kind] !== undefined);
  return present.flatMap((kind, index) => {
    const at = path.child(kind);
    if (index > 0) return [forbidden(at, "may not specify more than 1 volume type")];
    switch (kind) {
      case "secret":
      case "configMap": {
        const { name = "", items = [] } = source[kind]!;
        const named = items.map((item) => ({ path: item.path ?? "", shown: name }));
        return [...(name === "" ? [required(at.child("name"))] : []), ...validateKeyItems(items, at.child("items")), ...takePaths(named, volumePath, paths)];
      }
      case "downwardAPI":
        return (source.downwardAPI!.items ?? []).flatMap((file) => [
          ...validateDownwardApiFile(file, at),
          ...takePaths([{ path: file.path ?? "", shown: file.path ?? "" }], volumePath, paths),
        ]);
      case "serviceAccountToken":
        return validateToken(source.serviceAccountToken!, volumePath, at);
      case "clusterTrustBundle":
        return [
          ...validateTrustBundle(source.clusterTrustBundle!, at),
          ...takePaths([{ path: source.clusterTrustBundle!.path ?? "", shown: source.clusterTrustBundle!.path ?? "" }], volumePath, paths),
        ];
      case "podCertificate":
        return validateCertificate(source.podCertificate!, volumePath, at, paths);
    }
  });
}

function takePaths(files: readonly { path: string; shown: string }[], volumePath: FieldPath, paths: Set<string>): FieldError[] {
  return files.flatMap(({ path, shown }) => {
    if (path === "") return [];
    const isTaken = paths.has(path);
    paths.add(path);
    return isTaken ? [invalid(volumePath, shown, "conflicting duplicate paths")] : [];
  });
}

function validateToken({ expirationSeconds, path: file = "" }: ServiceAccountTokenProjection, volumePath: FieldPath, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const seconds = expirationSeconds ?? 3600;
  if (seconds < 600) errors.push(invalid(path.child("expirationSeconds"), seconds, "may not specify a duration less than 10 minutes"));
  if (seconds > 2 ** 32) errors.push(invalid(path.child("expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds"));
  if (file === "") errors.push(required(volumePath.child("path")));
  else errors.push(...validateUnreservedPath(file, volumePath.child("path")));
  return errors;
}

function validateTrustBundle(bundle: ClusterTrustBundleProjection, path: FieldPath): FieldError[] {
  const { name, signerName, labelSelector, path: file = "" } = bundle;
  const errors: FieldError[] = [];
  if (name !== undefined && signerName !== undefined) {
    errors.push(invalid(path, internalForm("api.core.v1.ClusterTrustBundleProjection", bundle), "only one of name and signerName may be used"));
  } else if (name !== undefined) {
    if (name === "") errors.push(required(path.child("name"), "must be a valid object name"));
    for (const fault of trustBundleNameFaults(name, signerOfTrustBundle(name)))
      errors.push(invalid(path.child("name"), name, `not a valid clustertrustbundlename: ${fault}`));
    if (labelSelector !== undefined) errors.push(invalid(path.child("labelSelector"), labelSelector, "labelSelector must be unset if name is specified"));
  } else if (signerName !== undefined) {
    if (signerName === "") errors.push(required(path.child("signerName"), "must be a valid signer name"));
    errors.push(...validateSignerName(signerName, path.child("signerName")), ...validateLabelSelector(labelSelector, path.child("labelSelector")));
  } else {
    errors.push(required(path, "either name or signerName must be specified"));
  }
  return [...errors, ...requireFields(bundle, ["path"], path), ...validateUnreservedPath(file, path.child("path"))];
}

const keyTypes = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];
const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;

function validateCertificate(certificate: PodCertificateProjection, volumePath: FieldPath, path: FieldPath, paths: Set<string>): FieldError[] {
  const { signerName = "", keyType = "", maxExpirationSeconds, userAnnotations } = certificate;
  const errors = validateSignerName(signerName, path.child("signerName"));
  if (!keyTypes.includes(keyType)) errors.push(notSupported(path.child("keyType"), keyType, keyTypes));
  if (maxExpirationSeconds !== undefined) {
    const at = path.child("maxExpirationSeconds");
    const most = signerName.startsWith("kubernetes.io/") ? daySeconds : 91 * daySeconds;
    if (maxExpirationSeconds < hourSeconds) errors.push(invalid(at, maxExpirationSeconds, `if provided, maxExpirationSeconds must be >= ${hourSeconds}`));
    if (maxExpirationSeconds > most) errors.push(invalid(at, maxExpirationSeconds, `if provided, maxExpirationSeconds must be <= ${most}`));
  }
  const files = (["credentialBundlePath", "keyPath", "certificateChainPath"] as const).filter((field) => certificate[field]);
  if (files.length === 0) errors.push(required(path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"));
  for (const field of files) {
    const file = certificate[field]!;
    errors.push(...validateUnreservedPath(file, path.child(field)), ...takePaths([{ path: file, shown: file }], volumePath, paths));
  }
  for (const key of Object.keys(userAnnotations ?? {}).sort())
    errors.push(...isQualifiedName(key.toLowerCase()).map((fault) => invalid(path.child("userAnnotations"), key, fault)));
  return errors;
}

/** Rules of the sources of PersistentVolumes: those of pods' volumes, where references to secrets name their namespace too. */
import { forbidden, invalid, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Label } from "../../apimachinery/names.ts";
import { validatePathWithoutBacksteps } from "./pod/paths.ts";
import * as sources from "./pod/volume-sources.ts";
import type { CSIPersistentVolumeSource, PersistentVolumeSpec, SecretReference } from "./types.ts";

type Rule = (spec: PersistentVolumeSpec, path: FieldPath) => FieldError[];

/** By field, in the order in which sources are looked at. */
const rulesBySource: readonly (readonly [field: keyof PersistentVolumeSpec & string, rule: Rule])[] = [
  ["hostPath", ({ hostPath }, path) => sources.validateHostPath(hostPath!, path)],
  ["gcePersistentDisk", ({ gcePersistentDisk }, path) => sources.validateDisk(gcePersistentDisk!, "pdName", path)],
  ["awsElasticBlockStore", ({ awsElasticBlockStore }, path) => sources.validateDisk(awsElasticBlockStore!, "volumeID", path)],
  ["glusterfs", validateGlusterfs],
  ["flocker", ({ flocker }, path) => sources.validateFlocker(flocker!, path)],
  ["nfs", ({ nfs }, path) => sources.validateNfs(nfs!, path)],
  ["rbd", ({ rbd }, path) => sources.requireFields(rbd!, ["monitors", "image"], path)],
  ["quobyte", ({ quobyte }, path) => sources.validateQuobyte(quobyte!, path)],
  ["cephfs", ({ cephfs }, path) => sources.requireFields(cephfs!, ["monitors"], path)],
  ["iscsi", ({ iscsi }, path) => sources.validateIscsi(iscsi!, path)],
  ["cinder", ({ cinder }, path) => [...sources.requireFields(cinder!, ["volumeID"], path), ...requireReference(cinder!.secretRef, path.child("secretRef"))]],
  ["fc", ({ fc }, path) => sources.validateFc(fc!, path)],
  ["flexVolume", ({ flexVolume }, path) => sources.validateFlexVolume(flexVolume!, path)],
  [
    "azureFile",
    ({ azureFile }, path) => [
      ...sources.requireFields(azureFile!, ["secretName", "shareName"], path),
      ...(azureFile!.secretNamespace === "" ? [required(path.child("secretNamespace"))] : []),
    ],
  ],
  ["vsphereVolume", ({ vsphereVolume }, path) => sources.requireFields(vsphereVolume!, ["volumePath"], path)],
  ["photonPersistentDisk", ({ photonPersistentDisk }, path) => sources.requireFields(photonPersistentDisk!, ["pdID"], path)],
  ["portworxVolume", ({ portworxVolume }, path) => sources.requireFields(portworxVolume!, ["volumeID"], path)],
  ["azureDisk", ({ azureDisk }, path) => sources.validateAzureDisk(azureDisk!, path)],
  ["scaleIO", ({ scaleIO }, path) => sources.requireFields(scaleIO!, ["gateway", "system", "volumeName"], path)],
  ["local", validateLocal],
  ["storageos", validateStorageOs],
  ["csi", ({ csi }, path) => validateCsi(csi!, path)],
];
/** Fields that error paths call otherwise. */
const pathNames: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };

export function validateVolumeSource(spec: PersistentVolumeSpec, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  let count = 0;
  for (const [field, rule] of rulesBySource) {
    if (spec[field] === undefined) continue;
    const at = path.child(pathNames[field] ?? field);
    errors.push(...(count === 0 ? rule(spec, at) : [forbidden(at, "may not specify more than 1 volume type")]));
    if (field === "local" && spec.nodeAffinity?.required === undefined)
      errors.push(required(path.child("nodeAffinity"), "Local volume requires node affinity"));
    count++;
  }
  return count === 0 ? [...errors, required(path, "must specify a volume type")] : errors;
}

function validateGlusterfs({ glusterfs }: PersistentVolumeSpec, path: FieldPath): FieldError[] {
  const errors = sources.requireFields(glusterfs!, ["endpoints", "path"], path);
  const namespace = glusterfs!.endpointsNamespace;
  if (namespace !== undefined && isDns1123Label(namespace).length > 0)
    errors.push(invalid(path.child("endpointsNamespace"), namespace, "if the endpointnamespace is set, it must be a valid namespace name"));
  return errors;
}

function validateStorageOs({ storageos }: PersistentVolumeSpec, path: FieldPath): FieldError[] {
  const { secretRef, ...source } = storageos!;
  return [...sources.validateStorageOs(source, path), ...requireReference(secretRef, path.child("secretRef"))];
}

function validateLocal({ local }: PersistentVolumeSpec, path: FieldPath): FieldError[] {
  return local!.path ? validatePathWithoutBacksteps(local!.path, path.child("path")) : [required(path.child("path"))];
}

function validateCsi(csi: CSIPersistentVolumeSource, path: FieldPath): FieldError[] {
  const references = ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"] as const;
  return [
    ...sources.validateCsiDriverName(csi.driver ?? "", path.child("driver")),
    ...sources.requireFields(csi, ["volumeHandle"], path),
    ...references.flatMap((field) => requireReference(csi[field], path.child(field))),
  ];
}

function requireReference(reference: SecretReference | undefined, path: FieldPath): FieldError[] {
  return reference === undefined ? [] : sources.requireFields(reference, ["name", "namespace"], path);
}

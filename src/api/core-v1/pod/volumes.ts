/** Rules of a pod's volumes: their names, and exactly one source each. */
import { duplicate, forbidden, invalid, invalidEach, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { isDns1123Label, isDns1123Subdomain } from "../../../apimachinery/names.ts";
import type { ObjectMeta } from "../../../apimachinery/object.ts";
import { compareQuantities } from "../../../apimachinery/quantity.ts";
import type { Volume } from "../types.ts";
import { validateProjected } from "./projected-volume.ts";
import * as sources from "./volume-sources.ts";

export interface VolumeRules {
  /** Absent for templates whose pods' names are not known. */
  readonly metadata: ObjectMeta | undefined;
  readonly isPod: boolean;
}

/** `volumes`: those without faults, by name. */
export function validateVolumes(volumes: readonly Volume[], rules: VolumeRules, path: FieldPath): { errors: FieldError[]; volumes: Map<string, Volume> } {
  const sound = new Map<string, Volume>();
  const podName = rules.metadata?.name ?? "";
  const createdClaims = new Set(podName === "" ? [] : volumes.filter(({ ephemeral }) => ephemeral !== undefined).map(({ name }) => `${podName}-${name}`));
  const errors = volumes.flatMap((volume, index) => {
    const at = path.index(index);
    const { name = "" } = volume;
    const faults = validateSource(volume, rules, at);
    if (name === "") faults.push(required(at.child("name")));
    else faults.push(...invalidEach(at.child("name"), name, isDns1123Label(name)));
    if (sound.has(name)) faults.push(duplicate(at.child("name"), name));
    if (faults.length === 0) sound.set(name, volume);
    const claimName = volume.persistentVolumeClaim?.claimName;
    if (claimName !== undefined && createdClaims.has(claimName)) {
      faults.push(invalid(at.child("persistentVolumeClaim", "claimName"), claimName, "must not reference a PVC that gets created for an ephemeral volume"));
    }
    return faults;
  });
  return { errors, volumes: sound };
}

type Rule = (volume: Volume, path: FieldPath, rules: VolumeRules) => FieldError[];

/** By field, in the order in which sources are looked at; a path may be told otherwise. */
const rulesBySource: readonly (readonly [field: keyof Volume & string, rule: Rule])[] = [
  [
    "emptyDir",
    ({ emptyDir }, path) =>
      emptyDir!.sizeLimit !== undefined && compareQuantities(emptyDir!.sizeLimit, 0) < 0
        ? [forbidden(path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity")]
        : [],
  ],
  ["hostPath", ({ hostPath }, path) => sources.validateHostPath(hostPath!, path)],
  ["gitRepo", ({ gitRepo }, path) => sources.validateGitRepo(gitRepo!, path)],
  ["gcePersistentDisk", ({ gcePersistentDisk }, path) => sources.validateDisk(gcePersistentDisk!, "pdName", path)],
  ["awsElasticBlockStore", ({ awsElasticBlockStore }, path) => sources.validateDisk(awsElasticBlockStore!, "volumeID", path)],
  ["secret", ({ secret }, path) => sources.validateKeyed(secret!, "secretName", path)],
  ["nfs", ({ nfs }, path) => sources.validateNfs(nfs!, path)],
  ["iscsi", ({ iscsi }, path) => sources.validateIscsi(iscsi!, path)],
  ["glusterfs", ({ glusterfs }, path) => sources.requireFields(glusterfs!, ["endpoints", "path"], path)],
  ["flocker", ({ flocker }, path) => sources.validateFlocker(flocker!, path)],
  ["persistentVolumeClaim", ({ persistentVolumeClaim }, path) => sources.requireFields(persistentVolumeClaim!, ["claimName"], path)],
  ["rbd", ({ rbd }, path) => sources.requireFields(rbd!, ["monitors", "image"], path)],
  ["cinder", ({ cinder }, path) => [...sources.requireFields(cinder!, ["volumeID"], path), ...sources.requireName(cinder!.secretRef, path.child("secretRef"))]],
  ["cephfs", ({ cephfs }, path) => sources.requireFields(cephfs!, ["monitors"], path)],
  ["quobyte", ({ quobyte }, path) => sources.validateQuobyte(quobyte!, path)],
  ["downwardAPI", ({ downwardAPI }, path) => sources.validateDownwardApi(downwardAPI!, path)],
  ["fc", ({ fc }, path) => sources.validateFc(fc!, path)],
  ["flexVolume", ({ flexVolume }, path) => sources.validateFlexVolume(flexVolume!, path)],
  ["configMap", ({ configMap }, path) => sources.validateKeyed(configMap!, "name", path)],
  ["azureFile", ({ azureFile }, path) => sources.requireFields(azureFile!, ["secretName", "shareName"], path)],
  ["vsphereVolume", ({ vsphereVolume }, path) => sources.requireFields(vsphereVolume!, ["volumePath"], path)],
  ["photonPersistentDisk", ({ photonPersistentDisk }, path) => sources.requireFields(photonPersistentDisk!, ["pdID"], path)],
  ["portworxVolume", ({ portworxVolume }, path) => sources.requireFields(portworxVolume!, ["volumeID"], path)],
  ["azureDisk", ({ azureDisk }, path) => sources.validateAzureDisk(azureDisk!, path)],
  ["storageos", ({ storageos }, path) => sources.validateStorageOs(storageos!, path)],
  ["projected", ({ projected }, path) => validateProjected(projected!, path)],
  ["scaleIO", ({ scaleIO }, path) => sources.requireFields(scaleIO!, ["gateway", "system", "volumeName"], path)],
  ["csi", ({ csi }, path) => sources.validateCsi(csi!, path)],
  ["ephemeral", ({ ephemeral }, path) => sources.validateEphemeral(ephemeral!, path)],
  ["image", ({ image }, path, { isPod }) => sources.validateImage(image!, isPod, path)],
];
/** Fields that error paths call otherwise. */
const pathNames: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };

function validateSource(volume: Volume, rules: VolumeRules, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  let count = 0;
  for (const [field, rule] of rulesBySource) {
    if (volume[field] === undefined) continue;
    const at = path.child(pathNames[field] ?? field);
    errors.push(...(count === 0 ? rule(volume, at, rules) : [forbidden(at, "may not specify more than 1 volume type")]));
    count++;
  }
  if (count === 0) errors.push(required(path, "must specify a volume type"));
  const portal = volume.iscsi?.initiatorName === undefined ? "" : `${volume.name}:${volume.iscsi.targetPortal}`;
  if (portal.length > 64)
    errors.push(
      invalid(
        path.child("name"),
        volume.name,
        "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.",
      ),
    );
  const podName = rules.metadata?.name ?? "";
  if (volume.ephemeral !== undefined && podName !== "") {
    const claimName = `${podName}-${volume.name}`;
    errors.push(...isDns1123Subdomain(claimName).map((fault) => invalid(path.child("name"), volume.name, `PVC name ${JSON.stringify(claimName)}: ${fault}`)));
  }
  return errors;
}

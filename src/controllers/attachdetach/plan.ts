import { createHash } from "node:crypto";
import { isAlreadyExists } from "../../apimachinery/status.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { edited, referenceTo, resources } from "../../client/index.ts";
import { createAction, deleteAction, eventAction, updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { AttachedVolume, Node, PersistentVolume, Pod } from "../../api/core-v1/types.ts";
import type { VolumeAttachment } from "../../api/storage-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/**
 * The CSI volumes that pods need on a node are attached to it, the others detached once the node does not use them any more: a
 * VolumeAttachment asks the driver, and the node's status tells the kubelet what it may mount.
 */
export function planAttachments({ node, wanted, attachments, volumes }: NodeSnapshot): Plan {
  const named = new Map(wanted.map((want) => [attachmentName(want.volume, node), want]));
  const inUse = new Set(node.status?.volumesInUse ?? []);
  const missing = [...named]
    .filter(([name]) => !attachments.some(({ metadata }) => metadata.name === name))
    .map(([name, { volume }]) => attach(name, volume, node));
  const surplus = attachments.filter(({ metadata }) => metadata.deletionTimestamp === undefined && !named.has(metadata.name ?? ""));
  const isFree = (attachment: DeepReadonly<VolumeAttachment>) => !inUse.has(volumeNameOf(attachment, volumes) ?? "");
  const events = [...named].flatMap(([name, want]) =>
    told(
      want,
      node,
      attachments.find(({ metadata }) => metadata.name === name),
    ),
  );
  return {
    actions: [
      ...report(
        node,
        attachments.filter((attachment) => !surplus.includes(attachment) || !isFree(attachment)),
        volumes,
      ),
      ...missing,
      ...surplus.filter(isFree).map((attachment) => deleteAction(resources.volumeAttachments, attachment, {}, { onError: whenGone })),
      ...events,
    ],
  };
}

export interface NodeSnapshot {
  readonly node: DeepReadonly<Node>;
  /** Volumes that drivers have to attach, with the pods that need them. */
  readonly wanted: readonly WantedVolume[];
  /** Of this node. */
  readonly attachments: readonly DeepReadonly<VolumeAttachment>[];
  readonly volumes: (name: string) => DeepReadonly<PersistentVolume> | undefined;
}
export interface WantedVolume {
  readonly volume: DeepReadonly<PersistentVolume>;
  readonly pods: readonly DeepReadonly<Pod>[];
}

/** `csi-` and a digest of volume handle, driver and node: drivers and people find it by that. */
export function attachmentName({ spec }: DeepReadonly<PersistentVolume>, node: DeepReadonly<Node>): string {
  const { volumeHandle = "", driver = "" } = spec?.csi ?? {};
  return `csi-${createHash("sha256").update(`${volumeHandle}${driver}${node.metadata.name}`).digest("hex")}`;
}

function attach(name: string, { spec, metadata }: DeepReadonly<PersistentVolume>, node: DeepReadonly<Node>): Action {
  const attachment: VolumeAttachment = {
    metadata: { name },
    spec: { attacher: spec?.csi?.driver ?? "", nodeName: node.metadata.name ?? "", source: { persistentVolumeName: metadata.name ?? "" } },
  };
  return createAction(resources.volumeAttachments, attachment, { onError: (error) => ({ severity: isAlreadyExists(error) ? "ignore" : "stop" }) });
}

/** What the pods hear: once, when it is attached; again and again, when it cannot be. */
function told({ volume, pods }: WantedVolume, node: DeepReadonly<Node>, attachment: DeepReadonly<VolumeAttachment> | undefined): Action[] {
  const name = volume.metadata.name ?? "";
  const event = (type: "Normal" | "Warning", reason: string, message: string) =>
    pods.map((pod) => eventAction(referenceTo(resources.pods, pod), { type, reason, message }));
  if (attachment === undefined || attachment.metadata.deletionTimestamp !== undefined) return [];
  const isKnown = node.status?.volumesAttached?.some((attached) => attached.name === uniqueName(volume)) === true;
  if (attachment.status?.attached === true)
    return isKnown ? [] : event("Normal", "SuccessfulAttachVolume", `AttachVolume.Attach succeeded for volume "${name}" `);
  const fault = attachment.status?.attachError?.message;
  return fault === undefined ? [] : event("Warning", "FailedAttachVolume", `AttachVolume.Attach failed for volume "${name}" : ${fault}`);
}

function report(node: DeepReadonly<Node>, attachments: readonly DeepReadonly<VolumeAttachment>[], volumes: NodeSnapshot["volumes"]): Action[] {
  const attached = attachments
    .filter(({ status, metadata }) => status?.attached === true && metadata.deletionTimestamp === undefined)
    .flatMap((attachment): AttachedVolume[] => {
      const name = volumeNameOf(attachment, volumes);
      return name === undefined ? [] : [{ name, devicePath: "" }];
    });
  if (deepEqual(attached, node.status?.volumesAttached ?? [])) return [];
  const updated = edited<Node>(node, (draft) => {
    draft.status = { ...draft.status, volumesAttached: attached };
    if (attached.length === 0) delete draft.status.volumesAttached;
  });
  return [updateStatusAction(resources.nodes, updated, { onError: whenGone })];
}

function volumeNameOf({ spec }: DeepReadonly<VolumeAttachment>, volumes: NodeSnapshot["volumes"]): string | undefined {
  const volume = volumes(spec.source.persistentVolumeName ?? "");
  return volume?.spec?.csi === undefined ? undefined : uniqueName(volume);
}

function uniqueName({ spec }: DeepReadonly<PersistentVolume>): string {
  return `kubernetes.io/csi/${spec?.csi?.driver}^${spec?.csi?.volumeHandle}`;
}

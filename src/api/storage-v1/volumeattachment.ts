import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalidEach, required, tooLong } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isDns1123Subdomain, regexText, subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { immutable, restoreMembers, restoreMetadata } from "../update-rules.ts";
import type { VolumeAttachment, VolumeAttachmentSource, VolumeError } from "./types.ts";

export const volumeAttachments = defineKind<VolumeAttachment>({
  gvk: { group: "storage.k8s.io", version: "v1", kind: "VolumeAttachment" },
  nameRule: subdomainName,
  generation: "none",
  create: {
    prepare(attachment) {
      delete attachment.status;
    },
    validate: validateAttachment,
  },
  update: {
    prepare: (attachment, old) => restoreMembers(attachment, old, "status"),
    validate: validateAttachmentUpdate,
    resetFields: ["status"],
    allowsUnconditional: false,
  },
  status: {
    prepare(attachment, old) {
      restoreMembers(attachment, old, "spec");
      restoreMetadata(attachment, old);
    },
    validate: validateAttachmentUpdate,
    resetFields: ["metadata", "spec"],
  },
  delete: { answer: "object" },
});

const maxMetadataBytes = 256 * 1024;
const maxErrorMessageBytes = 1024;
const path = FieldPath.root("spec");

function validateAttachment(attachment: VolumeAttachment): FieldError[] {
  const { attacher = "", nodeName = "", source = {} } = attachment.spec ?? {};
  return [
    ...validateSource(source),
    ...invalidEach(path.child("nodeName"), nodeName, isDns1123Subdomain(nodeName)),
    ...validateStatus(attachment),
    ...validateAttacher(attacher),
  ];
}

function validateAttachmentUpdate(attachment: VolumeAttachment, old: VolumeAttachment): FieldError[] {
  return [...validateAttachment(attachment), ...immutable(path, attachment.spec, old.spec, null)];
}

function validateAttacher(attacher: string): FieldError[] {
  if (attacher === "") return [required(path.child("attacher"))];
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/i.test(attacher)) return [];
  const rule = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return invalidEach(path.child("attacher"), attacher, [regexText(rule, "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", "Example.com")]);
}

function validateSource({ persistentVolumeName: name, inlineVolumeSpec: inline }: VolumeAttachmentSource): FieldError[] {
  const at = path.child("source");
  if (inline !== undefined && name !== undefined) return [forbidden(at, "must specify exactly one of inlineVolumeSpec and persistentVolumeName")];
  if (name !== undefined) {
    const nameFaults = invalidEach(at.child("persistentVolumeName"), name, isDns1123Subdomain(name));
    return name === "" ? [required(at.child("persistentVolumeName"), "must specify non empty persistentVolumeName"), ...nameFaults] : nameFaults;
  }
  if (inline === undefined) return [required(at, "must specify exactly one of inlineVolumeSpec and persistentVolumeName")];
  const errors: FieldError[] = [];
  if (inline.csi === undefined) errors.push(required(at.child("inlineVolumeSpec", "csi"), "has to be specified in the context of inline volumes"));
  if ((inline.accessModes ?? []).length === 0) errors.push(required(at.child("inlineVolumeSpec", "accessModes")));
  return errors;
}

function validateStatus({ status }: VolumeAttachment): FieldError[] {
  const at = FieldPath.root("status");
  const bytes = Object.entries(status?.attachmentMetadata ?? {}).reduce((sum, [name, value]) => sum + byteLength(name) + byteLength(value), 0);
  return [
    ...(bytes > maxMetadataBytes ? [tooLong(at.child("attachmentMetadata"), maxMetadataBytes)] : []),
    ...validateError(status?.attachError, at.child("attachError")),
    ...validateError(status?.detachError, at.child("detachError")),
  ];
}

function validateError(error: VolumeError | undefined, at: FieldPath): FieldError[] {
  return byteLength(error?.message ?? "") > maxErrorMessageBytes ? [tooLong(at.child("message"), maxErrorMessageBytes)] : [];
}

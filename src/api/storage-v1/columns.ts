/** Rows of storage kinds. */
import { age, createdAt, isMarkedDefault, nameOf, orNone } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment, VolumeAttributesClass } from "./types.ts";

export const csiDriverColumns: TablePrinter<CSIDriver> = {
  cells(driver, context) {
    const { spec } = driver;
    return [
      nameOf(driver),
      spec?.attachRequired ?? true,
      spec?.podInfoOnMount ?? false,
      spec?.storageCapacity ?? false,
      spec?.tokenRequests?.map(({ audience }) => audience).join(",") ?? "<unset>",
      spec?.requiresRepublish ?? false,
      orNone(spec?.volumeLifecycleModes?.join(",")),
      age(driver, context),
    ];
  },
};

export const csiNodeColumns: TablePrinter<CSINode> = {
  cells: (node, context) => [nameOf(node), (node.spec?.drivers ?? []).length, age(node, context)],
};

export const csiStorageCapacityColumns: TablePrinter<CSIStorageCapacity> = { cells: (capacity) => [nameOf(capacity), createdAt(capacity)], isPlain: true };

export const storageClassColumns: TablePrinter<StorageClass> = {
  cells(storageClass, context) {
    const isDefault = isMarkedDefault(storageClass, "storageclass.kubernetes.io/is-default-class");
    return [
      isDefault ? `${nameOf(storageClass)} (default)` : nameOf(storageClass),
      storageClass.provisioner ?? "",
      storageClass.reclaimPolicy ?? "Delete",
      storageClass.volumeBindingMode ?? "Immediate",
      storageClass.allowVolumeExpansion ?? false,
      age(storageClass, context),
    ];
  },
};

export const volumeAttachmentColumns: TablePrinter<VolumeAttachment> = {
  cells(attachment, context) {
    const { spec, status } = attachment;
    return [
      nameOf(attachment),
      spec?.attacher ?? "",
      spec?.source?.persistentVolumeName ?? "",
      spec?.nodeName ?? "",
      status?.attached ?? false,
      age(attachment, context),
    ];
  },
};

export const volumeAttributesClassColumns: TablePrinter<VolumeAttributesClass> = {
  cells: (attributesClass, context) => [nameOf(attributesClass), attributesClass.driverName ?? "", age(attributesClass, context)],
};

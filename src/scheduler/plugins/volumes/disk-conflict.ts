import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Volume } from "../../../api/core-v1/types.ts";

/** Whether two pods of one node could not both have these volumes: the same disk, unless both only read where that is allowed. */
export function isInConflict(left: DeepReadonly<Volume>, right: DeepReadonly<Volume>): boolean {
  if (left.gcePersistentDisk !== undefined && right.gcePersistentDisk !== undefined)
    return left.gcePersistentDisk.pdName === right.gcePersistentDisk.pdName && !areReadOnly(left.gcePersistentDisk, right.gcePersistentDisk);
  if (left.awsElasticBlockStore !== undefined && right.awsElasticBlockStore !== undefined)
    return left.awsElasticBlockStore.volumeID === right.awsElasticBlockStore.volumeID;
  if (left.iscsi !== undefined && right.iscsi !== undefined) return left.iscsi.iqn === right.iscsi.iqn && !areReadOnly(left.iscsi, right.iscsi);
  if (left.rbd !== undefined && right.rbd !== undefined) {
    const [a, b] = [left.rbd, right.rbd];
    const shareMonitors = a.monitors?.some((one) => b.monitors?.includes(one) === true) === true;
    return shareMonitors && (a.pool ?? "rbd") === (b.pool ?? "rbd") && a.image === b.image && !areReadOnly(a, b);
  }
  return false;
}

/** Whether it is a disk of a kind that pods of a node may have to share. */
export function isExclusiveDisk({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: DeepReadonly<Volume>): boolean {
  return (gcePersistentDisk ?? awsElasticBlockStore ?? iscsi ?? rbd) !== undefined;
}

function areReadOnly(left: { readonly readOnly?: boolean }, right: { readonly readOnly?: boolean }): boolean {
  return left.readOnly === true && right.readOnly === true;
}

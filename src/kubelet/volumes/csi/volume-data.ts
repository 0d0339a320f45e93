/**
 * What has to be known of a CSI volume when it is taken down, maybe by another kubelet: `vol_data.json` beside each of its mounts, with
 * the members that Kubernetes' kubelet writes.
 */
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface VolumeData {
  readonly driverName: string;
  readonly volumeHandle: string;
  readonly specVolID?: string;
  readonly nodeName?: string;
  /** The VolumeAttachment; absent where nothing is attached. */
  readonly attachmentID?: string;
  readonly volumeLifecycleMode?: "Persistent" | "Ephemeral";
}

export const volumeFolder = "kubernetes.io~csi";
const fileName = "vol_data.json";

export async function saveVolumeData(directory: string, data: VolumeData): Promise<void> {
  // A kubelet that is killed meanwhile leaves the old file or the new one.
  await writeFile(join(directory, `.${fileName}`), JSON.stringify(data), { mode: 0o600 });
  await rename(join(directory, `.${fileName}`), join(directory, fileName));
}

/** Undefined when there is none. */
export async function readVolumeData(directory: string): Promise<VolumeData | undefined> {
  const text = await readFile(join(directory, fileName), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    return undefined;
  });
  return text === undefined ? undefined : (JSON.parse(text) as VolumeData);
}

/** Of all pods below `ROOT/pods`. */
export async function podVolumeData(root: string): Promise<{ readonly podUid: string; readonly data: VolumeData }[]> {
  const found: { podUid: string; data: VolumeData }[] = [];
  for (const podUid of await readdir(join(root, "pods")).catch(() => [])) {
    const folder = join(root, "pods", podUid, "volumes", volumeFolder);
    for (const name of await readdir(folder).catch(() => [])) {
      const data = await readVolumeData(join(folder, name));
      if (data !== undefined) found.push({ podUid, data });
    }
  }
  return found;
}

/** As node statuses name it. */
export function uniqueName({ driverName, volumeHandle }: Pick<VolumeData, "driverName" | "volumeHandle">): string {
  return `kubernetes.io/csi/${driverName}^${volumeHandle}`;
}

/** hostPath volumes: what must be there, and what is made (API reference "HostPathVolumeSource"). */
import { mkdir, stat, writeFile } from "node:fs/promises";
import type { Stats } from "node:fs";
import { VolumeError } from "../volume.ts";
import type { VolumePlugin } from "./volume-plugin.ts";

export const hostPathPlugin: VolumePlugin = {
  folder: "kubernetes.io~host-path",
  async setUp({ resolved }) {
    const { path = "", type = "" } = resolved.persistent?.spec?.hostPath ?? resolved.volume.hostPath ?? {};
    await checkHostPath(path, type);
    return { path, isReadOnly: resolved.isReadOnly, isBlock: false };
  },
};

/** Throws `VolumeError` when the path is not of the type. */
export async function checkHostPath(path: string, type: string): Promise<void> {
  if (type === "") return;
  let found = await stat(path).catch(() => undefined);
  if (found === undefined && type === "DirectoryOrCreate") {
    await mkdir(path, { recursive: true, mode: 0o755 });
    found = await stat(path);
  } else if (found === undefined && type === "FileOrCreate") {
    await writeFile(path, "", { mode: 0o644, flag: "a" });
    found = await stat(path);
  }
  const rule = rules[type];
  if (rule === undefined) throw new VolumeError(`${type} is an invalid volume type`);
  if (found !== undefined && rule.matches(found)) return;
  throw new VolumeError(`hostPath type check failed: ${path} is not a ${rule.noun}${found === undefined ? "" : `, it's a ${kindOf(found)}`}`);
}

interface Rule {
  readonly noun: string;
  matches(stats: Stats): boolean;
}

const directory: Rule = { noun: "directory", matches: (stats) => stats.isDirectory() };
const file: Rule = { noun: "file", matches: (stats) => stats.isFile() };
const rules: Readonly<Record<string, Rule>> = {
  Directory: directory,
  DirectoryOrCreate: directory,
  File: file,
  FileOrCreate: file,
  Socket: { noun: "socket file", matches: (stats) => stats.isSocket() },
  CharDevice: { noun: "character device", matches: (stats) => stats.isCharacterDevice() },
  BlockDevice: { noun: "block device", matches: (stats) => stats.isBlockDevice() },
};

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "Directory";
  if (stats.isSocket()) return "Socket";
  if (stats.isCharacterDevice()) return "CharDevice";
  return stats.isBlockDevice() ? "BlockDevice" : "File";
}

/** Mounts of the machine: what `/proc/self/mountinfo` shows, and mount and umount by util-linux. */
import { readFile } from "node:fs/promises";
import type { Programs } from "./programs.ts";

export interface Mount {
  readonly mountPoint: string;
  readonly type: string;
  readonly source: string;
  readonly root: string;
  readonly options: readonly string[];
  /** What is mounted below it shows in other mount namespaces, too. */
  readonly isShared: boolean;
}

export interface Mounts {
  list(): Promise<Mount[]>;
  /** Mounts a tmpfs on an existing directory; `sizeBytes` 0 or absent: the kernel's default. */
  mountTmpfs(mountPoint: string, options?: { sizeBytes?: number; mode?: string }): Promise<void>;
  /** `isExact`: the source is taken as it is written, whatever it is a link to. `options`: of the mount, such as `noexec`. */
  bind(source: string, mountPoint: string, options?: { isReadOnly?: boolean; isExact?: boolean; options?: readonly string[] }): Promise<void>;
  /** Makes a directory a mount of itself whose mounts are shared. */
  share(directory: string): Promise<void>;
  /** Rejects with a `MountError`. */
  mount(what: { type: string; source: string; mountPoint: string; options?: readonly string[] }): Promise<void>;
  /** Unmounts; a mount point that is none is no error. Busy mounts are detached. */
  unmount(mountPoint: string): Promise<void>;
  /** Unmounts everything at or below `directory`, deepest first. */
  unmountBelow(directory: string): Promise<void>;
}

/** What mount(8) said. */
export class MountError extends Error {
  override name = "MountError";
  readonly exitCode: number;
  readonly output: string;
  readonly arguments: readonly string[];

  constructor(args: readonly string[], exitCode: number, output: string) {
    super(`mount ${args.join(" ")}: ${output}`);
    this.arguments = args;
    this.exitCode = exitCode;
    this.output = output;
  }
}

export function createMounts(options: { programs: Programs }): Mounts {
  const run = async (command: string, args: readonly string[]) => {
    const result = await options.programs.run({ command, args, timeoutMs: 30_000 });
    if (result.exitCode !== 0) throw new Error(`${command} ${args.join(" ")}: ${result.stderr.toString().trim()}`);
  };
  const list = async () => parseMountInfo(await readSteadily("/proc/self/mountinfo"));
  const unmount = async (mountPoint: string) => {
    if (!(await list()).some((mount) => mount.mountPoint === mountPoint)) return;
    await run("umount", [mountPoint]).catch(() => run("umount", ["--lazy", mountPoint]));
  };
  return {
    list,
    unmount,
    mountTmpfs: (mountPoint, { sizeBytes, mode } = {}) => {
      const settings = [...(sizeBytes === undefined || sizeBytes === 0 ? [] : [`size=${sizeBytes}`]), ...(mode === undefined ? [] : [`mode=${mode}`])];
      return run("mount", ["-t", "tmpfs", ...(settings.length === 0 ? [] : ["-o", settings.join(",")]), "tmpfs", mountPoint]);
    },
    bind: async (source, mountPoint, { isReadOnly, isExact, options: settings = [] } = {}) => {
      await run("mount", [...(isExact === true ? ["--no-canonicalize"] : []), "--bind", source, mountPoint]);
      const changes = [...(isReadOnly === true ? ["ro"] : []), ...settings];
      if (changes.length > 0) await run("mount", ["-o", ["remount", "bind", ...changes].join(","), mountPoint]);
    },
    share: async (directory) => {
      await run("mount", ["--bind", directory, directory]);
      await run("mount", ["--make-rshared", directory]);
    },
    mount: async ({ type, source, mountPoint, options: settings = [] }) => {
      const args = ["-t", type, ...(settings.length === 0 ? [] : ["-o", settings.join(",")]), source, mountPoint];
      const { exitCode, stderr } = await options.programs.run({ command: "mount", args, timeoutMs: 120_000 });
      if (exitCode !== 0) throw new MountError(args, exitCode, stderr.toString());
    },
    unmountBelow: async (directory) => {
      const below = (await list()).map((mount) => mount.mountPoint).filter((path) => path === directory || path.startsWith(`${directory}/`));
      for (const path of below.toReversed()) await unmount(path);
    },
  };
}

/**
 * The kernel gives the table in pieces, and while others mount and unmount a piece may lack lines: only what reads the same twice is whole.
 * Somebody may remove files because nothing is mounted there.
 */
export async function readSteadily(path: string, read: (path: string) => Promise<string> = (file) => readFile(file, "utf8")): Promise<string> {
  let before = await read(path);
  for (let tries = 0; tries < maxReads; tries++) {
    const now = await read(path);
    if (now === before) return now;
    before = now;
  }
  throw new Error(`${path} did not stay the same for two of ${maxReads} reads`);
}

const maxReads = 50;

/** The lines of a mountinfo file (proc_pid_mountinfo(5)), in its order: a mount comes after what it is mounted on. */
export function parseMountInfo(text: string): Mount[] {
  const mounts: Mount[] = [];
  for (const line of text.split("\n")) {
    const [before, after] = line.split(" - ");
    if (before === undefined || after === undefined) continue;
    const fields = before.split(" ");
    const [type = "", source = ""] = after.split(" ");
    mounts.push({
      root: unescape(fields[3] ?? ""),
      mountPoint: unescape(fields[4] ?? ""),
      options: (fields[5] ?? "").split(","),
      isShared: fields.slice(6).some((field) => field.startsWith("shared:")),
      type,
      source: unescape(source),
    });
  }
  return mounts;
}

/** Blanks and backslashes in paths are written as three octal digits. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

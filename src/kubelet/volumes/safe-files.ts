/**
 * Walks directories that somebody else may change at the same time: each step opens one name below an open directory, by its number under
 * `/proc/self/fd`, without following links (proc_pid_fd(5), open(2) `O_PATH`). What was opened stays the same file whatever becomes of its
 * name. Linux only.
 */
import { constants, open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

/** Node does not name it. */
const openAsPath = 0o10000000;

/** A directory that nobody else can exchange; links on the way to it are followed. */
export function openRoot(path: string): Promise<FileHandle> {
  return open(path, openAsPath | constants.O_DIRECTORY);
}

/** A file or directory in `directory`; a link is opened as itself. `name` is one name. */
export function openEntry(directory: FileHandle, name: string): Promise<FileHandle> {
  return open(`${entryPath(directory)}/${name}`, openAsPath | constants.O_NOFOLLOW);
}

/** A path that leads to what is open, in this process. */
export function entryPath(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

/** The same in other processes of root. */
export function sharedEntryPath(handle: FileHandle): string {
  return `/proc/${process.pid}/fd/${handle.fd}`;
}

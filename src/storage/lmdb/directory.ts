/** What is checked before a data directory is opened: that it can be used, that its format is known, that its checkpoint is sound. */
import { execFile } from "node:child_process";
import { chmod, link, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { KeyIndex } from "../key-index.ts";
import { StoreError } from "../store.ts";
import { Checkpoint, checkpointFile } from "./checkpoint.ts";
import { syncDirectory } from "./durable-file.ts";
import { formatFile, formatVersion, writeFormat } from "./format-file.ts";
import { messageOf } from "./log.ts";
import { runningOwner } from "./owner.ts";
import type { CheckpointReport } from "./verify-checkpoint.ts";

/**
 * Makes the directory when it is not there, and checks it. `verifyCommand` is the program and arguments that verify-checkpoint.ts runs as.
 * Changes nothing in a directory that it refuses. Throws StoreError: `Corrupt` or `Unavailable`, one line that says what to do.
 */
export async function prepareDirectory(directory: string, verifyCommand: readonly string[]): Promise<void> {
  const names = await listDirectory(directory);
  const hasFormat = names.includes(formatFile);
  const hasState = names.some((name) => name === checkpointFile || name.startsWith("log-"));
  if (hasFormat) await checkFormat(directory);
  else if (hasState) throw new StoreError("Corrupt", `${directory} has no file ${formatFile}; restore it from a backup, or choose another data directory`);
  else if (!names.every((name) => name.startsWith(`${formatFile}.new`))) {
    throw new StoreError("Unavailable", `${directory} holds other files; choose an empty data directory`);
  }
  if (names.includes(checkpointFile)) return checkCheckpoint(directory, verifyCommand);
  if (hasState) throw new StoreError("Corrupt", `${directory} has a log but no ${checkpointFile}; restore the data directory from a backup`);
  try {
    if (!hasFormat) await writeFormat(directory);
    await createCheckpoint(directory, names);
  } catch (error) {
    throw new StoreError("Unavailable", `the data directory cannot be written: ${messageOf(error)}; correct its permissions, or choose another one`, error);
  }
}

/** The line for a directory that process `pid` uses. */
export function inUse(directory: string, pid: number | undefined): StoreError {
  const who = pid === undefined ? "another process" : `process ${pid}`;
  return new StoreError("Unavailable", `${directory} is in use by ${who}; stop it, or choose another data directory`);
}

/** Revision of an empty store, as etcd's. */
const firstRevision = 1;

async function listDirectory(directory: string): Promise<string[]> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return await readdir(directory);
  } catch (error) {
    throw new StoreError("Unavailable", `the data directory cannot be used: ${messageOf(error)}; correct its permissions, or choose another one`, error);
  }
}

/** Makes an empty checkpoint. It appears under its name when it is whole; when two processes try, the first one's stays. */
async function createCheckpoint(directory: string, names: readonly string[]): Promise<void> {
  const draftPrefix = `${checkpointFile}.new-`;
  for (const name of names) if (name.startsWith(draftPrefix)) await rm(join(directory, name), { force: true });
  const draft = `${draftPrefix}${process.pid}`;
  const checkpoint = new Checkpoint(directory, { fileName: draft });
  await checkpoint.write(new KeyIndex(), firstRevision);
  await checkpoint.close();
  await chmod(join(directory, draft), 0o600);
  await link(join(directory, draft), join(directory, checkpointFile)).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
  await rm(join(directory, draft));
  await rm(join(directory, `${draft}-lock`), { force: true });
  await syncDirectory(directory);
}

async function checkFormat(directory: string): Promise<void> {
  const path = join(directory, formatFile);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new StoreError("Unavailable", `the data directory cannot be read: ${messageOf(error)}; correct its permissions`, error);
  }
  const version = Number(/^coracle-store (\d+)\n$/.exec(text)?.[1]);
  if (version === formatVersion) return;
  if (version > formatVersion) {
    throw new StoreError("Unavailable", `${directory} was written by a newer version (format ${version}, this one reads ${formatVersion}); run that version`);
  }
  throw new StoreError("Corrupt", `${path} is damaged; restore the data directory from a backup`);
}

async function checkCheckpoint(directory: string, verifyCommand: readonly string[]): Promise<void> {
  const path = join(directory, checkpointFile);
  await checkLength(path);
  const [program, ...programArguments] = verifyCommand;
  let report: CheckpointReport;
  try {
    const { stdout } = await promisify(execFile)(program!, [...programArguments, directory], { encoding: "utf8", env: verifierEnvironment() });
    report = JSON.parse(stdout) as CheckpointReport;
  } catch (error) {
    const died = (error as { signal?: string | null }).signal;
    const why = died === undefined || died === null ? lastLine(error) : `reading it ended with ${died}`;
    throw new StoreError("Corrupt", `${path} is damaged (${why}); restore the data directory from a backup`, error);
  }
  const pid = runningOwner(report.owner);
  if (pid !== undefined) throw inUse(directory, pid);
  if (report.damagedKey !== undefined) {
    throw new StoreError("Corrupt", `${path} is damaged (the value of ${report.damagedKey} has a wrong checksum); restore the data directory from a backup`);
  }
}

/** The test runner's and the debugger's variables would make the child one of theirs. */
function verifierEnvironment(): Record<string, string> {
  const { PATH = "", NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
}

/** The error's own words in what a failed Node program printed. */
function lastLine(error: unknown): string {
  const { stderr } = error as { stderr?: string };
  const line = stderr?.split("\n").find((text) => /^(\w*Error|Error): /.test(text));
  return line ?? messageOf(error).split("\n")[0]!;
}

/** Compares the file's length with the last page that its newest meta page knows: reading beyond the end would end the process. */
async function checkLength(path: string): Promise<void> {
  let expectedBytes: number | undefined;
  let actualBytes: number;
  try {
    await using file = await open(path, "r");
    actualBytes = (await file.stat()).size;
    const head = Buffer.alloc(2 * largestPageBytes);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    expectedBytes = expectedLength(head.subarray(0, bytesRead));
  } catch (error) {
    throw new StoreError("Unavailable", `the data directory cannot be read: ${messageOf(error)}; correct its permissions`, error);
  }
  if (expectedBytes === undefined) throw new StoreError("Corrupt", `${path} is damaged (it has no meta page); restore the data directory from a backup`);
  if (actualBytes < expectedBytes) {
    throw new StoreError("Corrupt", `${path} is cut off (${actualBytes} bytes instead of ${expectedBytes}); restore the data directory from a backup`);
  }
}

const largestPageBytes = 65_536;
const lmdbMagic = 0xbeef_c0de;
/** Where the meta structure begins in its page, and its fields in it (lmdb's data format 2). */
const metaOffset = 24;
const meta = { pageSize: 24, lastPage: 120, transaction: 128, length: 136 };

/** Bytes that the newest of the two meta pages says are in use; undefined when neither is one. */
function expectedLength(head: Buffer): number | undefined {
  const first = readMeta(head, 0);
  const pageSize = first?.pageSize ?? 4_096;
  const second = readMeta(head, pageSize);
  const newest = first !== undefined && (second === undefined || first.transaction > second.transaction) ? first : second;
  return newest === undefined ? undefined : (newest.lastPage + 1) * newest.pageSize;
}

function readMeta(head: Buffer, pageAt: number): { pageSize: number; lastPage: number; transaction: bigint } | undefined {
  const at = pageAt + metaOffset;
  if (at + meta.length > head.length || head.readUInt32LE(at) !== lmdbMagic) return undefined;
  return {
    pageSize: head.readUInt32LE(at + meta.pageSize),
    lastPage: Number(head.readBigUInt64LE(at + meta.lastPage)),
    transaction: head.readBigUInt64LE(at + meta.transaction),
  };
}

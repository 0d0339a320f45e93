/** Reads a container's log file as its output was, from a place near the end if asked, and on as it grows. */
import { watch } from "node:fs";
import { open, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { parseTime } from "../../../apimachinery/time.ts";
import { parseLogLine } from "./log-lines.ts";
import type { LogEntry } from "./log-lines.ts";
import type { LogOptions } from "./log-options.ts";

export interface LogSource {
  readonly path: string;
  /** Whether the container may still write. */
  isOpen(): boolean;
  /** Calls `listener` when that may have changed, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** Ends at the end of the file, or with `isFollowing` when the container has ended or `signal` aborts. */
export async function* readLog(source: LogSource, options: LogOptions, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let leftBytes = options.limitBytes ?? Number.POSITIVE_INFINITY;
  for (let isFirst = true; ; isFirst = false) {
    const file = await open(source.path, "r").catch(() => undefined);
    if (file === undefined) return;
    try {
      const start = !isFirst || options.tailLines === undefined ? 0 : await tailStart(file, options.tailLines, options.stream);
      for await (const entries of entryBatches(file, start, source, options.isFollowing, signal)) {
        const text = Buffer.from(entries.map((entry) => formatEntry(entry, options)).join(""));
        if (text.length === 0) continue;
        yield text.subarray(0, leftBytes);
        leftBytes -= text.length;
        if (leftBytes <= 0) return;
      }
      if (!options.isFollowing || signal.aborted || !(await isReplaced(file, source.path))) return;
    } finally {
      await file.close();
    }
  }
}

/** Whether the log was moved away and goes on in another file. */
async function isReplaced(file: FileHandle, path: string): Promise<boolean> {
  const [own, current] = await Promise.all([file.stat(), stat(path).catch(() => undefined)]);
  return current !== undefined && current.ino !== own.ino;
}

function formatEntry({ time, stream, isPartial, content }: LogEntry, options: LogOptions): string {
  if (options.stream !== undefined && options.stream !== stream) return "";
  if (options.sinceMs !== undefined && timeMs(time) < options.sinceMs) return "";
  return `${options.hasTimestamps ? `${time} ` : ""}${content}${isPartial ? "" : "\n"}`;
}

function timeMs(text: string): number {
  try {
    return parseTime(text);
  } catch {
    return 0;
  }
}

async function* entryBatches(file: FileHandle, start: number, source: LogSource, isFollowing: boolean, signal: AbortSignal): AsyncGenerator<LogEntry[]> {
  let position = start;
  let rest = Buffer.alloc(0);
  const block = Buffer.alloc(blockBytes);
  for (;;) {
    // Asked before reading: what is written before the end is then read.
    const wasOpen = source.isOpen();
    const { bytesRead } = await file.read(block, 0, blockBytes, position);
    if (bytesRead > 0) {
      position += bytesRead;
      const data = Buffer.concat([rest, block.subarray(0, bytesRead)]);
      const end = data.lastIndexOf(10) + 1;
      rest = data.subarray(end);
      yield data
        .toString("utf8", 0, end)
        .split("\n")
        .map(parseLogLine)
        .filter((entry): entry is LogEntry => entry !== undefined);
      continue;
    }
    if (!isFollowing || !wasOpen || signal.aborted || (await isReplaced(file, source.path))) return;
    await grown(source, position, signal);
  }
}

/** Resolves when the file has more than `size` bytes, the container's state has changed, or `signal` aborts. */
async function grown(source: LogSource, size: number, signal: AbortSignal): Promise<void> {
  let wake = () => {};
  const woken = new Promise<void>((resolve) => (wake = resolve));
  const watcher = watch(source.path, wake);
  const unsubscribe = source.onChange(wake);
  signal.addEventListener("abort", wake, { once: true });
  try {
    // It may have grown before the watch was set.
    const current = await stat(source.path).catch(() => undefined);
    if (current !== undefined && current.size > size) return;
    if (!source.isOpen()) return;
    await woken;
  } finally {
    watcher.close();
    unsubscribe();
    signal.removeEventListener("abort", wake);
  }
}

const blockBytes = 64 * 1024;

/** Where the last `lines` whole lines begin: entries that go on in the next count with it. */
async function tailStart(file: FileHandle, lines: number, stream: LogOptions["stream"]): Promise<number> {
  const { size } = await file.stat();
  if (lines <= 0) return size;
  let data = Buffer.alloc(0);
  let found = 0;
  let position = size;
  while (position > 0) {
    const length = Math.min(blockBytes, position);
    position -= length;
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, position);
    data = Buffer.concat([buffer, data]);
    const starts = lineStarts(data, stream, position === 0);
    found = starts.length;
    if (found > lines || position === 0) return found >= lines ? position + starts[found - lines]! : 0;
  }
  return 0;
}

/** Offsets at which output lines begin; the first line of a block that is not the file's first may be cut and does not count. */
function lineStarts(data: Buffer, stream: LogOptions["stream"], isWhole: boolean): number[] {
  const starts: number[] = [];
  let isContinued = false;
  let at = isWhole ? 0 : data.indexOf(10) + 1;
  for (let end = data.indexOf(10, at); end >= 0; at = end + 1, end = data.indexOf(10, at)) {
    const entry = parseLogLine(data.toString("utf8", at, Math.min(end, at + 64)));
    if (entry === undefined || (stream !== undefined && entry.stream !== stream)) continue;
    if (!isContinued) starts.push(at);
    isContinued = entry.isPartial;
  }
  return starts;
}

/**
 * The append-only log: what was committed since the checkpoint, as numbered segments `log-REVISION` in one directory. Driven by the
 * journal (lmdb-store.ts), one call at a time except `drop`. Invariants: segments follow each other without a gap in revisions; behind
 * `#endOffset` of the last one there is nothing that was acknowledged.
 */
import { readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";

import type { Random } from "../../base/random.ts";
import { StoreError } from "../store.ts";
import type { Version } from "../version.ts";
import { syncDirectory, type DurableFile, type OpenDurableFile } from "./durable-file.ts";
import { damaged, encodeFrame, readSegment, segmentHeader, segmentHeaderBytes } from "./segment.ts";

export class Log {
  readonly #directory: string;
  readonly #open: OpenDurableFile;
  readonly #random: Random;
  /** Oldest first; the last one is written to. */
  #segments: Segment[] = [];
  #file: DurableFile | undefined;
  /** Set after a failed write: the file must be cut back before the next one. */
  #needsRepair = false;
  /** A segment found at start that a crash left without a whole header. */
  #tornName: string | undefined;

  constructor(directory: string, options: { openFile: OpenDurableFile; random: Random }) {
    this.#directory = directory;
    this.#open = options.openFile;
    this.#random = options.random;
  }

  /** Bytes of all segments. */
  get bytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.endOffset, 0);
  }

  /** Bytes of the segment being written. */
  get segmentBytes(): number {
    return this.#segments.at(-1)?.endOffset ?? 0;
  }

  /** Reads what is there and returns the versions after `afterRevision` (what the checkpoint has), in order. Throws StoreError `Corrupt`. */
  async read(afterRevision: number): Promise<{ versions: Version[]; revision: number }> {
    const names = (await readdir(this.#directory)).filter((name) => segmentName.test(name)).sort();
    const versions: Version[] = [];
    let revision = afterRevision;
    for (const [index, name] of names.entries()) {
      const isLast = index === names.length - 1;
      const bytes = await readFile(join(this.#directory, name));
      const content = readSegment(bytes, name);
      if (content === undefined && isLast) {
        this.#tornName = name;
        break;
      }
      if (content === undefined || (!isLast && content.endOffset < bytes.length)) throw damaged(name, "it ends in the middle of a group");
      if (content.baseRevision > revision) throw damaged(name, `the revisions from ${revision + 1} to ${content.baseRevision} are missing before it`);
      for (const version of content.versions) if (version.modRevision > afterRevision) versions.push(version);
      revision = Math.max(revision, content.lastRevision);
      this.#segments.push({ name, salt: content.salt, lastRevision: content.lastRevision, endOffset: content.endOffset });
    }
    return { versions, revision };
  }

  /** After `read`: cuts off a torn end, and opens the last segment for writing, or makes the first. `revision` is the newest there is. */
  async start(revision: number): Promise<void> {
    if (this.#tornName !== undefined) await unlink(join(this.#directory, this.#tornName));
    const last = this.#segments.at(-1);
    // A last segment below the checkpoint has lost nothing, but no record may follow its end.
    if (last === undefined || last.lastRevision !== revision) return this.#create(revision);
    this.#file = await this.#open(join(this.#directory, last.name), "existing");
    await this.#file.truncate(last.endOffset);
  }

  /** Makes a group durable. Throws StoreError (`Full`: nothing of the group is left). */
  async append(versions: readonly Version[]): Promise<void> {
    const segment = this.#segments.at(-1)!;
    const frame = encodeFrame(versions, segment.salt);
    try {
      if (this.#needsRepair) await this.#repair(segment);
      await this.#file!.write(frame, segment.endOffset);
    } catch (error) {
      throw await this.#failed(segment, error);
    }
    segment.endOffset += frame.length;
    segment.lastRevision = versions.at(-1)!.modRevision;
  }

  /** Begins a new segment after the present one. Throws StoreError, and then goes on with the present one. */
  async rotate(): Promise<void> {
    const present = this.#segments.at(-1)!;
    if (present.endOffset === segmentHeaderBytes) return;
    const file = this.#file!;
    try {
      await this.#create(present.lastRevision);
    } catch (error) {
      throw diskError(error);
    }
    await file.close();
  }

  /** Removes the segments whose records are all at or below `revision`, except the one being written. */
  async drop(revision: number): Promise<void> {
    const dropped = this.#segments.filter((segment, index) => index < this.#segments.length - 1 && segment.lastRevision <= revision);
    for (const segment of dropped) await unlink(join(this.#directory, segment.name));
    this.#segments = this.#segments.filter((segment) => !dropped.includes(segment));
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #create(baseRevision: number): Promise<void> {
    const name = `log-${String(baseRevision).padStart(16, "0")}`;
    const path = join(this.#directory, name);
    const salt = this.#random.integer(2 ** 31);
    let file: DurableFile | undefined;
    try {
      file = await this.#open(path, "create");
      await file.write(segmentHeader(baseRevision, salt), 0);
      await syncDirectory(this.#directory);
    } catch (error) {
      if (file !== undefined) {
        await file.close();
        await unlink(path);
      }
      throw error;
    }
    this.#file = file;
    this.#segments.push({ name, salt, lastRevision: baseRevision, endOffset: segmentHeaderBytes });
  }

  async #repair(segment: Segment): Promise<void> {
    await this.#file!.truncate(segment.endOffset);
    this.#needsRepair = false;
  }

  /** Cuts what a failed write left behind; until that succeeds nothing more is written. */
  async #failed(segment: Segment, error: unknown): Promise<StoreError> {
    this.#needsRepair = true;
    try {
      await this.#repair(segment);
      return diskError(error);
    } catch (repairError) {
      return new StoreError("Unavailable", `the log cannot be written: ${messageOf(repairError)}`, error);
    }
  }
}

type Segment = { readonly name: string; readonly salt: number; lastRevision: number; endOffset: number };

const segmentName = /^log-\d{16}$/;

/** A failure of the file system as a StoreError: `Full` with etcd's text when there is no room, else `Unavailable`. */
export function diskError(error: unknown): StoreError {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG") return new StoreError("Full", "etcdserver: mvcc: database space exceeded", error);
  return new StoreError("Unavailable", `the log cannot be written: ${messageOf(error)}`, error);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

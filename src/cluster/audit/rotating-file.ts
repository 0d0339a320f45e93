/**
 * A log file that is set aside when it has grown to a limit: `audit.log` becomes `audit-TIME.log` (then `.gz` where asked for), and the
 * oldest of those are removed by number and age. Lines are written whole and in order, at once: what was answered is in the file.
 */
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from "node:fs";
import { createReadStream, createWriteStream } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "../../base/clock.ts";

export interface RotatingFileOptions {
  readonly path: string;
  /** 0: 100 MB. */
  readonly maxBytes: number;
  /** 0: any number. */
  readonly maxBackups: number;
  /** 0: for ever. */
  readonly maxAgeMs: number;
  readonly compresses: boolean;
  readonly clock: Clock;
}

const defaultBytes = 100 * 1024 * 1024;
export const dayMs = 24 * 3600 * 1000;

export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #file: { readonly descriptor: number; bytes: number };
  #compressing: Promise<void> = Promise.resolve();

  constructor(options: RotatingFileOptions) {
    this.#options = options;
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
    this.#file = this.#open();
  }

  /** Appends a line. Throws when it cannot be written. */
  append(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    if (this.#file.bytes > 0 && this.#file.bytes + bytes.length > (this.#options.maxBytes || defaultBytes)) this.#rotate();
    for (let written = 0; written < bytes.length;) written += writeSync(this.#file.descriptor, bytes, written);
    this.#file.bytes += bytes.length;
  }

  async close(): Promise<void> {
    closeSync(this.#file.descriptor);
    await this.#compressing;
  }

  #open(): { descriptor: number; bytes: number } {
    const descriptor = openSync(this.#options.path, "a", 0o600);
    return { descriptor, bytes: fstatSync(descriptor).size };
  }

  #rotate(): void {
    const { path, clock, compresses } = this.#options;
    closeSync(this.#file.descriptor);
    let backup = this.#backupPath(clock.nowMs());
    for (let later = clock.nowMs() + 1; existsSync(backup); later++) backup = this.#backupPath(later);
    renameSync(path, backup);
    this.#file = this.#open();
    this.#removeOld();
    if (compresses) this.#compressing = this.#compressing.then(() => compress(backup)).catch(() => {});
  }

  #backupPath(ms: number): string {
    const { path } = this.#options;
    const extension = extname(path);
    const time = new Date(ms).toISOString().replace("Z", "").replaceAll(":", "-");
    return join(dirname(path), `${basename(path, extension)}-${time}${extension}`);
  }

  #removeOld(): void {
    const { path, clock, maxBackups, maxAgeMs } = this.#options;
    const extension = extname(path);
    const prefix = `${basename(path, extension)}-`;
    const names = readdirSync(dirname(path))
      .filter((name) => name.startsWith(prefix) && timeOf(name, prefix) !== undefined)
      .sort()
      .reverse();
    const isOld = (name: string) => maxAgeMs > 0 && clock.nowMs() - timeOf(name, prefix)! > maxAgeMs;
    for (const [index, name] of names.entries()) if ((maxBackups > 0 && index >= maxBackups) || isOld(name)) rmSync(join(dirname(path), name), { force: true });
  }
}

/** The time in the name of a file set aside. */
function timeOf(name: string, prefix: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})/.exec(name.slice(prefix.length));
  return match === null ? undefined : Date.parse(`${match[1]}T${match[2]}:${match[3]}:${match[4]}Z`);
}

async function compress(path: string): Promise<void> {
  await pipeline(createReadStream(path), createGzip(), createWriteStream(`${path}.gz`, { mode: 0o600 }));
  rmSync(path, { force: true });
}

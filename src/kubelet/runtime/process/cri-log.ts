/**
 * A container's log in CRI's format: `TIME STREAM TAG LINE`, tag F for a line with its end, P for a part of one (what exceeds 16 KiB, or
 * what the program left unended).
 */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { formatMicroTime } from "../../../apimachinery/time.ts";

export class CriLog {
  readonly #path: string;
  readonly #nowMs: () => number;
  #descriptor: number;
  readonly #rest = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

  constructor(path: string, nowMs: () => number) {
    this.#path = path;
    this.#nowMs = nowMs;
    this.#descriptor = open(path);
  }

  write(stream: LogStream, data: Buffer): void {
    let rest = this.#rest[stream].length === 0 ? data : Buffer.concat([this.#rest[stream], data]);
    const entries: Buffer[] = [];
    for (;;) {
      const newline = rest.indexOf(10);
      const isWhole = newline >= 0 && newline <= maxLineBytes;
      if (!isWhole && rest.length < maxLineBytes) break;
      const end = isWhole ? newline : maxLineBytes;
      entries.push(this.#entry(stream, isWhole ? "F" : "P", rest.subarray(0, end)));
      rest = rest.subarray(isWhole ? end + 1 : end);
    }
    this.#rest[stream] = Buffer.from(rest);
    if (entries.length > 0) writeSync(this.#descriptor, Buffer.concat(entries));
  }

  /** The stream has ended. */
  end(stream: LogStream): void {
    const rest = this.#rest[stream];
    this.#rest[stream] = Buffer.alloc(0);
    if (rest.length > 0) writeSync(this.#descriptor, this.#entry(stream, "P", rest));
  }

  reopen(): void {
    closeSync(this.#descriptor);
    this.#descriptor = open(this.#path);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #entry(stream: LogStream, tag: "F" | "P", line: Buffer): Buffer {
    // Nine digits of a second, as everybody's logs have; ours know the first three.
    const time = formatMicroTime(this.#nowMs()).replace("Z", "000Z");
    return Buffer.concat([Buffer.from(`${time} ${stream} ${tag} `), line, newlineByte]);
  }
}

export type LogStream = "stdout" | "stderr";

const maxLineBytes = 16 * 1024;
const newlineByte = Buffer.from("\n");

function open(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  return openSync(path, "a", 0o640);
}

/** Tar archives (POSIX ustar), written whole. Times are zero, so that the same entries give the same bytes. */

export type TarEntry =
  | { readonly type: "file"; readonly path: string; readonly data: Uint8Array; readonly mode?: number }
  | { readonly type: "directory"; readonly path: string; readonly mode?: number }
  | { readonly type: "symlink" | "link"; readonly path: string; readonly target: string };

/** Paths are relative, at most 100 bytes. */
export function writeTar(entries: readonly TarEntry[]): Buffer {
  const blocks: Buffer[] = [];
  for (const entry of entries) {
    const data = entry.type === "file" ? entry.data : Buffer.alloc(0);
    blocks.push(header(entry, data.length), Buffer.from(data), Buffer.alloc(padding(data.length)));
  }
  blocks.push(Buffer.alloc(2 * blockBytes));
  return Buffer.concat(blocks);
}

const blockBytes = 512;
const typeFlags = { file: "0", link: "1", symlink: "2", directory: "5" } as const;

function header(entry: TarEntry, size: number): Buffer {
  const path = entry.type === "directory" ? `${entry.path}/` : entry.path;
  const target = "target" in entry ? entry.target : "";
  if (Buffer.byteLength(path) > 100 || Buffer.byteLength(target) > 100) throw new RangeError(`${path}: a path in a tar has at most 100 bytes`);
  const mode = ("mode" in entry ? entry.mode : undefined) ?? (entry.type === "file" ? 0o644 : 0o755);
  const block = Buffer.alloc(blockBytes);
  block.write(path, 0);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108); // uid
  block.write(octal(0, 8), 116); // gid
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136); // mtime
  block.write("        ", 148); // the checksum counts as blanks while it is summed
  block.write(typeFlags[entry.type], 156);
  block.write(target, 157);
  block.write("ustar\u000000", 257);
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, "0")}\0`;
}

function padding(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** A file whose writes are on the disk when they return. The seam at which tests put a full or failing disk. */
export interface DurableFile {
  /** Writes all of `bytes` at `offset`, durably. */
  write(bytes: Buffer, offset: number): Promise<void>;
  /** Cuts the file to `length`, durably. */
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

export type OpenDurableFile = (path: string, mode: "create" | "existing") => Promise<DurableFile>;

/** Opens `path`, readable for its owner only; `create` fails when it exists. */
export const openDurableFile: OpenDurableFile = async (path, mode) => {
  // O_DSYNC makes one trip to the thread pool out of two (write, fdatasync).
  const flags = constants.O_RDWR | constants.O_DSYNC | (mode === "create" ? constants.O_CREAT | constants.O_EXCL : 0);
  const file = await open(path, flags, 0o600);
  return {
    async write(bytes, offset) {
      for (let written = 0; written < bytes.length;) {
        const result = await file.write(bytes, written, bytes.length - written, offset + written);
        written += result.bytesWritten;
      }
    },
    async truncate(length) {
      await file.truncate(length);
      await file.datasync();
    },
    close: () => file.close(),
  };
};

/** Makes the names of a directory (created, removed files) durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Where keys and certificates are kept: in a directory, for its owner only, or nowhere but in memory. */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface KeyStore {
  /** Behind a file's name in a message: `in /var/lib/coracle/pki`. */
  readonly place: string;
  /** Whether what is written is there at the next start. */
  readonly isKept: boolean;
  /** The file's text; undefined when there is none. */
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
}

/** In `DIR/pki`, files with mode 0600. */
export function keyDirectory(dataDir: string): KeyStore {
  const folder = join(dataDir, "pki");
  return {
    place: `in ${folder}`,
    isKept: true,
    async read(name) {
      try {
        return await readFile(join(folder, name), "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    async write(name, text) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, name);
      await writeFile(file, text, { mode: 0o600 });
      await chmod(file, 0o600);
    },
  };
}

export function keysInMemory(): KeyStore {
  const texts = new Map<string, string>();
  return {
    place: "in memory",
    isKept: false,
    read: async (name) => texts.get(name),
    async write(name, text) {
      texts.set(name, text);
    },
  };
}

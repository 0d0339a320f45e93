/** Where keys and certificates are kept: in a directory, for its owner only, or nowhere but in memory. */
import { X509Certificate, createPrivateKey } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface KeyAndCertificate {
  /** PEM. */
  readonly key: string;
  readonly certificate: string;
}

export interface KeyStore {
  /** Behind a file's name in a message: `in /var/lib/coracle/pki`. */
  readonly place: string;
  /** Whether what is written is there at the next start. */
  readonly isKept: boolean;
  /** The file's text; undefined when there is none. */
  read(name: string): Promise<string | undefined>;
  /** Whoever reads meanwhile, or after a crash, sees the old text or the new one. */
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** The key and the certificate of this name; undefined when they are not both there, or are not each other's. */
export async function readPair(store: KeyStore, name: string): Promise<KeyAndCertificate | undefined> {
  const [certificate, ...keys] = await Promise.all([`${name}.crt`, `${name}.key`, nextKey(name)].map((file) => store.read(file)));
  if (certificate === undefined) return undefined;
  const key = keys.find((pem) => pem !== undefined && belongTogether(pem, certificate));
  return key === undefined ? undefined : { key, certificate };
}

/** Puts a pair in the place of another: the old one counts until the new one is there, whenever the process ends. */
export async function writePair(store: KeyStore, name: string, { key, certificate }: KeyAndCertificate): Promise<void> {
  await store.write(nextKey(name), key);
  await store.write(`${name}.crt`, certificate);
  await store.write(`${name}.key`, key);
  await store.remove(nextKey(name));
}

/** Where a key waits for its certificate. */
const nextKey = (name: string) => `${name}.next.key`;

function belongTogether(key: string, certificate: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    // What cannot be read belongs to nothing.
    return false;
  }
}

/** In `DIR/pki`, files with mode 0600. */
export function keyDirectory(dataDir: string): KeyStore {
  const folder = join(dataDir, "pki");
  let writes = 0;
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
      const written = `${file}.${process.pid}-${++writes}.tmp`;
      await rm(written, { force: true });
      await writeFile(written, text, { mode: 0o600, flag: "wx", flush: true });
      await rename(written, file);
    },
    remove: (name) => rm(join(folder, name), { force: true }),
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
    async remove(name) {
      texts.delete(name);
    },
  };
}

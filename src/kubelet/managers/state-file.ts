/** A small state that outlives the kubelet: one JSON file with a checksum, written whole, one write after the other. */
import { createHash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import type { Log } from "../../base/log.ts";

export class StateFile<T> {
  readonly #path: string | undefined;
  readonly #log: Log;
  #writing: Promise<void> | undefined;
  #next: { readonly data: T } | undefined;

  /** `path`: absent where nothing is kept. */
  constructor(options: { path: string | undefined; log: Log }) {
    this.#path = options.path;
    this.#log = options.log;
  }

  /** What an earlier kubelet left; undefined when there is nothing, or it is damaged. */
  async read(): Promise<T | undefined> {
    const text = this.#path === undefined ? undefined : await readFile(this.#path, "utf8").catch(() => undefined);
    if (text === undefined) return undefined;
    try {
      const { checksum, data } = JSON.parse(text) as { checksum: string; data: T };
      if (checksum !== checksumOf(data)) throw new Error("the checksum is another");
      return data;
    } catch (error) {
      this.#log.warn("A state file of the kubelet cannot be used", { path: this.#path, error });
      return undefined;
    }
  }

  write(data: T): void {
    if (this.#path === undefined) return;
    this.#next = { data };
    this.#writing ??= this.#drain(this.#path).finally(() => (this.#writing = undefined));
  }

  /** Resolves when all is written. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #drain(path: string): Promise<void> {
    while (this.#next !== undefined) {
      const { data } = this.#next;
      this.#next = undefined;
      try {
        await writeFile(`${path}.new`, JSON.stringify({ checksum: checksumOf(data), data }), { mode: 0o600 });
        await rename(`${path}.new`, path);
      } catch (error) {
        this.#log.warn("Could not write a state file of the kubelet", { path, error });
      }
    }
  }
}

const checksumOf = (data: unknown) => createHash("sha256").update(JSON.stringify(data)).digest("hex");

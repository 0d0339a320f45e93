/** A file that is read again when it changes: written anew, replaced, or swapped by a symbolic link as mounted volumes are. */
import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { dirname } from "node:path";
import type { Log } from "../../base/log.ts";
import { readText } from "./read-text.ts";

export interface FollowedFileOptions {
  readonly path: string;
  readonly log: Log;
  /** The content that is known already. */
  readonly content: string;
  /** Called with each new content, one call at a time. */
  readonly onContent: (content: string) => void | Promise<void>;
}

/** Follows the file until it is closed. What cannot be read is told and changes nothing. */
export class FollowedFile implements AsyncDisposable {
  readonly #options: FollowedFileOptions;
  readonly #watcher: FSWatcher;
  #content: string;
  #isLooking = false;
  #looksAgain = false;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: FollowedFileOptions) {
    this.#options = options;
    this.#content = options.content;
    // The folder is watched: a file that is replaced is another one.
    this.#watcher = watch(dirname(options.path), { persistent: false }, () => this.#look());
    this.#watcher.on("error", (error) => options.log.warn("Could not follow a file", { path: options.path, error }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watcher.close();
    this.#looksAgain = false;
    await this.#looking;
  }

  #look(): void {
    this.#looksAgain = true;
    if (!this.#isLooking) this.#looking = this.#lookUntilQuiet();
  }

  async #lookUntilQuiet(): Promise<void> {
    const { path, log, onContent } = this.#options;
    this.#isLooking = true;
    while (this.#looksAgain) {
      this.#looksAgain = false;
      try {
        const content = await readText(path);
        // A file is empty while it is being written.
        if (content === this.#content || content === "") continue;
        this.#content = content;
        await onContent(content);
      } catch (error) {
        log.warn("Could not read a file again", { path, error });
      }
    }
    this.#isLooking = false;
  }
}

/**
 * What the runtime `process` keeps on disk, for the runtime that comes after it:
 * `STATE/SANDBOX/sandbox.json`, `STATE/SANDBOX/containers/CONTAINER/{container.json,state.json,root/}`, `STATE/images.json`.
 */
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ContainerConfig, Mount, PodSandboxConfig } from "../cri-messages.ts";
import type { ProgramState } from "./supervisor-messages.ts";

export type SavedSandbox = {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAtMs: number;
  readonly address: string;
};
export type SavedContainer = { readonly id: string; readonly config: ContainerConfig; readonly imageRef: string; readonly createdAtMs: number };

export class PodFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  containerDirectory(sandboxId: string, containerId: string): string {
    return join(this.#directory, sandboxId, "containers", containerId);
  }

  statePath(sandboxId: string, containerId: string): string {
    return join(this.containerDirectory(sandboxId, containerId), "state.json");
  }

  async saveSandbox(sandbox: SavedSandbox): Promise<void> {
    await mkdir(join(this.#directory, sandbox.id, "containers"), { recursive: true, mode: 0o700 });
    await saveJson(join(this.#directory, sandbox.id, "sandbox.json"), sandbox);
  }

  /** Also makes `root`, where the container's mounts are found under their paths (`CORACLE_ROOT`), as links: nothing is mounted. */
  async saveContainer(sandboxId: string, container: SavedContainer): Promise<void> {
    const directory = this.containerDirectory(sandboxId, container.id);
    const root = join(directory, "root");
    await mkdir(root, { recursive: true, mode: 0o700 });
    for (const mount of shortestFirst(container.config.mounts ?? [])) {
      const path = join(root, mount.container_path);
      await mkdir(dirname(path), { recursive: true });
      await symlink(mount.host_path, path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error; // a mount inside another one: the outer one's content is shown
      });
    }
    await saveJson(join(directory, "container.json"), container);
  }

  async saveState(sandboxId: string, containerId: string, state: ProgramState): Promise<void> {
    await saveJson(this.statePath(sandboxId, containerId), state);
  }

  /** Undefined for a program that was never started. */
  readState(sandboxId: string, containerId: string): Promise<ProgramState | undefined> {
    return readJson<ProgramState>(this.statePath(sandboxId, containerId));
  }

  /** Sandboxes whose files are whole; the rest of a creation that was cut short is removed. */
  async readSandboxes(): Promise<SavedSandbox[]> {
    const found: SavedSandbox[] = [];
    for (const entry of await readdir(this.#directory, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const sandbox = await readJson<SavedSandbox>(join(this.#directory, entry.name, "sandbox.json"));
      if (sandbox === undefined) await this.removeSandbox(entry.name);
      else found.push(sandbox);
    }
    return found;
  }

  async readContainers(sandboxId: string): Promise<SavedContainer[]> {
    const directory = join(this.#directory, sandboxId, "containers");
    const read = async (id: string) => {
      const container = await readJson<SavedContainer>(join(directory, id, "container.json"));
      if (container === undefined) await this.removeContainer(sandboxId, id);
      return container;
    };
    return (await Promise.all((await readdir(directory)).map(read))).filter((container) => container !== undefined);
  }

  removeSandbox(id: string): Promise<void> {
    return rm(join(this.#directory, id), whole);
  }

  removeContainer(sandboxId: string, id: string): Promise<void> {
    return rm(this.containerDirectory(sandboxId, id), whole);
  }

  saveImageNames(names: readonly string[]): Promise<void> {
    return saveJson(join(this.#directory, "images.json"), names);
  }

  async readImageNames(): Promise<readonly string[]> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    return (await readJson<string[]>(join(this.#directory, "images.json"))) ?? [];
  }
}

async function saveJson(path: string, value: unknown): Promise<void> {
  // Environments may carry secrets. Bytes are saved as text, which is what they become as environment.
  const text = JSON.stringify(value, (_, item: unknown) => (item instanceof Uint8Array ? Buffer.from(item).toString("utf8") : item));
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  });
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

function shortestFirst(mounts: readonly Mount[]): Mount[] {
  return mounts.toSorted((a, b) => a.container_path.length - b.container_path.length);
}

/** A supervisor may write its last words while its folder goes. */
const whole = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 } as const;

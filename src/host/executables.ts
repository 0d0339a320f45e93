/** Programs' files. */
import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";

/** The file a bare name stands for in `path` (directories, `:` between), or undefined. */
export async function findOnPath(name: string, path: string): Promise<string | undefined> {
  for (const directory of path.split(":")) {
    const file = join(directory, name);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

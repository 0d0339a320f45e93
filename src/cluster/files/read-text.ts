/** The text of a file that a flag names. Rejects with an Error in Go's words, which stand in kube-apiserver's messages. */
import { readFile } from "node:fs/promises";

export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const isDirectory = code === "EISDIR";
    throw new Error(`${isDirectory ? "read" : "open"} ${path}: ${meanings[code] ?? String(error)}`, { cause: error });
  }
}

const meanings: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EISDIR: "is a directory",
  ENOTDIR: "not a directory",
  ELOOP: "too many levels of symbolic links",
};

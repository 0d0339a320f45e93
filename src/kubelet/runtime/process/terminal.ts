/** Terminals for programs, by util-linux' `script` (in every Debian): it makes the pseudo-terminal and passes the exit code on. */
import { readFile } from "node:fs/promises";
import type { Programs } from "../../../host/programs.ts";

/** The command that runs `command` on a new terminal, whose device it writes into `deviceFile`. */
export function onTerminal(command: readonly string[], deviceFile: string): string[] {
  const line = `tty > ${quote(deviceFile)}; exec ${command.map(quote).join(" ")}`;
  return ["script", "--quiet", "--flush", "--return", "--command", line, "/dev/null"];
}

/** Sets the size of the terminal named in `deviceFile`; the kernel tells its programs. A terminal not yet there is waited for by `again`. */
export async function resizeTerminal(programs: Programs, deviceFile: string, size: { width: number; height: number }): Promise<boolean> {
  const device = (await readFile(deviceFile, "utf8").catch(() => "")).trim();
  if (device === "") return false;
  // A side that is zero stays as it was.
  const sides = [...(size.height > 0 ? ["rows", String(size.height)] : []), ...(size.width > 0 ? ["cols", String(size.width)] : [])];
  if (sides.length > 0) await programs.run({ command: "stty", args: ["--file", device, ...sides], timeoutMs: 5000 });
  return true;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

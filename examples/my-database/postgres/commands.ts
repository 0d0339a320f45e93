/** PostgreSQL's own programs, and SQL over its socket. */
import { spawn } from "node:child_process";
import path from "node:path";

const { PG_PROGRAMS, VERSION, PG_BIN = "/usr/lib/postgresql/15/bin" } = process.env;
/** Where PG_PROGRAMS has a folder for each version, that of the pod's; else there is one, as in an image. */
export const bin = PG_PROGRAMS !== undefined && VERSION !== undefined ? path.join(PG_PROGRAMS, VERSION, "bin") : PG_BIN;

/** Runs a program to its end and returns what it printed; rejects with what it said when it fails. */
export function run(
  program: string,
  args: readonly string[],
  options: { readonly input?: string; readonly env?: Record<string, string>; readonly timeoutMs?: number } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program.includes("/") ? program : path.join(bin, program), args, {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...options.env },
      ...(options.timeoutMs !== undefined && { timeout: options.timeoutMs }),
    });
    let [output, errors] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-2000)));
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve(output.trim()) : reject(new Error(`${program} ended with ${code}: ${errors.trim()}`))));
    // A program that ends without reading says by its exit code whether that is well.
    child.stdin.on("error", () => undefined).end(options.input ?? "");
  });
}

/** Rows of a query over the server's socket; columns are separated by `|`. */
export async function sql(socketDirectory: string, text: string): Promise<string[]> {
  const output = await run("psql", ["-AtXq", "-h", socketDirectory, "-U", "postgres", "-d", "postgres", "-c", text], { timeoutMs: 5000 });
  return output === "" ? [] : output.split("\n");
}

/** `0/3000148` → bytes. */
export function positionOf(lsn: string): number {
  const [high = "0", low = "0"] = lsn.split("/");
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16);
}

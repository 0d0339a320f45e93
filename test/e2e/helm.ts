/** The helm that comes with `bin/kubectl`'s package. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

const programs = path.join(process.env["XDG_CACHE_HOME"] ?? path.join(homedir(), ".cache"), "coracle", "kubectl-1.36");

export const whyNoHelm: string | undefined = process.platform === "linux" && process.arch === "x64" ? undefined : "helm is fetched for linux/amd64 only";

/** Its path; fetched if it is not there yet. */
export function helmPath(): string {
  const fetch = path.resolve(import.meta.dirname, "../../tools/fetch-kubectl.mjs");
  if (!existsSync(programs)) execFileSync(process.execPath, [fetch, programs], { stdio: ["ignore", "ignore", "inherit"] });
  return path.join(programs, "helm");
}

import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Certificates } from "./certificates.ts";
import { kubeconfigText } from "./kubeconfig-text.ts";

/** Writes `DIR/kubeconfig`, by which the administrator reaches `server`, for its owner only. Returns its path. */
export async function writeAdminKubeconfig(dataDir: string, server: string, certificates: Certificates, authority: string): Promise<string> {
  const client = await certificates.client("admin", "admin", ["system:masters"]);
  const path = join(dataDir, "kubeconfig");
  await mkdir(dataDir, { recursive: true });
  await writeFile(path, kubeconfigText({ server, authority, user: "admin", client }), { mode: 0o600 });
  await chmod(path, 0o600);
  return path;
}

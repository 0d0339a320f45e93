/** The administrator's kubeconfig, written again whenever its certificate is renewed, and when other authorities are to be trusted. */
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { followAuthority } from "../certificates/authority-following.ts";
import type { AuthoritySource } from "../certificates/authority-following.ts";
import type { Certificates } from "../certificates/certificates.ts";
import type { Environment } from "../environment.ts";
import type { KeyAndCertificate } from "../certificates/key-store.ts";
import { kubeconfigText } from "./kubeconfig-text.ts";
import { followPair } from "../certificates/renewal.ts";

export interface AdminKubeconfig extends AsyncDisposable {
  readonly path: string;
}

export interface AdminKubeconfigOptions {
  readonly dataDir: string;
  readonly server: string;
  /** Gives the PEM of what clients trust. */
  readonly authority: AuthoritySource;
  readonly certificates: Certificates;
}

/** Keeps `DIR/kubeconfig`, by which the administrator reaches `server`, for its owner only. */
export async function keepAdminKubeconfig(
  { clock, log }: Pick<Environment, "clock" | "log">,
  { dataDir, server, authority, certificates }: AdminKubeconfigOptions,
): Promise<AdminKubeconfig> {
  const path = join(dataDir, "kubeconfig");
  const source = () => certificates.client("admin", "admin", ["system:masters"]);
  const write = async (client: KeyAndCertificate) => {
    const written = `${path}.${process.pid}.tmp`;
    await writeFile(written, kubeconfigText({ server, authority: await authority(), user: "admin", client }), { mode: 0o600 });
    await chmod(written, 0o600);
    await rename(written, path);
  };
  const current = await source();
  await mkdir(dataDir, { recursive: true });
  await write(current);
  const following = new AsyncDisposableStack();
  following.use(followPair({ clock, log, name: "admin", current, source, onNew: write }));
  following.use(followAuthority({ clock, log, name: "admin", current: await authority(), source: authority, onNew: async () => write(await source()) }));
  return { path, [Symbol.asyncDispose]: () => following.disposeAsync() };
}

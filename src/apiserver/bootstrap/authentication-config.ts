/** ConfigMap `kube-system/extension-apiserver-authentication`: what extension API servers need to know whom to trust. */
import { createInternally } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";

export async function publishAuthenticationConfig(server: ServerState): Promise<void> {
  const definition = server.resources.find("", "v1", "configmaps")!;
  const today = new Date(server.clock.nowMs()).toISOString().slice(0, 10);
  const maps = [
    { name: "extension-apiserver-authentication", data: { "client-ca-file": server.settings.clientAuthority } },
    { name: "kube-apiserver-legacy-service-account-token-tracking", data: { since: today } },
  ];
  for (const { name, data } of maps) {
    if (definition.storage!.cache.get(`kube-system/${name}`) !== undefined) continue;
    await createInternally(server, definition, { kind: "ConfigMap", apiVersion: "v1", metadata: { name, namespace: "kube-system" }, data });
  }
}

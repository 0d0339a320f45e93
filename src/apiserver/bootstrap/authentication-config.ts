/** ConfigMap `kube-system/extension-apiserver-authentication`: what extension API servers need to know whom to trust. */
import { isDeepStrictEqual } from "node:util";
import { createInternally, updateInternally } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";

const authenticationName = "extension-apiserver-authentication";

export async function publishAuthenticationConfig(server: ServerState): Promise<void> {
  const definition = server.resources.find("", "v1", "configmaps")!;
  const today = new Date(server.clock.nowMs()).toISOString().slice(0, 10);
  const maps = [
    {
      name: authenticationName,
      data: { "client-ca-file": server.settings.clientAuthority, ...server.settings.proxyConfiguration, ...server.reloads.published },
    },
    { name: "kube-apiserver-legacy-service-account-token-tracking", data: { since: today } },
  ];
  for (const { name, data } of maps) {
    const stored = definition.storage!.cache.get(`kube-system/${name}`);
    if (stored !== undefined) {
      // What others shall trust follows the flags; since when tokens are tracked stays.
      if (name === authenticationName && !isDeepStrictEqual(definition.storage!.cache.parse(stored)["data"], data))
        await updateInternally(server, definition, { namespace: "kube-system", name }, (old) => ({ ...old, data }));
      continue;
    }
    await createInternally(server, definition, { kind: "ConfigMap", apiVersion: "v1", metadata: { name, namespace: "kube-system" }, data });
  }
}

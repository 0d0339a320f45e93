/** The files of the API server's flags that are read again while it runs. */
import type { AuthenticationConfiguration } from "../../../apiserver/authn/jwt/configuration.ts";
import type { Reloads } from "../../../apiserver/reloads.ts";
import { yamlToJson } from "../../../apimachinery/yaml/yaml.ts";
import type { Log } from "../../../base/log.ts";
import { FollowedFile } from "../../files/followed-file.ts";
import { readText } from "../../files/read-text.ts";
import { authorizationFrom } from "./apiserver-files.ts";
import { last } from "./apiserver-flags/flag-values.ts";
import type { Flags } from "./apiserver-flags/flag-values.ts";

/** Follows them until disposed of. `ownAuthority` is the PEM of ours, which always counts for clients. */
export async function followFiles(
  flags: Flags,
  reloads: Reloads,
  { log, ownAuthority }: { readonly log: Log; readonly ownAuthority: string },
): Promise<AsyncDisposable> {
  const followed = new AsyncDisposableStack();
  const onContent: Readonly<Record<string, (text: string) => void | Promise<void>>> = {
    "client-ca-file": (text) => reloads.clientAuthorities(text, [ownAuthority]),
    "requestheader-client-ca-file": (text) => reloads.proxyAuthorities(text),
    "authentication-config": (text) => reloads.authentication(text, () => yamlToJson(Buffer.from(text)) as AuthenticationConfiguration),
    "authorization-config": async (text) =>
      reloads.authorization(text, await authorizationFrom(text).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))),
  };
  for (const [flag, apply] of Object.entries(onContent)) {
    const path = last(flags, flag);
    if (path !== undefined && path !== "") followed.use(new FollowedFile({ path, log, content: await readText(path), onContent: apply }));
  }
  return followed;
}

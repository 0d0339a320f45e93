/** The files of the API server's flags that are read again while it runs. */
import { certificatesOf } from "../../../apiserver/authn/certificate-trust.ts";
import type { Reloads } from "../../../apiserver/reloads.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { followAuthority } from "../../certificates/authority-following.ts";
import type { AuthoritySource } from "../../certificates/authority-following.ts";
import { FollowedFile } from "../../files/followed-file.ts";
import { readText } from "../../files/read-text.ts";
import { authenticationFrom, authorizationFrom } from "./apiserver-files.ts";
import { last } from "./apiserver-flags/flag-values.ts";
import type { Flags } from "./apiserver-flags/flag-values.ts";

export interface FollowedTrust {
  readonly clock: Clock;
  readonly log: Log;
  /** The bundle of ours, which always counts for clients; and what to tell of a new one. */
  readonly ownAuthority: AuthoritySource;
  readonly onOwnAuthority: (bundle: string) => void;
  readonly proxyAuthority: AuthoritySource;
}

/** Follows them, and our own authorities, until disposed of. */
export async function followFiles(
  flags: Flags,
  reloads: Reloads,
  { clock, log, ownAuthority, onOwnAuthority, proxyAuthority }: FollowedTrust,
): Promise<AsyncDisposable> {
  const followed = new AsyncDisposableStack();
  const clients = { own: await ownAuthority(), file: "" };
  const replaceClients = () => reloads.clientAuthorities(clients.file === "" ? clients.own : clients.file, certificatesOf(clients.own));
  const onContent: Readonly<Record<string, (text: string) => void | Promise<void>>> = {
    "client-ca-file": (text) => {
      clients.file = text;
      replaceClients();
    },
    "requestheader-client-ca-file": (text) => reloads.proxyAuthorities(text),
    "authentication-config": (text) => reloads.authentication(text, () => authenticationFrom(text, last(flags, "authentication-config")!)),
    "authorization-config": async (text) =>
      reloads.authorization(text, await authorizationFrom(text).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))),
  };
  for (const [flag, apply] of Object.entries(onContent)) {
    const path = last(flags, flag);
    if (path === undefined || path === "") continue;
    const content = await readText(path);
    if (flag === "client-ca-file") clients.file = content;
    followed.use(new FollowedFile({ path, log, content, onContent: apply }));
  }
  const takeOver = (own: string) => {
    clients.own = own;
    replaceClients();
    onOwnAuthority(own);
  };
  followed.use(followAuthority({ clock, log, name: "apiserver", current: clients.own, source: ownAuthority, onNew: takeOver }));
  if ((last(flags, "requestheader-client-ca-file") ?? "") === "")
    followed.use(
      followAuthority({
        clock,
        log,
        name: "front proxies",
        current: await proxyAuthority(),
        source: proxyAuthority,
        onNew: (bundle) => reloads.proxyAuthorities(bundle),
      }),
    );
  return followed;
}

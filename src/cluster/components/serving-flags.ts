/** What the server of a component shows and speaks: by its flags `--tls-*`, and a certificate of our own where they name none. */
import type { TlsListener, TlsListenerOptions } from "../../apimachinery/listener/tls-listener.ts";
import { followPair } from "../certificates/renewal.ts";
import type { PairSource } from "../certificates/renewal.ts";
import { UsageError } from "../commands/arguments.ts";
import type { Environment } from "../environment.ts";
import { last, parseNamedFiles } from "./apiserver/apiserver-flags/flag-values.ts";
import type { Flags } from "./apiserver/apiserver-flags/flag-values.ts";
import { tlsFaults, tlsProtocol } from "./apiserver/apiserver-flags/tls-flags.ts";
import { pair } from "./apiserver/apiserver-keys.ts";
import { followServingFiles, namedCertificates } from "./apiserver/serving-files.ts";

export interface ComponentServing {
  readonly listening: Pick<TlsListenerOptions, "key" | "certificate" | "protocol" | "named">;
  /** Until disposed of the listeners show what follows: a changed file's content, or our own certificate's successor. */
  follow(listeners: () => readonly TlsListener[], environment: Pick<Environment, "clock" | "log">): Promise<AsyncDisposable>;
}

/** `component` is the flags' prefix; `own` makes our own certificate. Throws UsageError. */
export async function servingByFlags(component: string, flags: Flags, own: PairSource): Promise<ComponentServing> {
  const [fault] = tlsFaults(flags);
  if (fault !== undefined) throw new UsageError(`--${component}.${fault.flag}: ${fault.text}`);
  for (const text of flags.get("tls-sni-cert-key") ?? []) {
    const parsed = parseNamedFiles(text);
    if ("fault" in parsed) throw new UsageError(`--${component}.tls-sni-cert-key: ${parsed.fault}`);
  }
  const [certificateFile, keyFile] = [last(flags, "tls-cert-file"), last(flags, "tls-private-key-file")];
  if ((certificateFile === undefined) !== (keyFile === undefined))
    throw new UsageError(`--${component}.tls-cert-file and --${component}.tls-private-key-file are given together`);
  const isGiven = certificateFile !== undefined && keyFile !== undefined;
  const current = isGiven ? await pair(certificateFile, keyFile) : await own();
  return {
    listening: { ...current, protocol: tlsProtocol(flags), named: await namedCertificates(flags) },
    async follow(listeners, environment) {
      const following = new AsyncDisposableStack();
      const setCertificate = (pairNow: typeof current) => listeners().forEach((listener) => listener.setCertificate(pairNow));
      const setNamedCertificates: TlsListener["setNamedCertificates"] = (named) => listeners().forEach((listener) => listener.setNamedCertificates(named));
      following.use(await followServingFiles(flags, { setCertificate, setNamedCertificates }, environment.log));
      if (!isGiven) following.use(followPair({ ...environment, name: component, current, source: own, onNew: setCertificate }));
      return following;
    },
  };
}

/** Serving certificates of the API server out of files: `--tls-cert-file`, and by name `--tls-sni-cert-key`. They are read again when they change. */
import { X509Certificate } from "node:crypto";
import type { NamedCertificates, ServedPair, TlsListener } from "../../../apimachinery/listener/tls-listener.ts";
import type { Log } from "../../../base/log.ts";
import { UsageError } from "../../commands/arguments.ts";
import { FollowedFile } from "../../files/followed-file.ts";
import { readText } from "../../files/read-text.ts";
import { last, parseNamedFiles } from "./apiserver-flags/flag-values.ts";
import type { Flags, NamedFiles } from "./apiserver-flags/flag-values.ts";
import { pair } from "./apiserver-keys.ts";

/** Names that a flag gives go before those of certificates, earlier flags before later ones. Throws UsageError. */
export async function namedCertificates(flags: Flags): Promise<NamedCertificates> {
  const given = await Promise.all(
    namedFiles(flags).map(async ({ certificateFile, keyFile, names }) => {
      const served = await pair(certificateFile, keyFile).catch((error: unknown) => {
        throw new UsageError(`failed to load SNI cert and key: ${error instanceof Error ? error.message : String(error)}`);
      });
      return { served, names };
    }),
  );
  const named = new Map<string, ServedPair>();
  const add = (names: readonly string[], served: ServedPair) =>
    names.map((name) => name.toLowerCase()).forEach((name) => named.has(name) || named.set(name, served));
  for (const { served, names } of given) if (names !== undefined) add(names, served);
  for (const { served, names } of given) if (names === undefined) add(namesOf(served.certificate), served);
  return named;
}

/** The names that a certificate is for: those beside its subject, and the subject's own. */
function namesOf(pem: string): string[] {
  const { subject, subjectAltName = "" } = new X509Certificate(pem);
  const [, commonName] = /^CN=(.+)$/m.exec(subject) ?? [];
  const others = [...subjectAltName.matchAll(/(?:^|, )DNS:([^,]+)/g)].map((found) => found[1]!);
  return [...(commonName === undefined ? [] : [commonName]), ...others];
}

function namedFiles(flags: Flags): NamedFiles[] {
  return (flags.get("tls-sni-cert-key") ?? []).map(parseNamedFiles).flatMap((parsed) => ("fault" in parsed ? [] : [parsed]));
}

/** Until disposed of the listener shows what the files hold. A pair that does not fit, as between two writes, changes nothing. */
export async function followServingFiles(
  flags: Flags,
  listener: Pick<TlsListener, "setCertificate" | "setNamedCertificates">,
  log: Log,
): Promise<AsyncDisposable> {
  const followed = new AsyncDisposableStack();
  const follow = async (paths: readonly string[], onContent: () => Promise<void>) => {
    for (const path of paths) followed.use(new FollowedFile({ path, log, content: await readText(path), onContent }));
  };
  const [certificateFile, keyFile] = [last(flags, "tls-cert-file"), last(flags, "tls-private-key-file")];
  if (certificateFile !== undefined && keyFile !== undefined)
    await follow([certificateFile, keyFile], async () => listener.setCertificate(await pair(certificateFile, keyFile)));
  const paths = namedFiles(flags).flatMap((files) => [files.certificateFile, files.keyFile]);
  await follow([...new Set(paths)], async () => listener.setNamedCertificates(await namedCertificates(flags)));
  return followed;
}

/** Keys and certificates of the API server: those that its flags name files for, our own for the rest. */
import { X509Certificate, createPrivateKey, createPublicKey } from "node:crypto";
import { access, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { certificatesOf } from "../../../apiserver/authn/certificate-trust.ts";
import type { AuthoritySource } from "../../certificates/authority-following.ts";
import { UsageError } from "../../commands/arguments.ts";
import type { Certificates } from "../../certificates/certificates.ts";
import type { KeyAndCertificate } from "../../certificates/key-store.ts";
import { readText } from "../../files/read-text.ts";
import type { PairSource } from "../../certificates/renewal.ts";

export interface ApiServerKeys {
  readonly serving: KeyAndCertificate;
  /** Gives the successor of that. */
  readonly servingSource: PairSource;
  /** Gives the PEM of what clients trust: the authorities of our serving certificate, or the certificates that were given. */
  readonly authority: AuthoritySource;
  /** PEM of the authorities of client certificates that others are told, and of each that we accept. */
  readonly clientAuthority: string;
  readonly clientAuthorities: readonly string[];
  /** PEM of the key that signs service account tokens, and of further keys that these are checked with. */
  readonly serviceAccountKey: string;
  readonly serviceAccountVerificationKeys: readonly string[];
}

type Flags = ReadonlyMap<string, readonly string[]>;

/** `addresses` are those that our own serving certificate is for. Throws UsageError when a file cannot be used. */
export async function apiServerKeys(flags: Flags, certificates: Certificates, addresses: readonly string[]): Promise<ApiServerKeys> {
  const last = (name: string) => flags.get(name)?.at(-1);
  const clientFile = last("client-ca-file");
  const signingKey = last("service-account-signing-key-file");
  const own = await certificates.authority();
  const clientAuthority = clientFile === undefined ? own : await certificate(clientFile);
  const given = await givenServing(last);
  const servingSource = given ?? (() => ownServing(certificates, addresses));
  const serving = await servingSource();
  return {
    serving,
    servingSource,
    authority: given === undefined ? () => certificates.authority() : async () => serving.certificate,
    clientAuthority,
    // Our own components and the administrator have certificates of our authority.
    clientAuthorities: [...new Set([...certificatesOf(clientAuthority), ...certificatesOf(own)])],
    serviceAccountKey: signingKey === undefined ? await certificates.serviceAccountKey() : await privateKey(signingKey),
    serviceAccountVerificationKeys: await Promise.all((flags.get("service-account-key-file") ?? []).map(publicKey)),
  };
}

/** The pair of `--tls-cert-file` and `--tls-private-key-file`, or `apiserver.crt` and `apiserver.key` in `--cert-dir` when they are there. */
async function givenServing(last: (name: string) => string | undefined): Promise<PairSource | undefined> {
  const [certificateFile, keyFile, directory] = [last("tls-cert-file"), last("tls-private-key-file"), last("cert-dir")];
  if ((certificateFile === undefined) !== (keyFile === undefined)) throw new UsageError("missing filename for serving cert");
  if (certificateFile !== undefined && keyFile !== undefined) return () => pair(certificateFile, keyFile);
  if (directory === undefined) return undefined;
  const files = [join(directory, "apiserver.crt"), join(directory, "apiserver.key")] as const;
  const areThere = await Promise.all(
    files.map((file) =>
      access(file).then(
        () => true,
        () => false,
      ),
    ),
  );
  return areThere.includes(false) ? undefined : () => pair(...files);
}

/** Throws UsageError in Go's words. */
export async function pair(certificateFile: string, keyFile: string): Promise<KeyAndCertificate> {
  try {
    const [certificate, key] = [await readText(certificateFile), await readText(keyFile)];
    for (const [what, pem] of Object.entries({ certificate, key }))
      if (!pem.includes("-----BEGIN ")) throw new Error(`tls: failed to find any PEM data in ${what} input`);
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) throw new Error("tls: private key does not match public key");
    return { certificate, key };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function ownServing(certificates: Certificates, addresses: readonly string[]): Promise<KeyAndCertificate> {
  const names = [
    "localhost",
    "127.0.0.1",
    "::1",
    hostname(),
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
  ];
  return certificates.serving("apiserver", [...names, ...addresses]);
}

export const certificate = (path: string) => checked(path, "a certificate", createPublicKey);
const privateKey = (path: string) => checked(path, "a private key", createPrivateKey);
const publicKey = (path: string) => checked(path, "a key or a certificate", createPublicKey);

/** The file's text, when `parse` takes it. */
async function checked(path: string, what: string, parse: (pem: string) => unknown): Promise<string> {
  try {
    const pem = await readFile(path, "utf8");
    parse(pem);
    return pem;
  } catch (error) {
    throw new UsageError(`${path} cannot be read as ${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

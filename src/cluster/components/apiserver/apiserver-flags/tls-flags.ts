/** The flags `--tls-min-version` and `--tls-cipher-suites`, in what Node and OpenSSL call it. */
import { goQuote } from "../../../../apimachinery/go/go-quote.ts";
import type { TlsProtocol } from "../../../../apimachinery/listener/tls-listener.ts";
import { last, lists } from "./flag-values.ts";
import type { Flags } from "./flag-values.ts";

const versions = { VersionTLS10: "TLSv1", VersionTLS11: "TLSv1.1", VersionTLS12: "TLSv1.2", VersionTLS13: "TLSv1.3" } as const;

function isTlsVersion(name: string): name is keyof typeof versions {
  return Object.hasOwn(versions, name);
}

/** Of TLS 1.3, which Kubernetes does not let choose among them. */
const suitesOf13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/** Kubernetes' name for each suite, and OpenSSL's; undefined for those that OpenSSL does not speak any more. */
const suites: Readonly<Record<string, string | undefined>> = {
  ...Object.fromEntries(suitesOf13.map((name) => [name, name])),
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: "ECDHE-ECDSA-AES128-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: "ECDHE-ECDSA-AES128-SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ECDHE-ECDSA-AES128-GCM-SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: "ECDHE-ECDSA-AES256-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ECDHE-ECDSA-AES256-GCM-SHA384",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: undefined,
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: undefined,
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: "ECDHE-RSA-AES128-SHA",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: "ECDHE-RSA-AES128-SHA256",
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ECDHE-RSA-AES128-GCM-SHA256",
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: "ECDHE-RSA-AES256-SHA",
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ECDHE-RSA-AES256-GCM-SHA384",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: undefined,
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: undefined,
  TLS_RSA_WITH_AES_128_CBC_SHA: "AES128-SHA",
  TLS_RSA_WITH_AES_128_CBC_SHA256: "AES128-SHA256",
  TLS_RSA_WITH_AES_128_GCM_SHA256: "AES128-GCM-SHA256",
  TLS_RSA_WITH_AES_256_CBC_SHA: "AES256-SHA",
  TLS_RSA_WITH_AES_256_GCM_SHA384: "AES256-GCM-SHA384",
  TLS_RSA_WITH_RC4_128_SHA: undefined,
};

function isCipherSuite(name: string): boolean {
  return Object.hasOwn(suites, name);
}

/** What is wrong with the flags, in upstream's words. */
export function tlsFaults(flags: Flags): { readonly flag: string; readonly text: string }[] {
  const version = last(flags, "tls-min-version") ?? "";
  const suite = (lists(flags, "tls-cipher-suites") ?? []).find((name) => !isCipherSuite(name));
  return [
    ...(version !== "" && !isTlsVersion(version) ? [{ flag: "tls-min-version", text: `unknown tls version ${goQuote(version)}` }] : []),
    ...(suite !== undefined ? [{ flag: "tls-cipher-suites", text: `Cipher suite ${suite} not supported or doesn't exist` }] : []),
  ];
}

/** What the listener is told; nothing where no flag says so. The values were checked. */
export function tlsProtocol(flags: Flags): TlsProtocol {
  const version = last(flags, "tls-min-version") ?? "";
  const chosen = lists(flags, "tls-cipher-suites") ?? [];
  const minVersion = isTlsVersion(version) ? versions[version] : undefined;
  const isOld = minVersion === "TLSv1" || minVersion === "TLSv1.1";
  const ciphers = [
    ...(chosen.length > 0
      ? [...new Set([...suitesOf13, ...chosen.map((name) => suites[name])])].filter((name) => name !== undefined)
      : isOld
        ? ["DEFAULT"]
        : []),
    ...(isOld ? ["@SECLEVEL=0"] : []),
  ];
  return { ...(minVersion !== undefined && { minVersion }), ...(ciphers.length > 0 && { ciphers: ciphers.join(":") }) };
}

/** The flags `--requestheader-…` and `--proxy-client-…`: front proxies that name the user in headers, of which the aggregator is one. */
import { certificatesOf } from "../../../apiserver/authn/certificate-trust.ts";
import type { ApiServerOptions } from "../../../apiserver/server.ts";
import { UsageError } from "../../commands/arguments.ts";
import type { Certificates } from "../../certificates/certificates.ts";
import type { KeyAndCertificate } from "../../certificates/key-store.ts";
import { readText } from "../../files/read-text.ts";
import { last, lists } from "./apiserver-flags/flag-values.ts";
import type { Flags } from "./apiserver-flags/flag-values.ts";
import { pair } from "./apiserver-keys.ts";

export interface FrontProxies {
  readonly proxies: NonNullable<ApiServerOptions["proxies"]>;
  /** What aggregated servers are told, by key of the ConfigMap. */
  readonly proxyConfiguration: Readonly<Record<string, string>>;
}

/** The name in our own certificate, and the headers, when no flag says otherwise. */
const ownName = "front-proxy-client";
const ownHeaders: Readonly<Record<string, readonly string[]>> = {
  "allowed-names": [ownName],
  "username-headers": ["X-Remote-User"],
  "group-headers": ["X-Remote-Group"],
  "extra-headers-prefix": ["X-Remote-Extra-"],
};

/** Without an authority of proxies it is our own, whose one certificate the aggregator shows. Throws UsageError. */
export async function frontProxies(flags: Flags, certificates: Certificates): Promise<FrontProxies> {
  const path = last(flags, "requestheader-client-ca-file") ?? "";
  const isOwn = path === "";
  const bundle = isOwn
    ? await certificates.frontProxy().authority()
    : await readText(path).catch((error: unknown) => Promise.reject(new UsageError(error instanceof Error ? error.message : String(error))));
  const authorities = certificatesOf(bundle);
  if (authorities.length === 0) throw new UsageError(`error loading CA bundle: data does not contain any valid RSA or ECDSA certificates: ${path}`);
  const names = (flag: string) => lists(flags, `requestheader-${flag}`) ?? (isOwn ? ownHeaders[flag] : undefined) ?? [];
  const headers = (flag: string) => names(flag).map((name) => name.toLowerCase());
  return {
    proxies: {
      authorities,
      names: {
        allowedNames: names("allowed-names"),
        username: headers("username-headers"),
        uid: headers("uid-headers"),
        group: headers("group-headers"),
        extraPrefixes: headers("extra-headers-prefix"),
      },
    },
    proxyConfiguration: {
      "requestheader-allowed-names": JSON.stringify(names("allowed-names")),
      "requestheader-client-ca-file": bundle,
      "requestheader-extra-headers-prefix": JSON.stringify(names("extra-headers-prefix")),
      "requestheader-group-headers": JSON.stringify(names("group-headers")),
      ...(names("uid-headers").length > 0 && { "requestheader-uid-headers": JSON.stringify(names("uid-headers")) }),
      "requestheader-username-headers": JSON.stringify(names("username-headers")),
    },
  };
}

/** What the aggregator shows extension API servers. Throws UsageError. */
export async function proxyClient(flags: Flags, certificates: Certificates): Promise<KeyAndCertificate> {
  const [certificateFile = "", keyFile = ""] = [last(flags, "proxy-client-cert-file"), last(flags, "proxy-client-key-file")];
  if ((certificateFile === "") !== (keyFile === "")) throw new UsageError("--proxy-client-cert-file and --proxy-client-key-file are given together");
  return certificateFile === "" ? certificates.frontProxy().client(ownName, ownName, []) : pair(certificateFile, keyFile);
}

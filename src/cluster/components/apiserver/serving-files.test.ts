import { test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { systemClock } from "../../../base/clock.ts";
import { silentLog } from "../../../base/log.ts";
import { listenTls } from "../../../apimachinery/listener/tls-listener.ts";
import type { TlsListener, TlsListenerOptions } from "../../../apimachinery/listener/tls-listener.ts";
import { bytesResponse } from "../../../apimachinery/request.ts";
import { Certificates } from "../../certificates/certificates.ts";
import { keysInMemory } from "../../certificates/key-store.ts";
import type { KeyAndCertificate } from "../../certificates/key-store.ts";
import { tlsProtocol } from "./apiserver-flags/tls-flags.ts";
import { followServingFiles, namedCertificates } from "./serving-files.ts";

const certificateFor = (...names: string[]) => new Certificates(keysInMemory(), systemClock()).serving(names[0]!, names);
const flags = (entries: Record<string, string | string[]>) => new Map(Object.entries(entries).map(([name, value]) => [name, [value].flat()]));
const listen = (options: Partial<TlsListenerOptions> & KeyAndCertificate) =>
  listenTls({ address: "127.0.0.1", port: 0, handler: async () => bytesResponse(200, "text/plain", ""), log: silentLog, maxBodyBytes: 0, ...options });

/** What a client meets: the certificate's common name, protocol and suite; or why there is no connection. */
async function met({ port }: TlsListener, options: tls.ConnectionOptions = {}): Promise<{ name: string; protocol: string | null; suite: string } | string> {
  const socket = tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
  try {
    await once(socket, "secureConnect");
    return { name: socket.getPeerX509Certificate()!.subject.replace("CN=", ""), protocol: socket.getProtocol(), suite: socket.getCipher().name };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    socket.destroy();
  }
}

async function written(folder: string, name: string, { key, certificate }: KeyAndCertificate): Promise<string> {
  // (Replaced at once, as volumes do.)
  for (const [ending, text] of Object.entries({ key, crt: certificate })) {
    await writeFile(join(folder, `${name}.${ending}.new`), text);
    await rename(join(folder, `${name}.${ending}.new`), join(folder, `${name}.${ending}`));
  }
  return `${join(folder, name)}.crt,${join(folder, name)}.key`;
}

test("the flags for versions and suites of TLS decide what a client may speak", async () => {
  const serving = await certificateFor("a");
  await using stack = new AsyncDisposableStack();
  const by = async (entries: Record<string, string>) =>
    stack.adopt(await listen({ ...serving, protocol: tlsProtocol(flags(entries)) }), (opened) => opened.close());
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT:@SECLEVEL=0" } as const;
  const plain = await by({});
  equal(await met(plain, old), "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION");
  const only13 = await by({ "tls-min-version": "VersionTLS13" });
  equal(await met(only13, { maxVersion: "TLSv1.2" }), "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION");
  equal(((await met(only13)) as { protocol: string }).protocol, "TLSv1.3");
  const from10 = await by({ "tls-min-version": "VersionTLS10" });
  equal(((await met(from10, old)) as { protocol: string }).protocol, "TLSv1.1");
  const oneSuite = await by({ "tls-cipher-suites": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384" });
  equal(((await met(oneSuite, { maxVersion: "TLSv1.2" })) as { suite: string }).suite, "ECDHE-ECDSA-AES256-GCM-SHA384");
  equal(await met(oneSuite, { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" }), "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE");
  equal(((await met(oneSuite)) as { protocol: string }).protocol, "TLSv1.3");
});

test("certificates by name: a flag's names before a certificate's, plain names before patterns; files are read again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sni-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true }));
  const own = await written(folder, "own", await certificateFor("own", "one.example.com", "other.example.com"));
  const wild = await written(folder, "wild", await certificateFor("wild"));
  const [certificateFile, keyFile] = (await written(folder, "serving", await certificateFor("first"))).split(",") as [string, string];
  const given = flags({
    "tls-sni-cert-key": [own, `${wild}:*.example.com,One.example.com`],
    "tls-cert-file": certificateFile,
    "tls-private-key-file": keyFile,
  });
  const listener = stack.adopt(await listen({ ...(await certificateFor("first")), named: await namedCertificates(given) }), (opened) => opened.close());
  const nameFor = async (servername: string) => ((await met(listener, { servername })) as { name: string }).name;
  deepEqual(await Promise.all(["one.example.com", "other.example.com", "x.example.com", "x.y.example.com", "elsewhere"].map(nameFor)), [
    "wild",
    "own",
    "wild",
    "first",
    "first",
  ]);

  const changes: Record<"serving" | "named", PromiseWithResolvers<void>> = { serving: Promise.withResolvers(), named: Promise.withResolvers() };
  const watched: TlsListener = {
    ...listener,
    setCertificate(pair) {
      listener.setCertificate(pair);
      changes.serving.resolve();
    },
    setNamedCertificates(named) {
      listener.setNamedCertificates(named);
      if (new X509Certificate([...named.values()][0]!.certificate).subject === "CN=new") changes.named.resolve();
    },
  };
  stack.use(await followServingFiles(given, watched, silentLog));
  await written(folder, "serving", await certificateFor("second"));
  await changes.serving.promise;
  equal(await nameFor("elsewhere"), "second");
  await written(folder, "wild", await certificateFor("new"));
  await changes.named.promise;
  equal(await nameFor("x.example.com"), "new");
});

test("certificates by name that cannot be used are told in upstream's words", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sni-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true }));
  const [certificate, key] = [
    (await written(folder, "a", await certificateFor("a"))).split(",")[0],
    (await written(folder, "b", await certificateFor("b"))).split(",")[1],
  ];
  await rejects(namedCertificates(flags({ "tls-sni-cert-key": "/none,/none" })), {
    message: "failed to load SNI cert and key: open /none: no such file or directory",
  });
  await rejects(namedCertificates(flags({ "tls-sni-cert-key": `${certificate},${key}` })), {
    message: "failed to load SNI cert and key: tls: private key does not match public key",
  });
});

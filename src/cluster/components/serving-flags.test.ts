import { test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { listenTls } from "../../apimachinery/listener/tls-listener.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { readSettings } from "../../kubelet/index.ts";
import { Certificates } from "../certificates/certificates.ts";
import { keysInMemory } from "../certificates/key-store.ts";
import { tlsFlags } from "./node/kubelet-settings.ts";
import { servingByFlags } from "./serving-flags.ts";

const certificateFor = (name: string) => new Certificates(keysInMemory(), systemClock()).serving(name, [name]);
const environment = { clock: systemClock(), log: silentLog };

async function met(port: number, options: tls.ConnectionOptions = {}): Promise<string> {
  const socket = tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
  try {
    await once(socket, "secureConnect");
    return `${socket.getPeerX509Certificate()!.subject.replace("CN=", "")} ${socket.getProtocol()}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    socket.destroy();
  }
}

test("TLS of a component's server: files that are followed, names, versions", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "serving-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const write = async (name: string, of: string) => {
    const { key, certificate } = await certificateFor(of);
    for (const [file, text] of Object.entries({ [`${name}.key`]: key, [`${name}.crt`]: certificate })) {
      await writeFile(join(folder, `${file}.new`), text);
      await rename(join(folder, `${file}.new`), join(folder, file));
    }
  };
  await write("own", "first");
  await write("named", "other");
  const flags = new Map([
    ["tls-cert-file", [join(folder, "own.crt")]],
    ["tls-private-key-file", [join(folder, "own.key")]],
    ["tls-sni-cert-key", [`${join(folder, "named.crt")},${join(folder, "named.key")}`]],
    ["tls-min-version", ["VersionTLS13"]],
  ]);
  const serving = await servingByFlags("scheduler", flags, () => certificateFor("unused"));
  const listener = stack.adopt(
    await listenTls({
      address: "127.0.0.1",
      port: 0,
      ...serving.listening,
      handler: async () => bytesResponse(200, "text/plain", ""),
      log: silentLog,
      maxBodyBytes: 0,
    }),
    (opened) => opened.close(),
  );
  equal(await met(listener.port), "first TLSv1.3");
  equal(await met(listener.port, { servername: "other" }), "other TLSv1.3");
  equal(await met(listener.port, { maxVersion: "TLSv1.2" }), "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION");
  const changed = Promise.withResolvers<void>();
  const watched = {
    ...listener,
    setCertificate(pair: Parameters<typeof listener.setCertificate>[0]) {
      listener.setCertificate(pair);
      changed.resolve();
    },
  };
  stack.use(await serving.follow(() => [watched], environment));
  await write("own", "second");
  await changed.promise;
  equal(await met(listener.port), "second TLSv1.3");
});

test("TLS of a component's server: without flags a certificate of our own; what cannot be is told", async () => {
  const own = await certificateFor("ours");
  const serving = await servingByFlags("controllers", new Map(), async () => own);
  deepEqual(serving.listening, { ...own, protocol: {}, named: new Map() });
  for (const [flags, message] of [
    [[["tls-min-version", ["VersionTLS14"]]], '--kubelet.tls-min-version: unknown tls version "VersionTLS14"'],
    [[["tls-cipher-suites", ["TLS_NONE"]]], "--kubelet.tls-cipher-suites: Cipher suite TLS_NONE not supported or doesn't exist"],
    [[["tls-cert-file", ["/a"]]], "--kubelet.tls-cert-file and --kubelet.tls-private-key-file are given together"],
    [[["tls-sni-cert-key", ["/a"]]], "--kubelet.tls-sni-cert-key: expected comma separated certificate and key file paths"],
  ] as const)
    await rejects(
      servingByFlags("kubelet", new Map(flags as unknown as [string, string[]][]), async () => own),
      { message },
    );
});

test("TLS of the kubelet: from its configuration, flags before it", () => {
  const file = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    tlsCertFile: "/c",
    tlsPrivateKeyFile: "/k",
    tlsMinVersion: "VersionTLS12",
    tlsCipherSuites: ["A"],
  };
  const { settings, ignored } = readSettings(file, new Map([["tls-cipher-suites", ["B,C"]]]));
  deepEqual(ignored, []);
  deepEqual(
    [...tlsFlags(settings)],
    [
      ["tls-cert-file", ["/c"]],
      ["tls-private-key-file", ["/k"]],
      ["tls-min-version", ["VersionTLS12"]],
      ["tls-cipher-suites", ["B", "C"]],
    ],
  );
  deepEqual([...tlsFlags(readSettings(undefined, new Map()).settings)], []);
});

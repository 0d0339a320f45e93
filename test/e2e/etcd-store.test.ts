/** The conformance suite against a real etcd, which is `etcd` on the PATH (Debian: etcd-server). */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";

import { systemClock } from "../../src/base/clock.ts";
import { VirtualClock } from "../../src/base/virtual-clock.ts";
import { Certificates } from "../../src/cluster/certificates/certificates.ts";
import { keysInMemory, type KeyAndCertificate } from "../../src/cluster/certificates/key-store.ts";
import { CompactedError, openStore, type Store } from "../../src/storage/index.ts";
import { storeConformance } from "../../src/storage/store-conformance.ts";
import { etcdctl, EtcdCluster, hasEtcd, hasEtcdctl } from "./etcd.ts";

let etcd: EtcdCluster;

if (hasEtcd) {
  before(async () => {
    etcd = await EtcdCluster.start(1);
  });
  after(() => etcd[Symbol.asyncDispose]());
  storeConformance("etcd store", openEmpty, { hasVirtualTime: false });

  it("deletes a key when its lease ends, as an event", async () => {
    const { store } = await openEmpty();
    await using _closing = store;
    const abort = new AbortController();
    const watch = store.watch("/e/", await store.revision(), abort.signal)[Symbol.asyncIterator]();
    await store.commit({ kind: "put", key: "/e/a", value: Buffer.from("v"), expected: 0, ttlSeconds: 1 });
    const kinds: string[] = [];
    while (kinds.length < 2) kinds.push(...(await watch.next()).value.events.map((event: { kind: string }) => event.kind));
    assert.deepEqual(kinds, ["put", "delete"]);
    abort.abort();
  });

  it("shows etcd a certificate, has the rights of the user it names, and trusts no other authority", async (context) => {
    if (!hasEtcdctl) return context.skip("needs etcdctl on the PATH");
    const folder = await mkdtemp(join(tmpdir(), "coracle-etcd-keys-"));
    try {
      const certificates = new Certificates(keysInMemory(), systemClock());
      const [ca, serving, root, reader, limited, foreign] = await Promise.all([
        certificates.authority(),
        certificates.serving("etcd", ["127.0.0.1"]),
        certificates.client("root", "root", []),
        certificates.client("reader", "reader", []),
        certificates.client("limited", "limited", []),
        new Certificates(keysInMemory(), systemClock()).authority(),
      ]);
      const files = { "ca.crt": ca, "etcd.crt": serving.certificate, "etcd.key": serving.key, "root.crt": root.certificate, "root.key": root.key };
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
      const file = (name: string) => join(folder, name);
      const server = [`--cert-file=${file("etcd.crt")}`, `--key-file=${file("etcd.key")}`, `--trusted-ca-file=${file("ca.crt")}`, "--client-cert-auth"];
      await using secure = await EtcdCluster.start(1, server);
      const { endpoints } = secure;
      const asRoot = [`--endpoints=${endpoints.join(",")}`, `--cacert=${file("ca.crt")}`, `--cert=${file("root.crt")}`, `--key=${file("root.key")}`];
      const all = ["role", "grant-permission", "reads", "read", "", "--prefix=true"];
      const ours = ["role", "grant-permission", "ours", "readwrite", "/registry/", "--prefix=true"];
      for (const user of ["root", "reader", "limited"]) etcdctl("user", "add", user, "--no-password", ...asRoot);
      for (const words of ["user grant-role root root", "role add reads", "role add ours", "user grant-role limited ours"])
        etcdctl(...words.split(" "), ...asRoot);
      for (const words of [all, ours, ["user", "grant-role", "reader", "reads"], ["auth", "enable"]]) etcdctl(...words, ...asRoot);
      const open = (pair: KeyAndCertificate, authority = ca, under?: string) => {
        const tls = { ca: Buffer.from(authority), cert: Buffer.from(pair.certificate), key: Buffer.from(pair.key) };
        return openStore({ backend: "etcd", endpoints, clock: new VirtualClock(), tls, ...(under !== undefined && { root: under }) });
      };
      const put = { kind: "put", key: "/e/a", value: Buffer.from("v"), expected: 0 } as const;
      await using store = await open(root);
      assert.equal((await store.commit(put)).isCommitted, true);
      await using readOnly = await open(reader);
      assert.equal((await readOnly.get("/e/a"))?.value.toString(), "v");
      await assert.rejects(readOnly.commit({ ...put, key: "/e/b" }), { reason: "Unavailable", message: "etcdserver: permission denied" });
      // All that is done with a store whose keys have a root stays below it.
      await using own = await open(limited, ca, "/registry/");
      const first = await own.commit({ ...put, key: "/registry/a" });
      await own.commit({ ...put, key: "/registry/b", ttlSeconds: 60 });
      const ended = new AbortController();
      for await (const { events } of own.watch("/registry/", first.revision - 1, ended.signal)) {
        assert.equal(events[0]!.key, "/registry/a");
        break;
      }
      await own.compact(await own.revision());
      assert.ok((await own.sizeBytes()) > 0);
      await assert.rejects(own.range("/registry/", { revision: first.revision }), CompactedError);
      await assert.rejects(open(limited), { reason: "Unavailable", message: /permission denied/ });
      await assert.rejects(open(root, foreign), { reason: "Unavailable", message: /does not answer: .*; check that it runs and its certificates$/ });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("says what to do when nobody answers", async () => {
    await assert.rejects(openStore({ backend: "etcd", endpoints: ["http://127.0.0.1:1"], clock: new VirtualClock() }), {
      reason: "Unavailable",
      message: /^etcd at http:\/\/127\.0\.0\.1:1 does not answer: .*; check that it runs and its certificates$/,
    });
  });
} else {
  it.skip("needs etcd on the PATH", () => {});
}

/** A store without keys: those of the test before are deleted. */
async function openEmpty(): Promise<{ store: Store; clock: VirtualClock }> {
  const clock = new VirtualClock();
  const store = await openStore({ backend: "etcd", endpoints: etcd.endpoints, clock });
  for (const { key, modRevision } of (await store.range("")).items) await store.commit({ kind: "delete", key, expected: modRevision });
  return { store, clock };
}

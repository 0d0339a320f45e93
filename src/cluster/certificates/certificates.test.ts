import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { Certificates } from "./certificates.ts";
import { keysInMemory, readPair, writePair } from "./key-store.ts";

test("what is handed out to a node is signed by the authority, whose key stays", async () => {
  const [own, handedOut] = [new Certificates(keysInMemory(), systemClock()), keysInMemory()];
  await own.handOut(handedOut, { name: "n1", hosts: ["n1", "10.0.0.1"] });
  const node = new Certificates(handedOut, systemClock());
  const authority = new X509Certificate(await own.authority());
  assert.equal(await node.authority(), await own.authority());
  const client = new X509Certificate((await node.client("client-system_node_n1", "x", [])).certificate);
  assert.equal(client.subject, "O=system:nodes\nCN=system:node:n1");
  const serving = new X509Certificate((await node.serving("kubelet", ["n1", "10.0.0.1"])).certificate);
  assert.equal(serving.subjectAltName, "DNS:n1, IP Address:10.0.0.1");
  for (const certificate of [client, serving]) assert.ok(certificate.verify(authority.publicKey));
  assert.deepEqual([client.keyUsage, serving.keyUsage], [["1.3.6.1.5.5.7.3.2"], ["1.3.6.1.5.5.7.3.1"]], "client or server, never both");
  await assert.rejects(node.signer(), /ca\.key is missing in memory: only where the cluster was made can certificates be signed/);
  await assert.rejects(node.serving("other", ["n2"]), /ca\.key is missing/);
});

test("an authority's key without its certificate is no reason to make another authority", async () => {
  const [own, store] = [keysInMemory(), keysInMemory()];
  await new Certificates(own, systemClock()).authority();
  await store.write("ca.key", (await own.read("ca.key"))!);
  await assert.rejects(new Certificates(store, systemClock()).authority(), /ca\.crt is missing/);
});

const dayMs = 86_400_000;

test("a certificate is renewed when 80 % of its life are over, and handed out as it is until then", async () => {
  const [clock, store] = [new VirtualClock(), keysInMemory()];
  const certificates = new Certificates(store, clock);
  const ask = async () => [await certificates.serving("s", ["a"]), await certificates.client("c", "c", [])];
  const first = await ask();
  await clock.advance(291 * dayMs);
  assert.deepEqual(await ask(), first);
  await clock.advance(2 * dayMs);
  const [[serving, client], [again]] = [await ask(), await ask()];
  assert.deepEqual(again, serving);
  for (const [index, pair] of [serving!, client!].entries()) {
    const { validToDate, subject, subjectAltName } = new X509Certificate(pair.certificate);
    const before = new X509Certificate(first[index]!.certificate);
    assert.notEqual(pair.key, first[index]!.key);
    assert.equal(validToDate.getTime(), clock.nowMs() + 365 * dayMs);
    assert.deepEqual([subject, subjectAltName], [before.subject, before.subjectAltName]);
  }
});

test("where nothing can be signed a certificate is handed out until its successor is in the store", async () => {
  const [clock, handedOut] = [new VirtualClock(), keysInMemory()];
  const own = new Certificates(keysInMemory(), clock);
  const handOut = () => own.handOut(handedOut, { name: "n1", hosts: ["n1"] });
  await handOut();
  const node = new Certificates(handedOut, clock);
  const first = await node.serving("kubelet", ["n1"]);
  await clock.advance(100 * dayMs);
  await handOut();
  await clock.advance(200 * dayMs);
  assert.deepEqual(await node.serving("kubelet", ["n1"]), first);
  await handOut();
  assert.notDeepEqual(await node.serving("kubelet", ["n1"]), first);
});

test("no certificate outlives its authority, and is not made anew for nothing", async () => {
  const clock = new VirtualClock();
  const certificates = new Certificates(keysInMemory(), clock);
  const authority = new X509Certificate(await certificates.authority());
  await clock.advance(3640 * dayMs);
  const last = await certificates.client("c", "c", []);
  assert.deepEqual(new X509Certificate(last.certificate).validToDate, authority.validToDate);
  await clock.advance(9 * dayMs);
  assert.deepEqual(await certificates.client("c", "c", []), last);
});

test("a process that ends while it replaces a pair leaves the old one or the new one", async () => {
  const pair = async () => new Certificates(keysInMemory(), systemClock()).client("c", "c", []);
  const [old, next] = [await pair(), await pair()];
  for (let writes = 0; writes < 3; writes++) {
    const store = keysInMemory();
    await writePair(store, "c", old);
    let left = writes;
    const dying = {
      ...store,
      write: async (name: string, text: string) => {
        if (left-- === 0) throw new Error("ended");
        await store.write(name, text);
      },
    };
    await assert.rejects(writePair(dying, "c", next), /ended/);
    assert.deepEqual(await readPair(store, "c"), writes < 2 ? old : next);
  }
});

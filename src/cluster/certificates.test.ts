import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { Certificates } from "./certificates.ts";
import { keysInMemory } from "./key-store.ts";

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
  await assert.rejects(node.authorityKey(), /ca\.key is missing in memory: only where the cluster was made can certificates be signed/);
  await assert.rejects(node.serving("other", ["n2"]), /ca\.key is missing/);
});

test("an authority's key without its certificate is no reason to make another authority", async () => {
  const [own, store] = [keysInMemory(), keysInMemory()];
  await new Certificates(own, systemClock()).authority();
  await store.write("ca.key", (await own.read("ca.key"))!);
  await assert.rejects(new Certificates(store, systemClock()).authority(), /ca\.crt is missing/);
});

import { test } from "node:test";
import { deepEqual, equal, match, notEqual, ok, rejects } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificatesOf } from "../../apiserver/authn/certificate-trust.ts";
import type { Clock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { parseKubeconfig, resources } from "../../client/index.ts";
import { runControllers } from "../../controllers/index.ts";
import { TestCluster } from "../../testing/index.ts";
import { keepAdminKubeconfig } from "../files/admin-kubeconfig.ts";
import { withAuthority } from "./authority-following.ts";
import { authorityStep } from "./authority-step.ts";
import { Certificates } from "./certificates.ts";
import { keysInMemory } from "./key-store.ts";
import type { KeyStore } from "./key-store.ts";

const dayMs = 86_400_000;
const yearMs = 365 * dayMs;

test("authorities: what is due when", () => {
  const life = (startDay: number, endDay: number) => ({
    startMs: startDay * dayMs,
    endMs: endDay * dayMs,
    dueMs: (startDay + 0.8 * (endDay - startDay)) * dayMs,
  });
  const [old, next] = [life(0, 100), life(80, 180)];
  const table: [bundle: [typeof old, ...(typeof old)[]], day: number, step: string][] = [
    [[old], 79.9, "keep"],
    [[old], 80, "introduce"],
    [[old, next], 81, "keep"],
    [[life(0, 1000), life(800, 1800)], 829, "keep"],
    [[life(0, 1000), life(800, 1800)], 830, "promote"],
    // Who slept through the introduction has no time for it.
    [[old, next], 100, "promote"],
    [[next, old], 99, "keep"],
    [[next, old], 100, "drop"],
    [[next, old], 160, "introduce"],
  ];
  for (const [bundle, day, step] of table) equal(authorityStep(bundle, day * dayMs), step, `day ${day}`);
});

const verifies = (certificate: string, bundle: string) =>
  certificatesOf(bundle).some((pem) => new X509Certificate(certificate).verify(new X509Certificate(pem).publicKey));

test("authorities: over thirty years every certificate is trusted by who looked at the bundle within a month", async () => {
  const [clock, store] = [new VirtualClock(), keysInMemory()];
  const certificates = new Certificates(store, clock);
  const seen: { readonly atMs: number; readonly bundle: string }[] = [];
  const handedOut: string[] = [];
  const signers = new Set<string>();
  const end = clock.nowMs() + 30 * yearMs;
  while (clock.nowMs() < end) {
    const bundle = await certificates.authority();
    const { certificate } = await certificates.client("c", "c", []);
    seen.push({ atMs: clock.nowMs(), bundle });
    handedOut.push(certificate);
    signers.add(new X509Certificate(certificate).issuer);
    for (const pem of certificatesOf(bundle)) ok(Date.parse(new X509Certificate(pem).validTo) > clock.nowMs(), "no authority that has ended is trusted");
    ok(new X509Certificate(certificate).validToDate.getTime() > clock.nowMs());
    // Who holds a bundle of a month ago, and who is shown a certificate of a month ago.
    const lately = seen.filter(({ atMs }) => clock.nowMs() - atMs <= 29 * dayMs);
    for (const earlier of lately) ok(verifies(certificate, earlier.bundle), "a certificate is trusted by who has not looked since");
    for (const earlier of new Set(handedOut.slice(-13))) if (new X509Certificate(earlier).validToDate.getTime() > clock.nowMs()) ok(verifies(earlier, bundle));
    await clock.advance(25 * dayMs);
  }
  equal(signers.size, 4);
  deepEqual(await store.read("ca.next.key"), undefined);
  // A start finds what is there.
  equal(await new Certificates(store, clock).authority(), await certificates.authority());
});

test("authorities: a process that ends at any write leaves an authority that can sign", async () => {
  const clock = new VirtualClock();
  const begun = keysInMemory();
  await new Certificates(begun, clock).authority();
  let [before, writes] = [begun, 0];
  for (const days of [2920, 2951]) {
    const now: Clock = { ...clock, nowMs: () => clock.nowMs() + days * dayMs, monotonicMs: () => 0, after: () => () => {} };
    for (writes = 0; ; writes++) {
      const store = await copied(before);
      let left = writes;
      const dying: KeyStore = {
        ...store,
        write: (name, text) => (left-- === 0 ? Promise.reject(new Error("ended")) : store.write(name, text)),
        remove: (name) => (left-- === 0 ? Promise.reject(new Error("ended")) : store.remove(name)),
      };
      const outcome = await new Certificates(dying, now).authority().catch((error: Error) => error);
      const again = new Certificates(store, now);
      const { certificate } = await again.client("c", "c", []);
      ok(verifies(certificate, (await store.read("ca.crt"))!));
      ok(verifies(certificate, certificatesOf((await begun.read("ca.crt"))!)[0]!) || days > 2950, "the first signs until its successor is known");
      if (typeof outcome === "string") {
        before = store;
        break;
      }
      equal(outcome.message, "ended");
    }
  }
  equal(writes, 4);
});

async function copied(store: KeyStore): Promise<KeyStore> {
  const copy = keysInMemory();
  for (const name of ["ca.crt", "ca.key", "ca.next.key"]) {
    const text = await store.read(name);
    if (text !== undefined) await copy.write(name, text);
  }
  return copy;
}

test("authorities: where the key is not the bundle is read again, and nothing is made", async () => {
  const clock = new VirtualClock();
  const own = new Certificates(keysInMemory(), clock);
  const node = keysInMemory();
  const handOut = () => own.handOut(node, { name: "n1", hosts: ["n1"] });
  await handOut();
  const there = new Certificates(node, clock);
  const first = await there.authority();
  await clock.advance(8.01 * yearMs);
  equal(await there.authority(), first);
  await handOut();
  equal(certificatesOf(await there.authority()).length, 2);
  equal(await there.authority(), await own.authority());
  await rejects(there.signer(), /ca\.key is missing/);
});

test("authorities: kube-root-ca.crt, the kubeconfig, and a server reached with either of both", async () => {
  const [clock, folder] = [new VirtualClock(), await mkdtemp(join(tmpdir(), "authority-"))];
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true }));
  const certificates = new Certificates(keysInMemory(), clock);
  const first = await certificates.authority();
  await clock.advance(7.99 * yearMs);
  const cluster = stack.use(
    await TestCluster.start({
      components: {
        controllers: ({ signal, ...context }) =>
          withAuthority({ certificates, clock, log: silentLog, name: "controllers" }, signal, (caBundle, current) =>
            runControllers({ ...context, signal: current, caBundle, flags: new Map(), selection: ["root-ca-certificate-publisher-controller"] }),
          ),
      },
    }),
  );
  const published = async () => (await cluster.client.get(resources.configMaps, "default", "kube-root-ca.crt")).data!["ca.crt"];
  await cluster.settled();
  const kubeconfig = stack.use(
    await keepAdminKubeconfig(
      { clock, log: silentLog },
      { dataDir: folder, server: "https://127.0.0.1:1", authority: () => certificates.authority(), certificates },
    ),
  );
  const told = async () => {
    const { clusters } = parseKubeconfig(await readFile(kubeconfig.path, "utf8"));
    return Buffer.from(clusters[0]!.cluster["certificate-authority-data"]!, "base64").toString();
  };
  deepEqual([await published(), await told()], [first, first]);
  await clock.advance(0.02 * yearMs);
  const both = await certificates.authority();
  await cluster.until(async () => (await published()) === both && (await told()) === both);
  equal(certificatesOf(both).length, 2);
  equal(certificatesOf(both)[0]!.trimEnd(), first);
  await clock.advance(31 * dayMs);
  const turned = await certificates.authority();
  await cluster.until(async () => (await published()) === turned && (await told()) === turned);
  notEqual(turned, both);
  deepEqual(
    certificatesOf(turned).map((pem) => pem.trimEnd()),
    certificatesOf(both)
      .map((pem) => pem.trimEnd())
      .toReversed(),
  );
  match(new X509Certificate((await certificates.signer()).certificate).subject, /^CN=coracle-ca@\d+$/);
});

test("authorities: what the API server takes over it tells extension API servers", async () => {
  await using cluster = await TestCluster.start();
  const told = async () => (await cluster.client.get(resources.configMaps, "kube-system", "extension-apiserver-authentication")).data!;
  const [one, other] = await Promise.all([0, 1].map(() => new Certificates(keysInMemory(), cluster.clock).authority()));
  cluster.serverState.reloads.clientAuthorities(`${one}${other}`);
  cluster.serverState.reloads.proxyAuthorities(other!);
  await cluster.until(async () => (await told())["requestheader-client-ca-file"] === other);
  equal((await told())["client-ca-file"], `${one}${other}`);
});

import "reflect-metadata";
import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { createPrivateKey, webcrypto, X509Certificate } from "node:crypto";
import { test } from "node:test";
import * as x509 from "@peculiar/x509";
import { formatTime } from "../../../apimachinery/time.ts";
import type { ClusterTrustBundle, PodCertificateRequest } from "../../../api/certificates-v1/types.ts";
import type { ClusterTrustBundleProjection, Pod } from "../../../api/core-v1/types.ts";
import { InformerSet, resources } from "../../../client/index.ts";
import { silentLog } from "../../../base/log.ts";
import { seededRandom } from "../../../base/random.ts";
import { TestCluster } from "../../../testing/index.ts";
import { OwnNode } from "../../node/own-node.ts";
import { newCertificateKey } from "./certificate-key.ts";
import { PodCertificates } from "./pod-certificates.ts";
import { trustAnchors } from "./trust-anchors.ts";

const pem = (text: string) => `-----BEGIN CERTIFICATE-----\n${Buffer.from(text).toString("base64")}\n-----END CERTIFICATE-----\n`;
const bundleOf = (name: string, signerName: string, labels: Record<string, string>, ...texts: string[]): ClusterTrustBundle => ({
  metadata: { name, labels },
  spec: { signerName, trustBundle: texts.map(pem).join("comment\n") },
});
const bundles = [bundleOf("x", "", {}, "c", "a"), bundleOf("s1", "s", { live: "1" }, "a", "b"), bundleOf("s2", "s", {}, "b", "d")];
const anchors: [title: string, source: Omit<ClusterTrustBundleProjection, "path">, expected: string[] | string][] = [
  ["by name", { name: "x" }, ["a", "c"]],
  ["of a signer, by labels", { signerName: "s", labelSelector: { matchLabels: { live: "1" } } }, ["a", "b"]],
  ["of a signer, all, each once", { signerName: "s", labelSelector: {} }, ["a", "b", "d"]],
  ["an absent selector matches none", { signerName: "s", optional: true }, []],
  ["none", { signerName: "t", labelSelector: {} }, "combination of signerName and labelSelector matched zero ClusterTrustBundles"],
  ["no such name", { name: "y" }, 'error retrieving trust anchors: clustertrustbundle.certificates.k8s.io "y" not found'],
  ["no such name, optional", { name: "y", optional: true }, []],
];
for (const [title, source, expected] of anchors) {
  test(`trust anchors: ${title}`, () => {
    const take = () => trustAnchors({ path: "p", ...source }, bundles);
    if (typeof expected === "string") throws(take, { message: expected });
    else equal(take(), expected.map(pem).join(""));
  });
}

test("every key type gives a request that proves the key", async () => {
  for (const [keyType, type] of [
    ["RSA3072", "rsa"],
    ["ECDSAP256", "ec"],
    ["ECDSAP384", "ec"],
    ["ECDSAP521", "ec"],
    ["ED25519", "ed25519"],
  ] as const) {
    const { keyPem, request } = await newCertificateKey(keyType);
    equal(createPrivateKey(keyPem).asymmetricKeyType, type);
    equal(await new x509.Pkcs10CertificateRequest(Buffer.from(request)).verify(webcrypto as never), true, keyType);
  }
  await rejects(newCertificateKey("DSA"), { message: 'unknown key type "DSA"' });
});

test("a pod's certificate: asked for once, renewed when the signer says so, refused for good", async () => {
  await using cluster = await TestCluster.start();
  const { client, clock } = cluster;
  await using informers = new InformerSet({ client, clock, random: seededRandom(1), log: silentLog });
  await client.create(resources.serviceAccounts, { metadata: { name: "default", namespace: "default" } });
  const node = await client.create(resources.nodes, { metadata: { name: "n1" } });
  const pod: Pod = await client.create(resources.pods, {
    metadata: { name: "p", namespace: "default" },
    spec: { nodeName: "n1", automountServiceAccountToken: false, serviceAccountName: "default", containers: [{ name: "c", image: "i" }] },
  });
  const certificates = new PodCertificates({
    client,
    clock,
    informers,
    nodeName: "n1",
    ownNode: new OwnNode({ informers, nodeName: "n1", reported: () => node }),
  });
  const { signal } = new AbortController();
  const source = { signerName: "example.com/signer", keyType: "ECDSAP256", userAnnotations: { "example.com/a": "b" } };
  const openRequests = async () =>
    (await client.list(resources.podCertificateRequests, "default")).items.filter(({ status }) => (status?.conditions ?? []).length === 0);
  const nextRequest = async () => {
    for (;;) {
      const [open] = await openRequests();
      if (open !== undefined) return open;
      await cluster.turn();
    }
  };
  const first = certificates.get(pod, "v 0", source, signal);
  const request = await nextRequest();
  deepEqual([request.spec?.podName, request.spec?.nodeUID, request.spec?.unverifiedUserAnnotations], ["p", node.metadata.uid, { "example.com/a": "b" }]);
  await issue(request);
  const issued = await first;
  equal(new X509Certificate(issued.chain).checkPrivateKey(createPrivateKey(issued.key)), true);
  equal(await certificates.get(pod, "v 0", source, signal), issued);
  equal(issued.refreshAtMs, clock.nowMs() + 1_800_000);
  await cluster.advance(1_900_000);
  const second = certificates.get(pod, "v 0", source, signal);
  await issue(await nextRequest());
  equal((await second).key === issued.key, false);
  const refused = certificates.get(pod, "v 1", source, signal);
  const denied = await nextRequest();
  await answer(denied, { conditions: [{ type: "Denied", status: "True", reason: "No", message: "never", lastTransitionTime: formatTime(clock.nowMs()) }] });
  await rejects(refused, ({ message }: Error) => {
    match(message, /^PodCertificateRequest "default\/req-p-\w+" was permanently denied; reason="No" message="never"$/);
    return true;
  });

  async function answer({ metadata }: PodCertificateRequest, status: PodCertificateRequest["status"]): Promise<void> {
    await client.patch(resources.podCertificateRequests, "default", metadata.name ?? "", { type: "merge", subresource: "status", body: { status } });
  }

  async function issue(asked: PodCertificateRequest): Promise<void> {
    const wanted = new x509.Pkcs10CertificateRequest(Buffer.from(asked.spec?.stubPKCS10Request ?? "", "base64"));
    const keys = await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
    const [notBefore, beginRefreshAt, notAfter] = [0, 1_800_000, 3_600_000].map((afterMs) => clock.nowMs() + afterMs) as [number, number, number];
    const certificate = await x509.X509CertificateGenerator.create(
      {
        subject: "CN=pod",
        issuer: "CN=signer",
        serialNumber: "01",
        notBefore: new Date(notBefore),
        notAfter: new Date(notAfter),
        publicKey: await wanted.publicKey.export(webcrypto as never),
        signingKey: keys.privateKey as never,
        signingAlgorithm: { name: "ECDSA", hash: "SHA-256" } as never,
      },
      webcrypto as never,
    );
    await answer(asked, {
      conditions: [{ type: "Issued", status: "True", reason: "Signed", message: "", lastTransitionTime: formatTime(clock.nowMs()) }],
      certificateChain: `${certificate.toString("pem")}\n`,
      notBefore: formatTime(notBefore),
      beginRefreshAt: formatTime(beginRefreshAt),
      notAfter: formatTime(notAfter),
    });
  }
});

import { test } from "node:test";
import { equal } from "node:assert/strict";
import { lifetimeMs, planCleaning } from "./plan.ts";
import { refusal, signers } from "./request.ts";
import type { CertificateSigningRequest } from "../../api/certificates-v1/types.ts";
import type { CertificateRequest } from "../../apimachinery/certificate-request.ts";

const node = {
  commonName: "system:node:n",
  organizations: ["system:nodes"],
  dnsNames: [],
  addresses: [],
  emails: [],
  uris: [],
} as unknown as CertificateRequest;
const cases: [name: string, signer: string, request: CertificateRequest, usages: string[], expect: string | undefined][] = [
  ["client", signers.client, node, ["client auth"], undefined],
  ["client, for serving", signers.client, node, ["server auth"], "invalid usage for client certificate: server auth"],
  ["client, for nothing", signers.client, node, ["digital signature"], "missing required usage for client certificate: client auth"],
  ["kubelet client", signers.kubeletClient, node, ["client auth", "digital signature"], undefined],
  ["kubelet client of nobody", signers.kubeletClient, { ...node, organizations: [] }, ["client auth"], "subject organization is not system:nodes"],
  ["kubelet client with names", signers.kubeletClient, { ...node, dnsNames: ["n"] }, ["client auth"], "DNS subjectAltNames are not allowed"],
  ["kubelet serving without names", signers.kubeletServing, node, ["server auth", "digital signature"], "DNS or IP subjectAltName is required"],
  ["kubelet serving", signers.kubeletServing, { ...node, addresses: ["10.0.0.1"] }, ["server auth", "digital signature", "key encipherment"], undefined],
  ["unknown", signers.legacy, node, ["any"], undefined],
];
for (const [name, signer, request, usages, expect] of cases) test(`signer's rules: ${name}`, () => equal(refusal(signer, request, usages), expect));

const csr = (more: Partial<CertificateSigningRequest> = {}): CertificateSigningRequest => ({
  metadata: { name: "r", creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: { request: "", signerName: signers.client },
  ...more,
});
const nowMs = Date.UTC(2026, 0, 1, 2);
const condition = (type: string) => ({ type, status: "True", lastUpdateTime: "2026-01-01T00:30:00Z" });

test("lifetime: at least ten minutes, at most what the cluster allows", () => {
  equal(lifetimeMs(csr(), 1e9), 1e9);
  equal(lifetimeMs(csr({ spec: { request: "", signerName: "", expirationSeconds: 1 } }), 1e9), 600_000);
});

test("cleaning: answered requests after an hour, waiting ones after a day", () => {
  equal(planCleaning(csr(), nowMs).requeueAfterMs, 22 * 3_600_000);
  equal(planCleaning(csr({ status: { conditions: [condition("Denied")] } }), nowMs).actions.length, 1);
  equal(planCleaning(csr({ status: { conditions: [condition("Approved")] } }), nowMs).actions.length, 0);
});

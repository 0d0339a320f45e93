import { equal } from "node:assert/strict";
import { test } from "node:test";
import { makeCertificateRequest } from "../apimachinery/certificate-request.ts";
import { planApproval } from "./approver.ts";
import type { CertificateSigningRequest } from "../api/certificates-v1/types.ts";

const serving = "kubernetes.io/kubelet-serving";
const client = "kubernetes.io/kube-apiserver-client";
const node = "system:node:n1";
const nodes = [{ metadata: { name: "n2" }, status: { addresses: [{ type: "InternalIP", address: "10.0.0.2" }] } }];

interface Case {
  readonly says: string;
  readonly signerName: string;
  readonly subject: { readonly commonName: string; readonly organizations: readonly string[]; readonly hosts: readonly string[] };
  readonly username?: string;
  readonly groups?: string[];
  readonly isApproved: boolean;
}
const own = { commonName: node, organizations: ["system:nodes"], hosts: ["n1", "10.0.0.1"] };
const proxy = { commonName: "system:kube-proxy", organizations: [], hosts: [] };
const cases: Case[] = [
  { says: "a node's own name and address", signerName: serving, subject: own, isApproved: true },
  { says: "the proxy", signerName: client, subject: proxy, isApproved: true },
  { says: "another's name", signerName: serving, subject: { ...own, hosts: ["n2"] }, isApproved: false },
  { says: "another's address", signerName: serving, subject: { ...own, hosts: ["10.0.0.2"] }, isApproved: false },
  { says: "loopback", signerName: serving, subject: { ...own, hosts: ["127.0.0.1"] }, isApproved: false },
  { says: "a node in another's name", signerName: serving, subject: { ...own, commonName: "system:node:n2" }, isApproved: false },
  { says: "somebody who is no node", signerName: serving, subject: own, username: "system:node:n1", groups: ["system:authenticated"], isApproved: false },
  { says: "a user", signerName: client, subject: proxy, username: "jane", isApproved: false },
  { says: "another client", signerName: client, subject: { ...proxy, commonName: "system:kube-controller-manager" }, isApproved: false },
  { says: "the proxy with a group", signerName: client, subject: { ...proxy, organizations: ["system:masters"] }, isApproved: false },
  { says: "another signer", signerName: "example.com/x", subject: own, isApproved: false },
];
for (const { says, signerName, subject, username = node, groups = ["system:nodes", "system:authenticated"], isApproved } of cases)
  test(`${isApproved ? "approved" : "left alone"}: ${says}`, async () => {
    const { request } = await makeCertificateRequest(subject);
    const csr: CertificateSigningRequest = { metadata: { name: "c" }, spec: { signerName, request, username, groups, usages: [] } };
    equal(planApproval({ csr, nodes }).actions.length, isApproved ? 1 : 0);
  });

test("left alone: what cannot be read, and what is answered", () => {
  const spec = { signerName: serving, request: "AAAA", username: node, groups: ["system:nodes"], usages: [] };
  equal(planApproval({ csr: { metadata: { name: "c" }, spec }, nodes }).actions.length, 0);
});

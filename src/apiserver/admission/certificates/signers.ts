/** CertificateApproval, CertificateSigning, ClusterTrustBundleAttest, CertificateSubjectRestriction: what a signer's name allows (documentation page "Certificates and Certificate Signing Requests"). */
import type { CertificateSigningRequest, ClusterTrustBundle } from "../../../api/certificates-v1/types.ts";
import { deepEqual } from "../../../apimachinery/json.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";
import { requestSubject } from "./request-subject.ts";

const requests = new Set(["certificates.k8s.io/certificatesigningrequests"]);

export const certificateApproval: AdmissionPlugin = {
  name: "CertificateApproval",
  operations: new Set(["UPDATE"]),
  resources: requests,
  async validate(request) {
    if (request.subresource !== "approval") return;
    const signer = (request.oldObject as unknown as CertificateSigningRequest).spec.signerName;
    if (!(await maySign(request, "approve", signer))) throw refuse(request, `user not permitted to approve requests with signerName ${JSON.stringify(signer)}`);
  },
};

export const certificateSigning: AdmissionPlugin = {
  name: "CertificateSigning",
  operations: new Set(["UPDATE"]),
  resources: requests,
  async validate(request) {
    if (request.subresource !== "status") return;
    const old = request.oldObject as unknown as CertificateSigningRequest;
    const next = request.object as unknown as CertificateSigningRequest;
    if (old.status?.certificate === next.status?.certificate && deepEqual(old.status?.conditions ?? [], next.status?.conditions ?? [])) return;
    const signer = old.spec.signerName;
    if (!(await maySign(request, "sign", signer))) throw refuse(request, `user not permitted to sign requests with signerName ${JSON.stringify(signer)}`);
  },
};

export const clusterTrustBundleAttest: AdmissionPlugin = {
  name: "ClusterTrustBundleAttest",
  operations: new Set(["CREATE", "UPDATE"]),
  resources: new Set(["certificates.k8s.io/clustertrustbundles"]),
  async validate(request) {
    const signer = (request.object as unknown as ClusterTrustBundle).spec.signerName ?? "";
    if (signer === "") return;
    if (!(await maySign(request, "attest", signer))) throw refuse(request, `user not permitted to attest for signerName ${JSON.stringify(signer)}`);
  },
};

const clientSigner = "kubernetes.io/kube-apiserver-client";

export const certificateSubjectRestriction: AdmissionPlugin = {
  name: "CertificateSubjectRestriction",
  operations: new Set(["CREATE"]),
  resources: requests,
  validate(request) {
    const { spec } = request.object as unknown as CertificateSigningRequest;
    if (request.subresource !== "" || spec.signerName !== clientSigner) return;
    const subject = requestSubject(spec.request);
    if (subject?.organizations.includes("system:masters") === true)
      throw refuse(request, `use of ${clientSigner} signer with system:masters group is not allowed`);
  },
};

/** Whether the user holds `verb` on the signer, or on all signers of its domain (`example.com/*`). */
async function maySign({ context }: AdmissionRequest, verb: string, signer: string): Promise<boolean> {
  for (const name of [signer, `${signer.split("/")[0]}/*`]) {
    const attributes = {
      kind: "resource",
      user: context.user,
      verb,
      group: "certificates.k8s.io",
      version: "*",
      resource: "signers",
      subresource: "",
      namespace: "",
      name,
    } as const;
    if ((await context.server.authorizer.authorize(attributes)).verdict === "allow") return true;
  }
  return false;
}

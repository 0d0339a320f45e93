import { parseCertificateRequest } from "../../apimachinery/certificate-request.ts";
import type { CertificateRequest } from "../../apimachinery/certificate-request.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from "../../api/certificates-v1/types.ts";

/** The PKCS#10 request inside a CertificateSigningRequest. Throws when it cannot be read. */
export function parseRequest({ spec }: DeepReadonly<CertificateSigningRequest>): CertificateRequest {
  return parseCertificateRequest(spec.request);
}

export const signers = {
  client: "kubernetes.io/kube-apiserver-client",
  kubeletClient: "kubernetes.io/kube-apiserver-client-kubelet",
  kubeletServing: "kubernetes.io/kubelet-serving",
  legacy: "kubernetes.io/legacy-unknown",
} as const;

/** Why a signer refuses a request (documentation page "Certificates and Certificate Signing Requests", Kubernetes signers); undefined when it does not. */
export function refusal(signerName: string, request: CertificateRequest, usages: readonly string[]): string | undefined {
  switch (signerName) {
    case signers.client:
      return clientRefusal(usages);
    case signers.kubeletClient:
      return kubeletClientRefusal(request, usages);
    case signers.kubeletServing:
      return kubeletServingRefusal(request, usages);
    default:
      return undefined;
  }
}

export function conditionOf(csr: DeepReadonly<CertificateSigningRequest>, type: string): DeepReadonly<CertificateSigningRequestCondition> | undefined {
  return csr.status?.conditions?.find((condition) => condition.type === type);
}

function clientRefusal(usages: readonly string[]): string | undefined {
  const stranger = usages.find((usage) => !["digital signature", "key encipherment", "client auth"].includes(usage));
  if (stranger !== undefined) return `invalid usage for client certificate: ${stranger}`;
  return usages.includes("client auth") ? undefined : "missing required usage for client certificate: client auth";
}

function kubeletClientRefusal(request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isNodesOnly(request)) return "subject organization is not system:nodes";
  if (request.dnsNames.length > 0) return "DNS subjectAltNames are not allowed";
  if (request.emails.length > 0) return "Email subjectAltNames are not allowed";
  if (request.addresses.length > 0) return "IP subjectAltNames are not allowed";
  if (request.uris.length > 0) return "URI subjectAltNames are not allowed";
  return nodeNameRefusal(request) ?? usagesRefusal(usages, ["client auth", "digital signature", "key encipherment"]);
}

function kubeletServingRefusal(request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isNodesOnly(request)) return "subject organization is not system:nodes";
  if (request.dnsNames.length === 0 && request.addresses.length === 0) return "DNS or IP subjectAltName is required";
  if (request.emails.length > 0) return "Email subjectAltNames are not allowed";
  if (request.uris.length > 0) return "URI subjectAltNames are not allowed";
  return usagesRefusal(usages, ["digital signature", "key encipherment", "server auth"]) ?? nodeNameRefusal(request);
}

function isNodesOnly({ organizations }: CertificateRequest): boolean {
  return organizations.length === 1 && organizations[0] === "system:nodes";
}

function nodeNameRefusal({ commonName }: CertificateRequest): string | undefined {
  return commonName.startsWith("system:node:") ? undefined : "subject common name does not begin with system:node: ";
}

/** Key encipherment is for RSA keys and may be left out. */
function usagesRefusal(usages: readonly string[], required: readonly string[]): string | undefined {
  const isFitting = usages.every((usage) => required.includes(usage)) && required.every((usage) => usage === "key encipherment" || usages.includes(usage));
  return isFitting ? undefined : `usages did not match [${required.join(" ")}]`;
}

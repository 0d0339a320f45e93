/** Asks the cluster for a certificate (CertificateSigningRequest) and waits until it is signed. */
import { createHash } from "node:crypto";
import { makeCertificateRequest } from "../apimachinery/certificate-request.ts";
import type { RequestedSubject } from "../apimachinery/certificate-request.ts";
import type { CertificateSigningRequest } from "../api/certificates-v1/types.ts";
import { sleep } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import { resources } from "../client/index.ts";
import type { Client } from "../client/index.ts";
import { JoinError } from "./cluster-info.ts";

export interface CertificateWish extends RequestedSubject {
  readonly signerName: string;
  readonly isServer: boolean;
}

/** PEM. Rejects with JoinError when it is denied, fails, or is not signed within `timeoutMs`. */
export async function requestCertificate(
  client: Client,
  wish: CertificateWish,
  { clock, timeoutMs = 60_000 }: { clock: Clock; timeoutMs?: number },
): Promise<{ readonly key: string; readonly certificate: string }> {
  const { key, request } = await makeCertificateRequest(wish);
  const name = `node-csr-${createHash("sha256").update(request).digest("hex").slice(0, 40)}`;
  await client.create(resources.certificateSigningRequests, {
    kind: "CertificateSigningRequest",
    apiVersion: "certificates.k8s.io/v1",
    metadata: { name },
    spec: { request, signerName: wish.signerName, usages: ["digital signature", wish.isServer ? "server auth" : "client auth"] },
  });
  for (const end = clock.monotonicMs() + timeoutMs; ; await sleep(clock, 100)) {
    const csr = await client.get(resources.certificateSigningRequests, "", name);
    const { certificate = "" } = csr.status ?? {};
    if (certificate !== "") return { key, certificate: Buffer.from(certificate, "base64").toString() };
    const refused = refusalOf(csr);
    if (refused !== undefined) throw new JoinError(`the certificate for ${wish.commonName} was refused: ${refused}`);
    if (clock.monotonicMs() > end)
      throw new JoinError(
        `the certificate for ${wish.commonName} was not signed within ${timeoutMs / 1000} s: \`kubectl certificate approve ${name}\` approves it`,
      );
  }
}

function refusalOf({ status }: CertificateSigningRequest): string | undefined {
  const condition = status?.conditions?.find(({ type }) => type === "Denied" || type === "Failed");
  return condition && `${condition.reason ?? condition.type}: ${condition.message ?? ""}`;
}

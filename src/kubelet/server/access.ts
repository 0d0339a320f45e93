/**
 * Who may ask the kubelet's server what (documentation page "Kubelet authentication/authorization"): client certificates of the cluster's
 * authority and tokens that the API server knows; rights are those on the node's subresources. Answers of the API server are kept for a while.
 */
import { X509Certificate } from "node:crypto";
import type { ApiRequest, UserInfo } from "../../apimachinery/request.ts";
import type { Clock } from "../../base/clock.ts";
import { resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { AnswerCache } from "./answer-cache.ts";
import { nodeAttributes } from "./node-attributes.ts";

export interface ServerAccess {
  /** `allowed`, or the status and text of the refusal. */
  check(request: ApiRequest): Promise<Access>;
}

export type Access = { readonly outcome: "allowed" } | { readonly outcome: "refused"; readonly code: 401 | 403; readonly text: string };

export interface ServerAccessOptions {
  /** As the node. */
  readonly client: Client;
  readonly nodeName: string;
  /** Gives the PEM of those whose client certificates are believed: a bundle. */
  readonly authority: () => string;
  readonly clock: Clock;
}

export function serverAccess(options: ServerAccessOptions): ServerAccess {
  const { client, clock, nodeName } = options;
  const issuers = issuersFrom(options.authority);
  const users = new AnswerCache<UserInfo>({ clock, limit: 1000, keptMs: () => tokenMs });
  const verdicts = new AnswerCache<boolean>({ clock, limit: 10_000, keptMs: (isAllowed) => (isAllowed ? allowedMs : refusedMs) });

  const userOf = async ({ peer, headers, signal }: ApiRequest): Promise<UserInfo | undefined> => {
    const fromCertificate = peer.certificate === undefined ? undefined : certificateUser(new X509Certificate(peer.certificate), issuers(), clock.nowMs());
    if (fromCertificate !== undefined) return fromCertificate;
    const token = /^Bearer (.+)$/i.exec(headers["authorization"] ?? "")?.[1];
    if (token === undefined) return undefined;
    return users.get(token, async () => {
      const { status } = await client.create(resources.tokenReviews, { metadata: {}, spec: { token } }, { signal });
      return status?.authenticated === true ? { username: status.user?.username ?? "", groups: status.user?.groups ?? [] } : undefined;
    });
  };

  return {
    check: async (request) => {
      const user = await userOf(request);
      if (user === undefined) return { outcome: "refused", code: 401, text: "Unauthorized" };
      const { username, groups = [] } = user;
      // The API server itself asks so, for those whom it has checked; it would allow itself all.
      if (groups.includes("system:masters")) return { outcome: "allowed" };
      const { verb, subresources } = nodeAttributes(request.method, request.path);
      for (const subresource of subresources) {
        const isAllowed = await verdicts.get(JSON.stringify([username, groups, verb, subresource]), async () => {
          const resourceAttributes = { verb, version: "v1", resource: "nodes", subresource, name: nodeName };
          const { status } = await client.create(
            resources.subjectAccessReviews,
            { metadata: {}, spec: { user: username, groups: [...groups], resourceAttributes } },
            { signal: request.signal },
          );
          return status?.allowed === true;
        });
        if (isAllowed === true) return { outcome: "allowed" };
      }
      return {
        outcome: "refused",
        code: 403,
        text: `Forbidden (user=${username}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(" ")}])\n`,
      };
    },
  };
}

const tokenMs = 120_000;
const allowedMs = 300_000;
const refusedMs = 30_000;

/** Reads a bundle when it has changed. */
function issuersFrom(authority: () => string): () => readonly X509Certificate[] {
  let [known, issuers]: [string, readonly X509Certificate[]] = ["", []];
  return () => {
    const bundle = authority();
    if (bundle !== known) [known, issuers] = [bundle, (bundle.match(pemCertificates) ?? []).map((pem) => new X509Certificate(pem))];
    return issuers;
  };
}

const pemCertificates = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const clientAuth = "1.3.6.1.5.5.7.3.2";

/** Only certificates for clients count: a server's says who answers, not who asks. */
function certificateUser(certificate: X509Certificate, issuers: readonly X509Certificate[], nowMs: number): UserInfo | undefined {
  const isCurrent = certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime();
  const isForClients = certificate.keyUsage === undefined || certificate.keyUsage.includes(clientAuth);
  if (!isCurrent || !isForClients || !issuers.some((issuer) => certificate.verify(issuer.publicKey))) return undefined;
  const values = (name: string) =>
    certificate.subject
      .split("\n")
      .filter((part) => part.startsWith(`${name}=`))
      .map((part) => part.slice(name.length + 1));
  return { username: values("CN")[0] ?? "", groups: [...values("O"), "system:authenticated"] };
}

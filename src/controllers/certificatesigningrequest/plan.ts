import { parseTime } from "../../apimachinery/time.ts";
import { resources } from "../../client/index.ts";
import { deleteAction, nothingToDo } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { conditionOf, parseRequest, refusal, signers } from "./request.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { CertificateSigningRequest } from "../../api/certificates-v1/types.ts";
import type { Plan } from "../../operator/index.ts";
import type { CertificateRequest } from "../../apimachinery/certificate-request.ts";

/** What the signing controller does with a request: approved ones of its signers are signed, or refused with a reason. */
export function signingDecision(csr: DeepReadonly<CertificateSigningRequest>): SigningDecision {
  const isOpen = conditionOf(csr, "Approved") !== undefined && conditionOf(csr, "Denied") === undefined && conditionOf(csr, "Failed") === undefined;
  const { signerName, usages = [] } = csr.spec;
  if (!isOpen || (csr.status?.certificate ?? "") !== "" || !Object.values<string>(signers).includes(signerName)) return { kind: "none" };
  const request = parseRequest(csr);
  const message = refusal(signerName, request, usages);
  return message === undefined ? { kind: "sign", request } : { kind: "refuse", message };
}

/**
 * - none: not ours, not approved, or already answered
 * - refuse: it breaks the signer's rules
 */
export type SigningDecision =
  | { readonly kind: "none" }
  | { readonly kind: "refuse"; readonly message: string }
  | { readonly kind: "sign"; readonly request: CertificateRequest };

/** As long as asked for, but 10 min at least and never longer than the cluster allows. */
export function lifetimeMs({ spec }: DeepReadonly<CertificateSigningRequest>, longestMs: number): number {
  return spec.expirationSeconds === undefined ? longestMs : Math.min(longestMs, Math.max(shortestMs, spec.expirationSeconds * 1000));
}

/** The permissions, one of which the requester needs to have a kubelet's client certificate approved at once; none when it is no such request. */
export function approvals(csr: DeepReadonly<CertificateSigningRequest>): readonly Approval[] {
  const isAnswered = (csr.status?.certificate ?? "") !== "" || conditionOf(csr, "Approved") !== undefined || conditionOf(csr, "Denied") !== undefined;
  if (isAnswered || csr.spec.signerName !== signers.kubeletClient) return [];
  const request = parseRequest(csr);
  if (refusal(signers.kubeletClient, request, csr.spec.usages ?? []) !== undefined) return [];
  const own = { subresource: "selfnodeclient", message: "Auto approving self kubelet client certificate after SubjectAccessReview." };
  const any = { subresource: "nodeclient", message: "Auto approving kubelet client certificate after SubjectAccessReview." };
  return request.commonName === csr.spec.username ? [own, any] : [any];
}

export interface Approval {
  readonly subresource: string;
  readonly message: string;
}

/** Answered requests stay an hour, unanswered ones a day. */
export function planCleaning(csr: DeepReadonly<CertificateSigningRequest>, nowMs: number): Plan {
  const ends = deadlines(csr);
  const endMs = Math.min(...ends);
  if (!Number.isFinite(endMs)) return nothingToDo;
  if (endMs > nowMs) return { actions: [], requeueAfterMs: endMs - nowMs };
  return { actions: [deleteAction(resources.certificateSigningRequests, csr, {}, { onError: whenGone })], reasons: ["it is old"] };
}

const shortestMs = 600_000;
const hourMs = 3_600_000;

function deadlines(csr: DeepReadonly<CertificateSigningRequest>): number[] {
  const { conditions = [], certificate = "" } = csr.status ?? {};
  if (conditions.length === 0) return [parseTime(csr.metadata.creationTimestamp ?? "1970-01-01T00:00:00Z") + 24 * hourMs];
  return conditions
    .filter(({ type }) => type === "Denied" || type === "Failed" || (type === "Approved" && certificate !== ""))
    .flatMap(({ lastUpdateTime }) => (lastUpdateTime === undefined ? [] : [parseTime(lastUpdateTime) + hourMs]));
}

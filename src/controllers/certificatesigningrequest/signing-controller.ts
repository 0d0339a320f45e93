import { formatTime } from "../../apimachinery/time.ts";
import { edited, resources } from "../../client/index.ts";
import { defineController, ownKey, updateStatusAction, watch } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { CertificateIssuer } from "./certificate.ts";
import { lifetimeMs, signingDecision } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { CertificateSigningRequest } from "../../api/certificates-v1/types.ts";
import type { Action, Controller } from "../../operator/index.ts";
import type { Authority } from "./certificate.ts";

/** Signs what was approved for the signers of Kubernetes. Keys are CertificateSigningRequests. */
export function requestSigningController(options: { readonly authority: Authority; readonly longestMs: number; readonly workers?: number }): Controller {
  return defineController({
    name: "certificatesigningrequest-signing-controller",
    account: "certificate-controller",
    workers: options.workers ?? 5,
    watches: [watch(resources.certificateSigningRequests, { keys: ownKey })],
    async reconcile(key, context) {
      const csr = context.caches.of(resources.certificateSigningRequests).get("", key);
      if (csr === undefined) return;
      const decision = signingDecision(csr);
      if (decision.kind === "none") return;
      const nowMs = context.clock.nowMs();
      if (decision.kind === "refuse") return void (await context.carryOut(key, { actions: [refused(csr, decision.message, nowMs)] }));
      const issuer = new CertificateIssuer(options.authority, context.random);
      const pem = await issuer.issue(decision.request, csr.spec.usages ?? [], { lifetimeMs: lifetimeMs(csr, options.longestMs), nowMs });
      await context.carryOut(key, { actions: [signed(csr, pem)], reasons: ["it is approved"] });
    },
  });
}

function signed(csr: DeepReadonly<CertificateSigningRequest>, pem: string): Action {
  const updated = edited<CertificateSigningRequest>(csr, (draft) => {
    draft.status = { ...draft.status, certificate: Buffer.from(pem).toString("base64") };
  });
  return updateStatusAction(resources.certificateSigningRequests, updated, { onError: whenGone });
}

function refused(csr: DeepReadonly<CertificateSigningRequest>, message: string, nowMs: number): Action {
  const now = formatTime(nowMs);
  const failed = { type: "Failed", status: "True", reason: "SignerValidationFailure", message, lastUpdateTime: now, lastTransitionTime: now };
  const updated = edited<CertificateSigningRequest>(csr, (draft) => {
    draft.status = { ...draft.status, conditions: [...(draft.status?.conditions ?? []), failed] };
  });
  return updateStatusAction(resources.certificateSigningRequests, updated, { onError: whenGone });
}

import { edited, resources } from "../../client/index.ts";
import { defineController, ownKey, updateAction, watch } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { approvals } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { CertificateSigningRequest } from "../../api/certificates-v1/types.ts";
import type { Action, Controller, ControllerContext } from "../../operator/index.ts";

/** Approves the client certificates of kubelets for those who may ask for them. Keys are CertificateSigningRequests. */
export function requestApprovingController(options: { readonly workers?: number } = {}): Controller {
  return defineController({
    name: "certificatesigningrequest-approving-controller",
    account: "certificate-controller",
    workers: options.workers ?? 5,
    watches: [watch(resources.certificateSigningRequests, { keys: ownKey })],
    async reconcile(key, context) {
      const csr = context.caches.of(resources.certificateSigningRequests).get("", key);
      const wanted = csr === undefined ? [] : approvals(csr);
      if (csr === undefined || wanted.length === 0) return;
      for (const { subresource, message } of wanted) {
        if (await mayAsk(csr, subresource, context)) return void (await context.carryOut(key, { actions: [approved(csr, message)] }));
      }
      // The permission may come later.
      throw new Error(`recognized csr "${key}" as [${wanted.map(({ subresource }) => subresource).join(" ")}] but subject access review was not approved`);
    },
  });
}

async function mayAsk({ spec }: DeepReadonly<CertificateSigningRequest>, subresource: string, { client, signal }: ControllerContext): Promise<boolean> {
  const { username: user = "", uid, groups = [], extra } = spec;
  const review = await client.create(
    resources.subjectAccessReviews,
    {
      metadata: {},
      spec: {
        user,
        groups,
        ...(uid !== undefined && { uid }),
        ...(extra !== undefined && { extra }),
        resourceAttributes: { verb: "create", group: "certificates.k8s.io", version: "*", resource: "certificatesigningrequests", subresource },
      },
    },
    { signal },
  );
  return review.status?.allowed === true;
}

function approved(csr: DeepReadonly<CertificateSigningRequest>, message: string): Action {
  const updated = edited<CertificateSigningRequest>(csr, (draft) => {
    const condition = { type: "Approved", status: "True", reason: "AutoApproved", message };
    draft.status = { ...draft.status, conditions: [...(draft.status?.conditions ?? []), condition] };
  });
  return updateAction(resources.certificateSigningRequests, updated, { subresource: "approval", onError: whenGone });
}

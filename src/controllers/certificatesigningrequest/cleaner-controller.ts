import { resources } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { planCleaning } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { CertificateSigningRequest } from "../../api/certificates-v1/types.ts";
import type { Controller } from "../../operator/index.ts";

/** Deletes CertificateSigningRequests that nobody needs any more. Keys are CertificateSigningRequests. */
export function requestCleanerController(): Controller {
  return defineController<DeepReadonly<CertificateSigningRequest>>({
    name: "certificatesigningrequest-cleaner-controller",
    account: "certificate-controller",
    workers: 1,
    watches: [watch(resources.certificateSigningRequests, { keys: ownKey })],
    snapshot: (key, caches) => caches.of(resources.certificateSigningRequests).get("", key),
    plan: planCleaning,
  });
}

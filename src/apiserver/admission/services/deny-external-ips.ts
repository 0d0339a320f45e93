/** DenyServiceExternalIPs: nobody takes over addresses by naming them in a Service (CVE-2020-8554). */
import type { Service } from "../../../api/core-v1/types.ts";
import type { AdmissionPlugin } from "../chain.ts";
import { refuse } from "../refuse.ts";

export const denyServiceExternalIps: AdmissionPlugin = {
  name: "DenyServiceExternalIPs",
  operations: new Set(["CREATE", "UPDATE"]),
  resources: new Set(["/services"]),
  validate(request) {
    if (request.subresource !== "") return;
    const addresses = (object: unknown) => (object as Service | undefined)?.spec?.externalIPs ?? [];
    const before = new Set(addresses(request.oldObject));
    // Those that are there already may stay: removing or keeping them is no new grab.
    if (addresses(request.object).some((address) => !before.has(address))) throw refuse(request, "Use of external IPs is denied by admission control");
  },
};

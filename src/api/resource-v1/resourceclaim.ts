import { invalid } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers, restoreMetadata } from "../update-rules.ts";
import { deviceKey, validateClaimStatus } from "./claim-status.ts";
import { defaultClaim, prepareClaim, validateAdminAccess, validateClaim } from "./device-claim.ts";
import type { DeviceClaim, ResourceClaim } from "./types.ts";

const specPath = FieldPath.root("spec");

export const resourceClaims = defineKind<ResourceClaim>({
  gvk: { group: "resource.k8s.io", version: "v1", kind: "ResourceClaim" },
  nameRule: subdomainName,
  generation: "none",
  defaults: (claim) => defaultClaim(claimOf(claim)),
  create: {
    prepare(claim, context) {
      claim.status = {};
      prepareClaim(claimOf(claim), context);
    },
    validate: (claim, context) => [...validateAdminAccess(claimOf(claim), context), ...validateClaim(claimOf(claim), context, specPath.child("devices"))],
  },
  update: {
    prepare: (claim, old) => restoreMembers(claim, old, "status"),
    validate: (claim, old) =>
      isSemanticallyEqual("api.resource.v1.ResourceClaimSpec", claim.spec ?? {}, old.spec ?? {}) ? [] : [invalid(specPath, undefined, "field is immutable")],
    resetFields: ["status"],
  },
  status: {
    prepare(claim, old) {
      restoreMembers(claim, old, "spec");
      restoreMetadata(claim, old);
      dropDeallocated(claim, old);
    },
    validate: validateClaimStatus,
    resetFields: ["metadata", "spec"],
  },
  delete: { answer: "object" },
});

/** What drivers report of a device goes with its allocation. */
function dropDeallocated({ status }: ResourceClaim, old: ResourceClaim): void {
  const results = (claim: Pick<ResourceClaim, "status">) => (claim.status?.allocation?.devices?.results ?? []).map(deviceKey);
  const allocated = new Set(results({ ...(status && { status }) }));
  const gone = new Set(results(old).filter((key) => !allocated.has(key)));
  if (status?.devices === undefined || gone.size === 0) return;
  status.devices = status.devices.filter((device) => !gone.has(deviceKey(device)));
}

function claimOf(claim: ResourceClaim): DeviceClaim {
  const spec = (claim.spec ??= {});
  return (spec.devices ??= {});
}

/** ResourcePoolStatusRequest: asks how much of a driver's devices is free (KEP-5677). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { validateConditions } from "../meta/conditions.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { validateDriver, validatePoolName } from "../resource-v1/device-names.ts";
import { defineKind } from "../strategy.ts";
import { immutable, restoreMembers, restoreMetadata } from "../update-rules.ts";
import type { ResourcePoolStatusRequest } from "./types.ts";

const specPath = FieldPath.root("spec");
const maxPools = 1000;

export const resourcePoolStatusRequests = defineKind<ResourcePoolStatusRequest>({
  gvk: { group: "resource.k8s.io", version: "v1alpha3", kind: "ResourcePoolStatusRequest" },
  nameRule: subdomainName,
  generation: "none",
  create: {
    prepare(request) {
      delete request.status;
    },
    validate: validateRequest,
  },
  update: {
    prepare: (request, old) => restoreMembers(request, old, "status"),
    validate: ({ spec }, old) =>
      isSemanticallyEqual("api.resource.v1alpha3.ResourcePoolStatusRequestSpec", spec, old.spec) ? [] : immutable(specPath, spec, old.spec),
    allowsUnconditional: false,
    resetFields: ["status"],
  },
  status: {
    prepare(request, old) {
      restoreMembers(request, old, "spec");
      restoreMetadata(request, old);
    },
    validate: ({ status }) => validateConditions(status?.conditions, FieldPath.root("status", "conditions")),
    resetFields: ["metadata", "spec"],
  },
  delete: { answer: "object" },
});

function validateRequest({ spec }: ResourcePoolStatusRequest): FieldError[] {
  const { driver = "", poolName, limit = 1 } = spec ?? {};
  return [
    ...(driver === "" ? [required(specPath.child("driver"))] : validateDriver(driver, specPath.child("driver"))),
    ...(poolName === undefined ? [] : validatePoolName(poolName, specPath.child("poolName"))),
    ...(limit < 1 ? [invalid(specPath.child("limit"), limit, "must be greater than or equal to 1")] : []),
    ...(limit > maxPools ? [invalid(specPath.child("limit"), limit, `must be less than or equal to ${maxPools}`)] : []),
  ];
}

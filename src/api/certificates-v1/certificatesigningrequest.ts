import { deepCopy } from "../../apimachinery/json.ts";
import { pathSegmentName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import { validateRequest, validateRequestUpdate } from "./certificate-request-rules.ts";
import type { CertificateSigningRequest } from "./types.ts";

export const certificateSigningRequests = defineKind<CertificateSigningRequest>({
  gvk: { group: "certificates.k8s.io", version: "v1", kind: "CertificateSigningRequest" },
  nameRule: pathSegmentName,
  generation: "none",
  create: { prepare: prepareRequest, validate: validateRequest },
  update: {
    prepare: (request, old) => restoreMembers(request, old, "spec", "status"),
    validate: (request, old) => validateRequestUpdate(request, old, {}),
    resetFields: ["spec", "status"],
  },
  status: {
    prepare(request, old, context) {
      restoreMembers(request, old, "spec");
      keepApproval(request, old);
      fillTimes(request, old, context);
    },
    validate: (request, old) => validateRequestUpdate(request, old, { certificate: true }),
    resetFields: ["spec", "status.conditions"],
  },
  subresources: {
    approval: {
      prepare: prepareApproval,
      validate: (request, old) => validateRequestUpdate(request, old, { approval: true }),
      resetFields: ["spec", "status.certificate"],
    },
  },
  selectableFields: ({ metadata, spec }) => ({ "metadata.name": metadata.name ?? "", "spec.signerName": spec?.signerName ?? "" }),
});

/** Who asks is who makes the request, whatever it says. */
function prepareRequest(request: CertificateSigningRequest, { user }: RuleContext): void {
  const { uid = "", groups, extra = {} } = user;
  request.spec = { ...request.spec, username: user.username };
  if (uid === "") delete request.spec.uid;
  else request.spec.uid = uid;
  request.spec.groups = [...groups];
  if (Object.keys(extra).length === 0) delete request.spec.extra;
  else request.spec.extra = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
  delete request.status;
}

/** An approval changes conditions only. */
function prepareApproval(request: CertificateSigningRequest, old: CertificateSigningRequest, context: RuleContext): void {
  const conditions = request.status?.conditions;
  restoreMembers(request, old, "spec", "status");
  if (conditions !== undefined) request.status = { ...request.status, conditions };
  else if (request.status !== undefined) delete request.status.conditions;
  fillTimes(request, old, context);
}

/** Through the status nobody changes what was approved or denied. */
function keepApproval(request: CertificateSigningRequest, old: CertificateSigningRequest): void {
  const conditions = request.status?.conditions ?? [];
  for (const type of ["Approved", "Denied"]) {
    const kept = (old.status?.conditions ?? []).filter((condition) => condition.type === type);
    conditions.forEach((condition, index) => {
      if (condition.type === type && kept.length > 0) conditions[index] = deepCopy(kept.shift()!);
    });
  }
}

function fillTimes(request: CertificateSigningRequest, old: CertificateSigningRequest, { nowMs }: RuleContext): void {
  const now = new Date(Math.trunc(nowMs / 1000) * 1000).toISOString().replace(".000Z", "Z");
  for (const condition of request.status?.conditions ?? []) {
    condition.lastUpdateTime ??= now;
    const before = old.status?.conditions?.find(
      ({ type, status, lastTransitionTime }) => type === condition.type && status === condition.status && lastTransitionTime !== undefined,
    );
    condition.lastTransitionTime ??= before?.lastTransitionTime ?? now;
  }
}

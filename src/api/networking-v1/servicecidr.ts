import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { parseCidr, validateCanonicalCidr } from "../../apimachinery/net.ts";
import { defineKind } from "../strategy.ts";
import { immutable, restoreMembers, restoreMetadata } from "../update-rules.ts";
import type { ServiceCIDR } from "./types.ts";

export const serviceCidrs = defineKind<ServiceCIDR>({
  gvk: { group: "networking.k8s.io", version: "v1", kind: "ServiceCIDR" },
  nameRule: subdomainName,
  generation: "none",
  create: {
    prepare(range) {
      delete range.status;
    },
    validate: ({ spec }) => validateCidrs(spec?.cidrs ?? []),
  },
  update: {
    prepare: (range, old) => restoreMembers(range, old, "status"),
    validate: validateRangeUpdate,
    resetFields: ["status"],
  },
  status: {
    prepare(range, old) {
      restoreMembers(range, old, "spec");
      restoreMetadata(range, old);
    },
    resetFields: ["metadata", "spec"],
  },
});

const path = FieldPath.root("spec", "cidrs");

function validateCidrs(cidrs: readonly string[]): FieldError[] {
  if (cidrs.length === 0) return [required(path, "at least one CIDR required")];
  if (cidrs.length > 2) return [invalid(path, { CIDRs: cidrs }, "may only hold up to 2 values")];
  const errors = cidrs.flatMap((cidr, index) => validateCanonicalCidr(cidr, path.index(index)));
  const families = new Set(cidrs.map((cidr) => parseCidr(cidr, true)?.family));
  const isOneEach = cidrs.length === 1 || (families.size === 2 && !families.has(undefined));
  return isOneEach ? errors : [invalid(path, cidrs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"), ...errors];
}

/** A second family may come; nothing else changes. */
function validateRangeUpdate(range: ServiceCIDR, old: ServiceCIDR): FieldError[] {
  const cidrs = range.spec?.cidrs ?? [];
  const oldCidrs = old.spec?.cidrs ?? [];
  const fixed = (index: number) => immutable(path.index(index), cidrs[index], oldCidrs[index]);
  if (cidrs.length === oldCidrs.length) return cidrs.flatMap((_, index) => fixed(index));
  if (oldCidrs.length === 1 && cidrs.length === 2) return [...fixed(0), ...validateCidrs(cidrs)];
  return immutable(path, cidrs, oldCidrs);
}

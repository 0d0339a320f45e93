import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import type { RuleContext } from "../strategy.ts";
import { defineKind } from "../strategy.ts";
import type { Lease, LeaseSpec } from "./types.ts";

export const leases = defineKind<Lease>({
  gvk: { group: "coordination.k8s.io", version: "v1", kind: "Lease" },
  nameRule: subdomainName,
  requiresQualifiedFinalizers: false,
  generation: "none",
  create: {
    prepare: (lease, context) => dropDisabledFields(lease.spec, undefined, context),
    validate: validateLease,
  },
  update: {
    prepare: (lease, old, context) => dropDisabledFields(lease.spec, old.spec, context),
    validate: validateLease,
    allowsCreate: true,
    allowsUnconditional: false,
  },
});

/** Fields of coordinated leader election (KEP-4355) stay only where they are in use already. */
function dropDisabledFields(spec: LeaseSpec | undefined, old: LeaseSpec | undefined, context: RuleContext): void {
  if (spec === undefined || context.isEnabled("CoordinatedLeaderElection")) return;
  if (old?.strategy === undefined) delete spec.strategy;
  if (old?.preferredHolder === undefined) delete spec.preferredHolder;
}

function validateLease({ spec = {} }: Lease): FieldError[] {
  const path = FieldPath.root("spec");
  const errors: FieldError[] = [];
  const { leaseDurationSeconds = 1, leaseTransitions = 0 } = spec;
  if (leaseDurationSeconds <= 0) errors.push(invalid(path.child("leaseDurationSeconds"), leaseDurationSeconds, "must be greater than 0"));
  if (leaseTransitions < 0) errors.push(invalid(path.child("leaseTransitions"), leaseTransitions, "must be greater than or equal to 0"));
  return errors;
}

/** LeaseCandidate: what a component says of itself that may be elected (KEP-4355). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { immutable } from "../update-rules.ts";
import type { LeaseCandidate } from "./types.ts";

const specPath = FieldPath.root("spec");

export const leaseCandidates = defineKind<LeaseCandidate>({
  gvk: { group: "coordination.k8s.io", version: "v1beta1", kind: "LeaseCandidate" },
  nameRule: subdomainName,
  requiresQualifiedFinalizers: false,
  generation: "none",
  create: { validate: validateCandidate },
  update: {
    validate: (candidate, old) => [...validateCandidate(candidate), ...immutable(specPath.child("leaseName"), candidate.spec?.leaseName, old.spec?.leaseName)],
    allowsCreate: true,
    allowsUnconditional: false,
  },
});

const strategies = ["OldestEmulationVersion"];

function validateCandidate({ spec }: LeaseCandidate): FieldError[] {
  const { leaseName = "", binaryVersion = "", emulationVersion = "", strategy = "" } = spec ?? {};
  const errors: FieldError[] = [];
  if (leaseName === "") errors.push(required(specPath.child("leaseName")));
  const binary = semanticVersion(binaryVersion);
  const emulation = semanticVersion(emulationVersion);
  if (binaryVersion === "") errors.push(required(specPath.child("binaryVersion")));
  else if (binary === undefined) errors.push(invalid(specPath.child("binaryVersion"), binaryVersion, "must be a valid semantic version"));
  if (emulationVersion !== "" && emulation === undefined)
    errors.push(invalid(specPath.child("emulationVersion"), emulationVersion, "must be a valid semantic version"));
  if (binary !== undefined && emulation !== undefined && compare(binary, emulation) < 0)
    errors.push(invalid(specPath.child("binaryVersion"), binaryVersion, "must be greater than or equal to `emulationVersion`"));
  if (strategy === "") errors.push(required(specPath.child("strategy")));
  else if (!strategies.includes(strategy)) errors.push(notSupported(specPath.child("strategy").child("strategy"), strategy, strategies));
  else if (emulationVersion === "") errors.push(required(specPath.child("emulationVersion"), "must be specified when `strategy` is 'OldestEmulationVersion'"));
  return errors;
}

/** Major, minor and patch. */
function semanticVersion(text: string): readonly number[] | undefined {
  const match = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.exec(text);
  return match?.slice(1, 4).map(Number);
}

function compare(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((part, index) => part !== right[index]);
  return at < 0 ? 0 : left[at]! - right[at]!;
}

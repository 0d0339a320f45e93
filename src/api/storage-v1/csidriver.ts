import type { FieldError } from "../../apimachinery/field-error.ts";
import { duplicate, invalid, notSupported } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { immutable, isSame } from "../update-rules.ts";
import type { CSIDriver, TokenRequest } from "./types.ts";

export const csiDrivers = defineKind<CSIDriver>({
  gvk: { group: "storage.k8s.io", version: "v1", kind: "CSIDriver" },
  nameRule: subdomainName,
  generation: "none",
  defaults(driver) {
    driver.spec ??= {};
    const { spec } = driver;
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= "ReadWriteOnceWithFSType";
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ["Persistent"];
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
    spec.preventPodSchedulingIfMissing ??= false;
  },
  create: { validate: validateDriver, warnings: tokenWarnings },
  update: {
    // The generation starts with the first change, not with the object.
    prepare(driver, old) {
      if (!isSame(driver.spec, old.spec)) driver.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
    validate: validateDriverUpdate,
    warnings: (driver, old) => (tokenWarnings(old).length > 0 ? [] : tokenWarnings(driver)),
    allowsUnconditional: false,
  },
  delete: { answer: "object" },
});

const groupPolicies = ["File", "None", "ReadWriteOnceWithFSType"];
const lifecycleModes = ["Persistent", "Ephemeral"];
const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;
const minUpdatePeriodSeconds = 10;
const spec = FieldPath.root("spec");

function validateDriver(driver: CSIDriver): FieldError[] {
  const { fsGroupPolicy = "", tokenRequests = [], volumeLifecycleModes = [] } = driver.spec;
  const errors: FieldError[] = [];
  if (!groupPolicies.includes(fsGroupPolicy)) errors.push(notSupported(spec.child("fsGroupPolicy"), fsGroupPolicy, groupPolicies));
  errors.push(...validateTokenRequests(tokenRequests));
  for (const mode of volumeLifecycleModes) {
    if (!lifecycleModes.includes(mode)) errors.push(notSupported(spec.child("volumeLifecycleModes"), mode, lifecycleModes));
  }
  return [...errors, ...validateUpdatePeriod(driver), ...validateTokenPlace(driver)];
}

function validateDriverUpdate(driver: CSIDriver, old: CSIDriver): FieldError[] {
  return [
    ...immutable(spec.child("attachedRequired"), driver.spec.attachRequired, old.spec.attachRequired),
    ...immutable(spec.child("volumeLifecycleModes"), driver.spec.volumeLifecycleModes, old.spec.volumeLifecycleModes),
    ...validateTokenRequests(driver.spec.tokenRequests ?? []),
    ...validateUpdatePeriod(driver),
    ...validateTokenPlace(driver),
  ];
}

function validateTokenRequests(requests: readonly TokenRequest[]): FieldError[] {
  const audiences = new Set<string>();
  return requests.flatMap(({ audience = "", expirationSeconds }, index) => {
    const path = spec.child("tokenRequests").index(index);
    const errors = audiences.has(audience) ? [duplicate(path.child("audience"), audience)] : [];
    audiences.add(audience);
    if (expirationSeconds !== undefined && expirationSeconds < minTokenSeconds)
      errors.push(invalid(path.child("expirationSeconds"), expirationSeconds, "may not specify a duration less than 10 minutes"));
    if (expirationSeconds !== undefined && expirationSeconds > maxTokenSeconds)
      errors.push(invalid(path.child("expirationSeconds"), expirationSeconds, "may not specify a duration larger than 2^32 seconds"));
    return errors;
  });
}

function validateUpdatePeriod({ spec: { nodeAllocatableUpdatePeriodSeconds: period } }: CSIDriver): FieldError[] {
  if (period === undefined || period >= minUpdatePeriodSeconds) return [];
  return [invalid(spec.child("nodeAllocatableUpdatePeriodSeconds"), period, "must be greater than or equal to 10 seconds")];
}

function validateTokenPlace({ spec: { serviceAccountTokenInSecrets, tokenRequests = [] } }: CSIDriver): FieldError[] {
  if (serviceAccountTokenInSecrets === undefined || tokenRequests.length > 0) return [];
  return [
    invalid(spec.child("serviceAccountTokenInSecrets"), serviceAccountTokenInSecrets, "serviceAccountTokenInSecrets is set but no tokenRequests are specified"),
  ];
}

function tokenWarnings({ spec: { serviceAccountTokenInSecrets, tokenRequests = [] } }: CSIDriver): string[] {
  if (tokenRequests.length === 0 || serviceAccountTokenInSecrets !== undefined) return [];
  return [
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes",
  ];
}

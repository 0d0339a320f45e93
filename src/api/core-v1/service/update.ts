/** What may change in a Service: a second address or family may come and go, the first stays. */
import { forbidden, invalid } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import type { Service } from "../types.ts";
import { isHeadless, needsClusterIp, needsHealthCheckPort } from "./needs.ts";

const path = FieldPath.root("spec");

export function validateServiceChange(service: Service, old: Service): FieldError[] {
  const { spec = {} } = service;
  const { spec: before = {} } = old;
  const errors: FieldError[] = [];
  if (needsClusterIp(service) && needsClusterIp(old)) {
    if (!(isHeadless(service) && isHeadless(old))) errors.push(...validatePair(service, old, "clusterIPs", "clusterIP"));
    if (!isHeadless(service) && !isHeadless(old)) errors.push(...validatePair(service, old, "ipFamilies", "ipFamily"));
  }
  if (spec.type === "LoadBalancer" && before.type === "LoadBalancer" && (spec.loadBalancerClass ?? null) !== (before.loadBalancerClass ?? null)) {
    errors.push(invalid(path.child("loadBalancerClass"), spec.loadBalancerClass, "may not change once set"));
  }
  if (needsHealthCheckPort(service) && needsHealthCheckPort(old) && (spec.healthCheckNodePort ?? 0) !== (before.healthCheckNodePort ?? 0)) {
    errors.push(forbidden(path.child("healthCheckNodePort"), "field is immutable"));
  }
  return errors;
}

function validatePair(service: Service, old: Service, field: "clusterIPs" | "ipFamilies", one: string): FieldError[] {
  const now = service.spec?.[field] ?? [];
  const before = old.spec?.[field] ?? [];
  const at = path.child(field);
  const fault = (index: number) => invalid(at.index(index), now, "may not change once set");
  if (now.length === before.length) return now.flatMap((value, index) => (value === before[index] ? [] : [fault(index)]));
  const errors: FieldError[] = [];
  if (now.length === 0) errors.push(invalid(at.index(0), now, `primary ${one} can not be unset`));
  if (now.length > 0 && before.length > 0 && now[0] !== before[0]) errors.push(fault(0));
  const policy = service.spec?.ipFamilyPolicy;
  if (now.length === 1 && before.length > 1 && policy !== "SingleStack")
    errors.push(invalid(path.child("ipFamilyPolicy"), policy, `must be set to 'SingleStack' when releasing the secondary ${one}`));
  return errors;
}

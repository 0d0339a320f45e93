/** Rules of a Service's status: what a load balancer tells. Ingresses have the same addresses. */
import { forbidden, invalid, invalidEach, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { isDns1123Subdomain } from "../../../apimachinery/names.ts";
import { ipWarnings, parseIp, validateIp } from "../../../apimachinery/net.ts";
import type { LoadBalancerIngress, Service } from "../types.ts";

export function validateServiceStatus({ spec = {}, status = {} }: Service): FieldError[] {
  const path = FieldPath.root("status", "loadBalancer", "ingress");
  const ingress = status.loadBalancer?.ingress ?? [];
  if (spec.type !== "LoadBalancer" && ingress.length > 0) return [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  return ingress.flatMap((item, index) => validateIngress(item, path.index(index)));
}

export function serviceStatusWarnings({ status = {} }: Service): string[] {
  return (status.loadBalancer?.ingress ?? []).flatMap(({ ip = "" }, index) =>
    ip === "" ? [] : ipWarnings(ip, FieldPath.root("status", "loadBalancer", "ingress").index(index)),
  );
}

function validateIngress({ ip = "", ipMode, hostname = "" }: LoadBalancerIngress, path: FieldPath): FieldError[] {
  const errors = ip === "" ? [] : validateIp(ip, path.child("ip"));
  if (ip === "" && ipMode !== undefined) errors.push(forbidden(path.child("ipMode"), "may not be specified when `ip` is not set"));
  else if (ip !== "" && ipMode === undefined) errors.push(required(path.child("ipMode"), "must be specified when `ip` is set"));
  else if (ipMode !== undefined && !["Proxy", "VIP"].includes(ipMode)) errors.push(notSupported(path.child("ipMode"), ipMode, ["Proxy", "VIP"]));
  if (hostname !== "") {
    errors.push(...invalidEach(path.child("hostname"), hostname, isDns1123Subdomain(hostname)));
    if (parseIp(hostname, true) !== undefined) errors.push(invalid(path.child("hostname"), hostname, "must be a DNS name, not an IP address"));
  }
  return errors;
}

/** Warnings about Services. */
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { cidrWarnings, ipWarnings } from "../../../apimachinery/net.ts";
import type { Service } from "../types.ts";
import { isHeadless } from "./needs.ts";

const path = FieldPath.root("spec");

export function serviceWarnings(service: Service): string[] {
  const { metadata, spec = {} } = service;
  const warnings: string[] = [];
  const { externalIPs = [], clusterIPs = [], loadBalancerSourceRanges = [] } = spec;
  if (metadata.annotations?.["service.kubernetes.io/topology-aware-hints"] !== undefined) {
    warnings.push("annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead");
  }
  if (!isHeadless(service)) clusterIPs.forEach((address, index) => warnings.push(...ipWarnings(address, path.child("clusterIPs").index(index))));
  if (isHeadless(service)) {
    if (spec.loadBalancerIP) warnings.push("spec.loadBalancerIP is ignored for headless services");
    if (externalIPs.length > 0) warnings.push("spec.externalIPs is ignored for headless services");
    if (spec.sessionAffinity !== "None") warnings.push("spec.SessionAffinity is ignored for headless services");
  }
  externalIPs.forEach((address, index) => warnings.push(...ipWarnings(address, path.child("externalIPs").index(index))));
  if (spec.loadBalancerIP) warnings.push(...ipWarnings(spec.loadBalancerIP, path.child("loadBalancerIP")));
  loadBalancerSourceRanges.forEach((range, index) => warnings.push(...cidrWarnings(range, path.child("loadBalancerSourceRanges").index(index))));
  if (spec.externalName && spec.type !== "ExternalName") warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (externalIPs.length > 0 && !isHeadless(service)) warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  if (spec.trafficDistribution === "PreferClose") warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return warnings;
}

/** Rules of Services, in upstream's order. */
import { duplicate, forbidden, invalid, invalidEach, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { isPort, isPortNumber } from "../../../apimachinery/formats.ts";
import { isDns1123Label, isDns1123Subdomain, isQualifiedName, rangeText } from "../../../apimachinery/names.ts";
import { validateCidr, validateIp, validateNonSpecialIp } from "../../../apimachinery/net.ts";
import type { Strictness } from "../../../apimachinery/net.ts";
import { internalForm } from "../../meta/internal-form.ts";
import { validateLabels } from "../../meta/labels.ts";
import { protocols } from "../pod/ports.ts";
import type { Service, ServicePort, ServiceSpec } from "../types.ts";
import { validateFamilyFields } from "./families.ts";
import { isExternallyAccessible, isHeadless, needsClusterIp, needsHealthCheckPort, needsNodePorts } from "./needs.ts";

const path = FieldPath.root("spec");
const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const kubeletPort = 10250;

export function validateService(service: Service, old: Service | undefined, strictness: Strictness): FieldError[] {
  const { spec = {} } = service;
  const ports = spec.ports ?? [];
  const names = new Set<string>();
  return [
    ...validateTopologyAnnotations(service),
    ...(ports.length === 0 && !isHeadless(service) && spec.type !== "ExternalName" ? [required(path.child("ports"))] : []),
    ...validateType(service),
    ...ports.flatMap((port, index) => validatePort(port, ports.length > 1, names, path.child("ports").index(index))),
    ...validateLabels(spec.selector, path.child("selector")),
    ...validateAffinity(spec),
    ...validateFamilyFields(service, old, strictness),
    ...validateExternalIps(spec, old, strictness),
    ...(!spec.type ? [required(path.child("type"))] : types.includes(spec.type) ? [] : [notSupported(path.child("type"), spec.type, types)]),
    ...validatePortUse(service),
    ...validateSourceRanges(service, strictness),
    ...validateExternalTraffic(service),
    ...validateInternalTraffic(service),
    ...validateDistribution(spec),
    ...validateLoadBalancerFields(spec),
  ];
}

const modeAnnotation = "service.kubernetes.io/topology-mode";
const hintsAnnotation = "service.kubernetes.io/topology-aware-hints";

function validateTopologyAnnotations({ metadata: { annotations = {} } }: Service): FieldError[] {
  const mode = annotations[modeAnnotation];
  const hints = annotations[hintsAnnotation];
  if (mode === undefined || hints === undefined || mode === hints) return [];
  return [invalid(FieldPath.root("metadata", "annotations").key(modeAnnotation), mode, `must match annotations[${hintsAnnotation}] when both are specified`)];
}

function validateType(service: Service): FieldError[] {
  const { spec = {} } = service;
  const headless = (type: string) =>
    isHeadless(service)
      ? [invalid(path.child("clusterIPs").index(0), spec.clusterIPs?.[0] ?? spec.clusterIP, `may not be set to 'None' for ${type} services`)]
      : [];
  switch (spec.type) {
    case "NodePort":
      return headless("NodePort");
    case "LoadBalancer": {
      const text = `may not expose port ${kubeletPort} externally since it is used by kubelet`;
      return [
        ...(spec.ports ?? []).flatMap(({ port }, index) => (port === kubeletPort ? [invalid(path.child("ports").index(index), port, text)] : [])),
        ...headless("LoadBalancer"),
      ];
    }
    case "ExternalName": {
      const text = "may not be set for ExternalName services";
      const name = (spec.externalName ?? "").replace(/\.$/, "");
      return [
        ...((spec.clusterIPs ?? []).length > 0 ? [forbidden(path.child("clusterIPs"), text)] : []),
        ...((spec.ipFamilies ?? []).length > 0 ? [forbidden(path.child("ipFamilies"), text)] : []),
        ...(spec.ipFamilyPolicy !== undefined ? [forbidden(path.child("ipFamilyPolicy"), text)] : []),
        ...(name === "" ? [required(path.child("externalName"))] : invalidEach(path.child("externalName"), name, isDns1123Subdomain(name))),
      ];
    }
    default:
      return [];
  }
}

function validatePort(port: ServicePort, requiresName: boolean, names: Set<string>, at: FieldPath): FieldError[] {
  const { name = "", protocol = "", appProtocol, port: number = 0, targetPort = 0 } = port;
  const errors: FieldError[] = [];
  if (name === "") {
    if (requiresName) errors.push(required(at.child("name")));
  } else {
    errors.push(...invalidEach(at.child("name"), name, isDns1123Label(name)));
    if (names.has(name)) errors.push(duplicate(at.child("name"), name));
    names.add(name);
  }
  errors.push(...invalidEach(at.child("port"), number, isPortNumber(number)));
  if (protocol === "") errors.push(required(at.child("protocol")));
  else if (!protocols.includes(protocol)) errors.push(notSupported(at.child("protocol"), protocol, protocols));
  errors.push(...invalidEach(at.child("targetPort"), targetPort, isPort(targetPort)));
  if (appProtocol !== undefined) errors.push(...invalidEach(at.child("appProtocol"), appProtocol, isQualifiedName(appProtocol)));
  return errors;
}

const maxAffinitySeconds = 86400;

function validateAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): FieldError[] {
  const at = path.child("sessionAffinityConfig");
  if (!sessionAffinity) return [required(path.child("sessionAffinity"))];
  if (sessionAffinity === "None") return sessionAffinityConfig === undefined ? [] : [forbidden(at, "must not be set when session affinity is None")];
  if (sessionAffinity !== "ClientIP") return [notSupported(path.child("sessionAffinity"), sessionAffinity, ["ClientIP", "None"])];
  if (sessionAffinityConfig === undefined) return [required(at, "when session affinity type is ClientIP")];
  if (sessionAffinityConfig.clientIP === undefined) return [required(at.child("clientIP"), "when session affinity type is ClientIP")];
  const seconds = sessionAffinityConfig.clientIP.timeoutSeconds;
  if (seconds === undefined) return [required(at.child("clientIP", "timeoutSeconds"), "when session affinity type is ClientIP")];
  return seconds > 0 && seconds <= maxAffinitySeconds
    ? []
    : [invalid(at.child("clientIP", "timeoutSeconds"), seconds, `must be greater than 0 and less than ${maxAffinitySeconds}`)];
}

function validateExternalIps({ externalIPs = [] }: ServiceSpec, old: Service | undefined, strictness: Strictness): FieldError[] {
  return externalIPs.flatMap((address, index) => {
    const at = path.child("externalIPs").index(index);
    const errors = old?.spec?.externalIPs?.includes(address) === true ? [] : validateIp(address, at, strictness);
    return errors.length > 0 ? errors : validateNonSpecialIp(address, at);
  });
}

/** Ports are unique by number and protocol; so are node ports, which the allocator sees to where there are any. */
function validatePortUse(service: Service): FieldError[] {
  const { type, ports = [] } = service.spec ?? {};
  const at = (index: number) => path.child("ports").index(index);
  const errors: FieldError[] = [];
  if (type === "ClusterIP")
    ports.forEach(
      ({ nodePort = 0 }, index) => nodePort !== 0 && errors.push(forbidden(at(index).child("nodePort"), "may not be used when `type` is 'ClusterIP'")),
    );
  const isRepeated = (index: number, field: "port" | "nodePort") =>
    ports.findIndex((other) => other.protocol === ports[index]!.protocol && (other[field] ?? 0) === (ports[index]![field] ?? 0)) < index;
  if (!needsNodePorts(service))
    ports.forEach(
      ({ nodePort = 0 }, index) => nodePort !== 0 && isRepeated(index, "nodePort") && errors.push(duplicate(at(index).child("nodePort"), nodePort)),
    );
  ports.forEach(
    ({ protocol, port }, index) => isRepeated(index, "port") && errors.push(duplicate(at(index), internalForm("api.core.v1.ServicePort", { protocol, port }))),
  );
  return errors;
}

const rangesAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges";

function validateSourceRanges({ metadata, spec = {} }: Service, strictness: Strictness): FieldError[] {
  const text = "may only be used when `type` is 'LoadBalancer'";
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0) {
    const at = path.child("LoadBalancerSourceRanges");
    return [
      ...(spec.type === "LoadBalancer" ? [] : [forbidden(at, text)]),
      ...ranges.flatMap((range, index) => validateCidr(range.trim(), at.index(index), strictness)),
    ];
  }
  const annotation = metadata.annotations?.[rangesAnnotation];
  if (annotation === undefined) return [];
  const at = FieldPath.root("metadata", "annotations").key(rangesAnnotation);
  if (spec.type !== "LoadBalancer") return [forbidden(at, text)];
  return annotation.trim() === "" ? [] : annotation.split(",").flatMap((range) => validateCidr(range.trim(), at, strictness));
}

const trafficPolicies = ["Cluster", "Local"];

function validateExternalTraffic(service: Service): FieldError[] {
  const { externalTrafficPolicy: policy = "", healthCheckNodePort = 0 } = service.spec ?? {};
  const errors: FieldError[] = [];
  const at = path.child("externalTrafficPolicy");
  if (isExternallyAccessible(service)) {
    if (policy === "") errors.push(required(at));
    else if (!trafficPolicies.includes(policy)) errors.push(notSupported(at, policy, trafficPolicies));
  } else if (policy !== "") {
    errors.push(invalid(at, policy, "may only be set for externally-accessible services"));
  }
  const portPath = path.child("healthCheckNodePort");
  if (!needsHealthCheckPort(service)) {
    if (healthCheckNodePort !== 0)
      errors.push(invalid(portPath, healthCheckNodePort, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"));
  } else if (healthCheckNodePort !== 0 && isPortNumber(healthCheckNodePort).length > 0) {
    errors.push(invalid(portPath, healthCheckNodePort, rangeText(1, 65535)));
  }
  return errors;
}

function validateInternalTraffic(service: Service): FieldError[] {
  const policy = service.spec?.internalTrafficPolicy;
  const at = path.child("internalTrafficPolicy");
  if (policy === undefined) return needsClusterIp(service) ? [required(at)] : [];
  return trafficPolicies.includes(policy) ? [] : [notSupported(at, policy, trafficPolicies)];
}

function validateDistribution({ trafficDistribution }: ServiceSpec): FieldError[] {
  const supported = ["PreferClose", "PreferSameZone", "PreferSameNode"];
  return trafficDistribution === undefined || supported.includes(trafficDistribution)
    ? []
    : [notSupported(path.child("trafficDistribution"), trafficDistribution, supported)];
}

function validateLoadBalancerFields({ type, loadBalancerClass, allocateLoadBalancerNodePorts }: ServiceSpec): FieldError[] {
  const text = "may only be used when `type` is 'LoadBalancer'";
  const errors: FieldError[] = [];
  if (loadBalancerClass !== undefined) {
    const at = path.child("loadBalancerClass");
    errors.push(...(type === "LoadBalancer" ? invalidEach(at, loadBalancerClass, isQualifiedName(loadBalancerClass)) : [forbidden(at, text)]));
  }
  if (allocateLoadBalancerNodePorts !== undefined && type !== "LoadBalancer") errors.push(forbidden(path.child("allocateLoadBalancerNodePorts"), text));
  return errors;
}

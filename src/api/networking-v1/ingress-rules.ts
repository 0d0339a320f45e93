/** Rules of what an ingress routes: hosts, paths, backends, certificates, and its balancers (API reference "IngressSpec"). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isPortName, isPortNumber } from "../../apimachinery/formats.ts";
import { isDns1123Label, isDns1123Subdomain, isWildcardDns1123Subdomain } from "../../apimachinery/names.ts";
import { ipFamilyOf, validateIp } from "../../apimachinery/net.ts";
import { validateTypedReference } from "./references.ts";
import type { HTTPIngressPath, IngressBackend, IngressLoadBalancerIngress, IngressRule, IngressServiceBackend, IngressSpec } from "./types.ts";

export function validateIngressSpec(spec: IngressSpec, path: FieldPath): FieldError[] {
  const { rules = [], defaultBackend, tls = [], ingressClassName } = spec;
  const errors: FieldError[] = [];
  if (rules.length === 0 && defaultBackend === undefined) errors.push(invalid(path, null, "either `defaultBackend` or `rules` must be specified"));
  if (defaultBackend !== undefined) errors.push(...validateBackend(defaultBackend, path.child("defaultBackend")));
  errors.push(...rules.flatMap((rule, index) => validateRule(rule, path.child("rules").index(index))));
  tls.forEach(({ hosts = [], secretName = "" }, index) => {
    const at = path.child("tls").index(index);
    hosts.forEach((host, place) => errors.push(...invalidEach(at.child("hosts").index(place), host, hostFaults(host))));
    if (secretName !== "") errors.push(...invalidEach(at.child("secretName"), secretName, isDns1123Subdomain(secretName)));
  });
  if (ingressClassName !== undefined) errors.push(...invalidEach(path.child("ingressClassName"), ingressClassName, isDns1123Subdomain(ingressClassName)));
  return errors;
}

export function validateBalancers(ingress: readonly IngressLoadBalancerIngress[], path: FieldPath): FieldError[] {
  return ingress.flatMap(({ ip = "", hostname = "" }, index) => {
    const at = path.index(index);
    const errors = ip === "" ? [] : validateIp(ip, at.child("ip"));
    if (hostname !== "") errors.push(...invalidEach(at.child("hostname"), hostname, [...isDns1123Subdomain(hostname), ...addressFaults(hostname)]));
    return errors;
  });
}

function hostFaults(host: string): string[] {
  return host.includes("*") ? isWildcardDns1123Subdomain(host) : isDns1123Subdomain(host);
}

function addressFaults(host: string): string[] {
  return ipFamilyOf(host) === undefined ? [] : ["must be a DNS name, not an IP address"];
}

function validateRule({ host = "", http }: IngressRule, path: FieldPath): FieldError[] {
  const errors = host === "" ? [] : invalidEach(path.child("host"), host, [...addressFaults(host), ...hostFaults(host)]);
  if (http === undefined) return errors;
  const paths = http.paths ?? [];
  const at = path.child("http", "paths");
  if (paths.length === 0) errors.push(required(at));
  return [...errors, ...paths.flatMap((entry, index) => validatePath(entry, at.index(index)))];
}

const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"];
const forbiddenParts = ["//", "/./", "/../", "%2f", "%2F"];
const forbiddenEnds = ["/..", "/."];

function validatePath(entry: HTTPIngressPath, at: FieldPath): FieldError[] {
  const { pathType, path = "" } = entry;
  if (pathType === undefined) return [required(at.child("pathType"), "pathType must be specified")];
  if (!pathTypes.includes(pathType)) return [notSupported(at.child("pathType"), pathType, pathTypes), ...validateBackend(entry.backend, at.child("backend"))];
  const faults: string[] = [];
  const isLoose = pathType === "ImplementationSpecific";
  if (!path.startsWith("/") && !(isLoose && path === "")) faults.push("must be an absolute path");
  if (!isLoose) {
    faults.push(...forbiddenParts.filter((part) => path.includes(part)).map((part) => `must not contain '${part}'`));
    faults.push(...forbiddenEnds.filter((end) => path.endsWith(end)).map((end) => `cannot end with '${end}'`));
  }
  return [...invalidEach(at.child("path"), path, faults), ...validateBackend(entry.backend, at.child("backend"))];
}

function validateBackend(backend: IngressBackend | undefined, path: FieldPath): FieldError[] {
  const { service, resource } = backend ?? {};
  if (service !== undefined && resource !== undefined) return [invalid(path, "", "cannot set both resource and service backends")];
  if (resource !== undefined) return validateTypedReference(resource, path.child("resource"));
  return service === undefined ? [invalid(path, "", "resource or service backend is required")] : validateServiceBackend(service, path);
}

function validateServiceBackend({ name = "", port = {} }: IngressServiceBackend, path: FieldPath): FieldError[] {
  const at = path.child("service");
  const errors = name === "" ? [required(at.child("name"))] : invalidEach(at.child("name"), name, isDns1123Label(name));
  const { name: portName = "", number = 0 } = port;
  if (portName !== "" && number !== 0) errors.push(invalid(path, "", "cannot set both port name & port number"));
  else if (portName !== "") errors.push(...invalidEach(at.child("port", "name"), portName, isPortName(portName)));
  else if (number !== 0) errors.push(...invalidEach(at.child("port", "number"), number, isPortNumber(number)));
  else errors.push(required(path, "port name or number is required"));
  return errors;
}

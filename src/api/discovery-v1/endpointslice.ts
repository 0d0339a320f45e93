import type { FieldError } from "../../apimachinery/field-error.ts";
import { duplicate, invalid, invalidEach, notSupported, required, tooMany } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Label, isDns1123Subdomain, isFullyQualifiedDomainName, isLabelValue, isQualifiedName, subdomainName } from "../../apimachinery/names.ts";
import { ipFamilyOf, ipWarnings, validateIp, validateNonSpecialIp } from "../../apimachinery/net.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import { immutable, isSame } from "../update-rules.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "./types.ts";

export const endpointSlices = defineKind<EndpointSlice>({
  gvk: { group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice" },
  nameRule: subdomainName,
  generation: (slice, old) =>
    !isSemanticallyEqual("api.discovery.v1.EndpointSlice", contentOf(slice), contentOf(old)) || !isSame(slice.metadata.labels, old.metadata.labels),
  defaults: (slice) => slice.ports?.forEach(defaultPort),
  create: { prepare: dropTopology, validate: validateSlice, warnings: sliceWarnings },
  update: {
    prepare(slice, old) {
      if (!isSame(slice.endpoints, old.endpoints)) dropTopology(slice);
    },
    validate: validateSliceUpdate,
    warnings: sliceWarnings,
  },
});

const contentOf = ({ addressType, endpoints, ports }: Readonly<Pick<EndpointSlice, "addressType" | "endpoints" | "ports">>) => ({
  addressType,
  endpoints,
  ports,
});

function defaultPort(port: EndpointPort): void {
  port.name ??= "";
  port.protocol ??= "TCP";
}

/** `deprecatedTopology` is a field of v1beta1 that v1 only shows. */
function dropTopology({ endpoints }: EndpointSlice): void {
  for (const endpoint of endpoints ?? []) delete endpoint.deprecatedTopology;
}

const maxEndpoints = 1000;
const maxPorts = 20_000;
const maxAddresses = 100;
const maxHints = 8;
const addressTypes = ["FQDN", "IPv4", "IPv6"];
const protocols = ["SCTP", "TCP", "UDP"];

function validateSlice(slice: EndpointSlice): FieldError[] {
  const { endpoints = [], ports = [], addressType } = slice;
  const endpointsPath = FieldPath.root("endpoints");
  const portsPath = FieldPath.root("ports");
  const errors = ports.length > maxPorts ? [tooMany(portsPath, ports.length, maxPorts)] : validatePorts(ports, portsPath);
  if (endpoints.length > maxEndpoints) errors.push(tooMany(endpointsPath, endpoints.length, maxEndpoints));
  else errors.push(...endpoints.flatMap((endpoint, index) => validateEndpoint(endpoint, addressType, endpointsPath.index(index))));
  return [...errors, ...validateAddressType(addressType)];
}

function validateSliceUpdate(slice: EndpointSlice, old: EndpointSlice): FieldError[] {
  return [...validateSlice(slice), ...immutable(FieldPath.root("addressType"), slice.addressType, old.addressType, null)];
}

function validateAddressType(addressType: string | undefined): FieldError[] {
  const path = FieldPath.root("addressType");
  if (!addressType) return [required(path)];
  return addressTypes.includes(addressType) ? [] : [notSupported(path, addressType, addressTypes)];
}

function validatePorts(ports: readonly EndpointPort[], path: FieldPath): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap(({ name = "", protocol, appProtocol }, index) => {
    const at = path.index(index);
    const errors = name === "" ? [] : invalidEach(at.child("name"), name, isDns1123Label(name));
    if (names.has(name)) errors.push(duplicate(at.child("name"), name));
    names.add(name);
    if (!protocols.includes(protocol ?? "")) errors.push(notSupported(at.child("protocol"), protocol, protocols));
    if (appProtocol !== undefined) errors.push(...invalidEach(at.child("appProtocol"), appProtocol, isQualifiedName(appProtocol)));
    return errors;
  });
}

function validateEndpoint(endpoint: Endpoint, addressType: string, path: FieldPath): FieldError[] {
  const { addresses = [], nodeName, hostname, hints } = endpoint;
  const at = path.child("addresses");
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(required(at));
  else if (addresses.length > maxAddresses) errors.push(tooMany(at, addresses.length, maxAddresses));
  addresses.forEach((address, index) => errors.push(...validateAddress(address, addressType, at, index)));
  if (nodeName !== undefined) errors.push(...invalidEach(path.child("nodeName"), nodeName, isDns1123Subdomain(nodeName)));
  if (hostname !== undefined) errors.push(...invalidEach(path.child("hostname"), hostname, isDns1123Label(hostname)));
  errors.push(...validateHints(hints?.forZones, path.child("hints", "forZones"), isLabelValue));
  errors.push(...validateHints(hints?.forNodes, path.child("hints", "forNodes"), isDns1123Subdomain));
  return errors;
}

function validateAddress(address: string, addressType: string, path: FieldPath, index: number): FieldError[] {
  if (addressType === "FQDN") return invalidEach(path.index(index), address, isFullyQualifiedDomainName(address));
  if (addressType !== "IPv4" && addressType !== "IPv6") return [];
  const errors = validateIp(address, path.index(index));
  if (errors.length > 0) return errors;
  if (ipFamilyOf(address) !== addressType) errors.push(invalid(path, address, `must be an ${addressType} address`));
  return [...errors, ...validateNonSpecialIp(address, path.index(index))];
}

function validateHints(hints: ReadonlyArray<{ readonly name: string }> | undefined, path: FieldPath, rule: (name: string) => string[]): FieldError[] {
  if (hints === undefined) return [];
  if (hints.length > maxHints) return [tooMany(path, hints.length, maxHints)];
  const names = new Set<string>();
  return hints.flatMap(({ name }, index) => {
    const at = path.index(index).child("name");
    const errors = names.has(name) ? [duplicate(at, name)] : [];
    names.add(name);
    return [...errors, ...invalidEach(at, name, rule(name))];
  });
}

function sliceWarnings({ addressType, endpoints = [] }: EndpointSlice): string[] {
  if (addressType === "FQDN") return ["spec.addressType: FQDN endpoints are deprecated"];
  return endpoints.flatMap(({ addresses = [] }, index) =>
    addresses.flatMap((address, place) => ipWarnings(address, FieldPath.root("endpoints").index(index).child("addresses").index(place))),
  );
}

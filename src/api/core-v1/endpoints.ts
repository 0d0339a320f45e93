/** Endpoints (API reference "Endpoints v1 core"). */
import { invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isPortNumber } from "../../apimachinery/formats.ts";
import { isDns1123Label, isDns1123Subdomain, isQualifiedName, subdomainName } from "../../apimachinery/names.ts";
import { ipWarnings, validateIp, validateNonSpecialIp } from "../../apimachinery/net.ts";
import { TimeError, parseTime } from "../../apimachinery/time.ts";
import { defineKind } from "../strategy.ts";
import { isSame } from "../update-rules.ts";
import { protocols } from "./pod/ports.ts";
import type { EndpointAddress, EndpointPort, Endpoints } from "./types.ts";

const path = FieldPath.root("subsets");

export const endpoints = defineKind<Endpoints>({
  gvk: { group: "", version: "v1", kind: "Endpoints" },
  nameRule: subdomainName,
  generation: "none",
  defaults: ({ subsets }) => {
    for (const subset of subsets ?? []) for (const port of subset.ports ?? []) port.protocol ||= "TCP";
  },
  create: { validate: (object) => [...validateTriggerTime(object), ...validateSubsets(object)], warnings: addressWarnings },
  update: {
    allowsCreate: true,
    validate: (object, old) => [...validateTriggerTime(object), ...(isSame(object.subsets, old.subsets) ? [] : validateSubsets(object))],
    warnings: (object, old) => (isSame(object.subsets, old.subsets) ? [] : addressWarnings(object)),
  },
});

const triggerTimeKey = "endpoints.kubernetes.io/last-change-trigger-time";

function validateTriggerTime({ metadata }: Endpoints): FieldError[] {
  const text = metadata.annotations?.[triggerTimeKey];
  if (text === undefined) return [];
  try {
    parseTime(text);
    return [];
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    return [invalid(FieldPath.root("metadata", "annotations").key(triggerTimeKey), text, error.message)];
  }
}

function validateSubsets({ subsets = [] }: Endpoints): FieldError[] {
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }, index) => {
    const at = path.index(index);
    return [
      ...(addresses.length + notReadyAddresses.length === 0 ? [required(at, "must specify `addresses` or `notReadyAddresses`")] : []),
      ...addresses.flatMap((address, position) => validateAddress(address, at.child("addresses").index(position))),
      ...notReadyAddresses.flatMap((address, position) => validateAddress(address, at.child("notReadyAddresses").index(position))),
      ...ports.flatMap((port, position) => validatePort(port, ports.length > 1, at.child("ports").index(position))),
    ];
  });
}

function validateAddress({ ip = "", hostname = "", nodeName }: EndpointAddress, at: FieldPath): FieldError[] {
  return [
    ...validateIp(ip, at.child("ip")),
    ...(hostname === "" ? [] : invalidEach(at.child("hostname"), hostname, isDns1123Label(hostname))),
    ...(nodeName === undefined ? [] : invalidEach(at.child("nodeName"), nodeName, isDns1123Subdomain(nodeName))),
    ...validateNonSpecialIp(ip, at.child("ip")),
  ];
}

function validatePort({ name = "", port = 0, protocol = "", appProtocol }: EndpointPort, requiresName: boolean, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (name !== "") errors.push(...invalidEach(at.child("name"), name, isDns1123Label(name)));
  else if (requiresName) errors.push(required(at.child("name")));
  errors.push(...invalidEach(at.child("port"), port, isPortNumber(port)));
  if (protocol === "") errors.push(required(at.child("protocol")));
  else if (!protocols.includes(protocol)) errors.push(notSupported(at.child("protocol"), protocol, protocols));
  if (appProtocol !== undefined) errors.push(...invalidEach(at.child("appProtocol"), appProtocol, isQualifiedName(appProtocol)));
  return errors;
}

function addressWarnings({ subsets = [] }: Endpoints): string[] {
  return subsets.flatMap((subset, index) =>
    (["addresses", "notReadyAddresses"] as const).flatMap((field) =>
      (subset[field] ?? []).flatMap(({ ip }, position) => ipWarnings(ip ?? "", path.index(index).child(field).index(position).child("ip"))),
    ),
  );
}

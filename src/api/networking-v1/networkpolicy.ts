import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isPort, isPortNumber } from "../../apimachinery/formats.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { cidrContainsCidr, cidrWarnings, parseCidr, validateCidr } from "../../apimachinery/net.ts";
import type { Strictness } from "../../apimachinery/net.ts";
import { hasInvalidLabelValue, validateLabelSelector } from "../meta/labels.ts";
import { strictnessOf } from "../meta/strictness.ts";
import { defineKind } from "../strategy.ts";
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from "./types.ts";

export const networkPolicies = defineKind<NetworkPolicy>({
  gvk: { group: "networking.k8s.io", version: "v1", kind: "NetworkPolicy" },
  nameRule: subdomainName,
  generation: "spec",
  defaults: defaultPolicy,
  create: {
    validate: (policy, context) => validatePolicy(policy, { allowsInvalidValues: false, strictness: strictnessOf(context) }),
    warnings: policyWarnings,
  },
  update: {
    validate: (policy, old, context) => validatePolicy(policy, { allowsInvalidValues: hasInvalidSelector(old), strictness: strictnessOf(context) }),
    warnings: policyWarnings,
  },
});

function defaultPolicy(policy: NetworkPolicy): void {
  const { spec } = policy;
  if (spec === undefined) return;
  for (const { ports } of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
    for (const port of ports ?? []) port.protocol ??= "TCP";
  }
  if ((spec.policyTypes ?? []).length === 0) spec.policyTypes = (spec.egress ?? []).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
}

/** A rule of either direction, with where its peers stand. */
interface Direction {
  readonly path: FieldPath;
  readonly peersPath: FieldPath;
  readonly ports: readonly NetworkPolicyPort[];
  readonly peers: readonly NetworkPolicyPeer[];
}

function directions({ ingress = [], egress = [] }: NetworkPolicySpec): Direction[] {
  const at = (name: string, index: number) => FieldPath.root("spec", name).index(index);
  return [
    ...ingress.map(({ ports = [], from = [] }, index) => ({ path: at("ingress", index), peersPath: at("ingress", index).child("from"), ports, peers: from })),
    ...egress.map(({ ports = [], to = [] }, index) => ({ path: at("egress", index), peersPath: at("egress", index).child("to"), ports, peers: to })),
  ];
}

const protocols = ["TCP", "UDP", "SCTP"];
const policyTypes = ["Ingress", "Egress"];

interface Leniency {
  /** Of label values in selectors. */
  readonly allowsInvalidValues: boolean;
  /** Of address ranges. */
  readonly strictness: Strictness;
}

function validatePolicy({ spec = {} }: NetworkPolicy, leniency: Leniency): FieldError[] {
  const path = FieldPath.root("spec");
  const errors = validateLabelSelector(spec.podSelector, path.child("podSelector"), leniency.allowsInvalidValues);
  for (const { path: at, peersPath, ports, peers } of directions(spec)) {
    errors.push(...ports.flatMap((port, index) => validatePort(port, at.child("ports").index(index))));
    errors.push(...peers.flatMap((peer, index) => validatePeer(peer, peersPath.index(index), leniency)));
  }
  const types = spec.policyTypes ?? [];
  if (types.length > policyTypes.length) errors.push(invalid(path.child("policyTypes"), types, "may not specify more than two policyTypes"));
  else types.forEach((type, index) => policyTypes.includes(type) || errors.push(notSupported(path.child("policyTypes").index(index), type, policyTypes)));
  return [...errors, ...blocks(spec).flatMap(([block, at]) => (block.cidr ? [] : [required(at.child("cidr"))]))];
}

function blocks(spec: NetworkPolicySpec): [block: IPBlock, path: FieldPath][] {
  return directions(spec).flatMap(({ peers, peersPath }) =>
    peers.flatMap(({ ipBlock }, index): [IPBlock, FieldPath][] => (ipBlock === undefined ? [] : [[ipBlock, peersPath.index(index).child("ipBlock")]])),
  );
}

function validatePort({ protocol = "", port, endPort }: NetworkPolicyPort, path: FieldPath): FieldError[] {
  const errors = protocols.includes(protocol) ? [] : [notSupported(path.child("protocol"), protocol, protocols)];
  const end = path.child("endPort");
  if (port === undefined) return endPort === undefined ? errors : [...errors, invalid(end, endPort, "may not be specified when `port` is not specified")];
  errors.push(...invalidEach(path.child("port"), port, isPort(port)));
  if (endPort === undefined) return errors;
  if (typeof port === "string") return [...errors, invalid(end, endPort, "may not be specified when `port` is non-numeric")];
  if (endPort < port) errors.push(invalid(end, endPort, "must be greater than or equal to `port`"));
  return [...errors, ...invalidEach(end, endPort, isPortNumber(endPort))];
}

function validatePeer(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  path: FieldPath,
  { allowsInvalidValues, strictness }: Leniency,
): FieldError[] {
  const errors = [
    ...validateLabelSelector(podSelector, path.child("podSelector"), allowsInvalidValues),
    ...validateLabelSelector(namespaceSelector, path.child("namespaceSelector"), allowsInvalidValues),
  ];
  const isSelecting = podSelector !== undefined || namespaceSelector !== undefined;
  if (ipBlock !== undefined) errors.push(...validateBlock(ipBlock, path.child("ipBlock"), strictness));
  if (ipBlock === undefined && !isSelecting) errors.push(required(path, "must specify a peer"));
  if (ipBlock !== undefined && isSelecting) errors.push(forbidden(path, "may not specify both ipBlock and another peer"));
  return errors;
}

/** An absent CIDR is told at the end of all faults. */
function validateBlock({ cidr = "", except = [] }: IPBlock, path: FieldPath, strictness: Strictness): FieldError[] {
  if (cidr === "") return [];
  const errors = validateCidr(cidr, path.child("cidr"), strictness);
  const outer = parseCidr(cidr, true);
  if (outer === undefined) return errors;
  except.forEach((text, index) => {
    const at = path.child("except").index(index);
    errors.push(...validateCidr(text, at, strictness));
    const inner = parseCidr(text, true);
    if (inner === undefined) return;
    const isStrictSubset = cidrContainsCidr(outer, inner) && !cidrContainsCidr(inner, outer);
    if (!isStrictSubset) errors.push(invalid(at, text, "must be a strict subset of `cidr`"));
  });
  return errors;
}

function hasInvalidSelector({ spec = {} }: NetworkPolicy): boolean {
  const peers = directions(spec).flatMap((direction) => direction.peers);
  return [spec.podSelector, ...peers.flatMap(({ podSelector, namespaceSelector }) => [podSelector, namespaceSelector])].some(hasInvalidLabelValue);
}

function policyWarnings({ spec = {} }: NetworkPolicy): string[] {
  return blocks(spec).flatMap(([{ cidr = "", except = [] }, path]) => [
    ...cidrWarnings(cidr, path.child("cidr")),
    ...except.flatMap((text, index) => cidrWarnings(text, path.child("except").index(index))),
  ]);
}

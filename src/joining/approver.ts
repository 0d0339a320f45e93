/**
 * Approves what nodes need beside their client certificate, which Kubernetes' own controller approves: a certificate for serving under their
 * own name and addresses, and one for the proxy that runs on them. Everything else waits for a person.
 */
import { parseCertificateRequest } from "../apimachinery/certificate-request.ts";
import type { DeepReadonly } from "../apimachinery/json.ts";
import { parseIp } from "../apimachinery/net.ts";
import type { CertificateSigningRequest } from "../api/certificates-v1/types.ts";
import type { Node } from "../api/core-v1/types.ts";
import type { PolicyRule } from "../api/rbac-v1/types.ts";
import type { Transport } from "../apimachinery/request.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { Client, edited, InformerSet, resources } from "../client/index.ts";
import { defineController, nothingToDo, ownKey, updateAction, watch } from "../operator/index.ts";
import type { Controller, Plan } from "../operator/index.ts";

export const proxyUser = "system:kube-proxy";
const servingSigner = "kubernetes.io/kubelet-serving";
const clientSigner = "kubernetes.io/kube-apiserver-client";

function nodeRequestApprover(): Controller {
  return defineController<ApprovalSnapshot>({
    name: "node-request-approver",
    watches: [watch(resources.certificateSigningRequests, { keys: ownKey }), watch(resources.nodes)],
    snapshot(name, caches) {
      const csr = caches.of(resources.certificateSigningRequests).get("", name);
      return csr && { csr, nodes: caches.of(resources.nodes).list() };
    },
    plan: planApproval,
  });
}

/** Runs until `signal` aborts. */
export async function runApprover(options: ApproverOptions, signal: AbortSignal): Promise<void> {
  const { transport, clock, random, log } = options;
  const client = new Client({ transport, clock, userAgent: "coracle-node-approver", signal });
  await using informers = new InformerSet({ client, clock, random, log });
  await nodeRequestApprover().run({ client, informers, events: { record: () => {} }, clock, random, log }, signal);
}

export interface ApproverOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** What it may do, for a ClusterRole. */
export function approverRules(): PolicyRule[] {
  const read = ["get", "list", "watch"];
  return [
    { apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests"], verbs: read },
    { apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests/approval"], verbs: ["update"] },
    { apiGroups: ["certificates.k8s.io"], resources: ["signers"], resourceNames: [servingSigner, clientSigner], verbs: ["approve"] },
    { apiGroups: [""], resources: ["nodes"], verbs: read },
  ];
}

export interface ApprovalSnapshot {
  readonly csr: DeepReadonly<CertificateSigningRequest>;
  readonly nodes: readonly DeepReadonly<Node>[];
}

export function planApproval(snapshot: ApprovalSnapshot): Plan {
  const { csr } = snapshot;
  const isAnswered = (csr.status?.certificate ?? "") !== "" || (csr.status?.conditions ?? []).length > 0;
  const message = isAnswered ? undefined : reasonToApprove(snapshot);
  if (message === undefined) return nothingToDo;
  const approved = edited<CertificateSigningRequest>(csr, (draft) => {
    draft.status = { ...draft.status, conditions: [{ type: "Approved", status: "True", reason: "AutoApproved", message }] };
  });
  return { actions: [updateAction(resources.certificateSigningRequests, approved, { subresource: "approval" })], reasons: [message] };
}

function reasonToApprove({ csr: { spec }, nodes }: ApprovalSnapshot): string | undefined {
  const [, nodeName] = /^system:node:(.+)$/.exec(spec.username ?? "") ?? [];
  if (nodeName === undefined || spec.groups?.includes("system:nodes") !== true) return undefined;
  const request = readable(spec.request);
  if (request === undefined || request.emails.length > 0 || request.uris.length > 0) return undefined;
  if (spec.signerName === clientSigner) {
    const isProxy = request.commonName === proxyUser && request.organizations.length === 0 && request.dnsNames.length + request.addresses.length === 0;
    return isProxy ? "The proxy of a node" : undefined;
  }
  if (spec.signerName !== servingSigner || request.commonName !== spec.username) return undefined;
  const taken = new Set(
    nodes.filter(({ metadata }) => metadata.name !== nodeName).flatMap(({ status }) => (status?.addresses ?? []).map(({ address }) => address)),
  );
  const isOwn = request.dnsNames.every((name) => name === nodeName) && request.addresses.every((address) => isOfMachine(address) && !taken.has(address));
  return isOwn ? "A node serves under its own name and addresses" : undefined;
}

/** Not loopback, link-local, multicast or unspecified: an address that others can mean. */
function isOfMachine(text: string): boolean {
  const address = parseIp(text);
  if (address === undefined) return false;
  return address.family === "IPv4" ? !/^(0|127|169\.254|22[4-9]|23\d)\./.test(text) : !/^(::1?$|fe[89ab]|ff)/i.test(text);
}

function readable(request: string) {
  try {
    return parseCertificateRequest(request);
  } catch {
    // What cannot be read is nobody's.
    return undefined;
  }
}

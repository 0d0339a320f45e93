/** Node authorization (documentation page "Using Node Authorization"): a kubelet sees what its own pods need. */
import data from "../../api/data/bootstrap-rbac.json" with { type: "json" };
import type { PolicyRule } from "../../api/rbac-v1/types.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { allowed, noOpinion } from "./authorizer.ts";
import type { Authorizer, Decision, ResourceAttributes } from "./authorizer.ts";
import type { NodeGraph, ReferredKind } from "./node-graph.ts";
import { nodeNameOf } from "./node-identity.ts";
import { ruleAllows } from "./rbac.ts";

/** Reads an object of the server's cache: `find("/pods", namespace, name)`. */
export type ObjectFinder = (resource: string, namespace: string, name: string) => KubeObject | undefined;

export function nodeAuthorizer(graph: NodeGraph, find: ObjectFinder): Authorizer {
  return {
    name: "node",
    authorize(attributes) {
      const nodeName = nodeNameOf(attributes.user);
      if (nodeName === undefined) return noOpinion;
      if (nodeName === "") return declined(`unknown node for user ${JSON.stringify(attributes.user.username)}`);
      if (attributes.kind === "resource") {
        const name = `${attributes.group}/${attributes.resource}`;
        const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
        if (rule !== undefined) return rule({ attributes, nodeName, graph, find });
      }
      return nodeRules.some((rule) => ruleAllows(rule, attributes)) ? allowed : noOpinion;
    },
  };
}

/** What every kubelet may do, whatever runs on it. */
const nodeRules = (data.objects.ClusterRole as { name: string; rules?: unknown }[]).find(({ name }) => name === "system:node")!.rules as readonly PolicyRule[];

interface Question {
  readonly attributes: ResourceAttributes;
  readonly nodeName: string;
  readonly graph: NodeGraph;
  readonly find: ObjectFinder;
}

type Rule = (question: Question) => Decision;

const rules: Readonly<Record<string, Rule>> = {
  "/secrets": (question) =>
    read(
      question,
      () => refers(question, "secret") || question.graph.needsSecretOfVolume(question.nodeName, question.attributes.namespace, question.attributes.name),
    ),
  "/configmaps": (question) => read(question, () => refers(question, "configmap")),
  "/persistentvolumeclaims": (question) =>
    question.attributes.subresource === "status" ? writeStatus(question, () => refers(question, "claim")) : get(question, () => refers(question, "claim")),
  "/persistentvolumes": (question) => get(question, () => question.graph.usesVolume(question.nodeName, question.attributes.name)),
  "/serviceaccounts": serviceAccount,
  "/nodes": node,
  "/pods": pod,
  "resource.k8s.io/resourceclaims": (question) => get(question, () => refers(question, "resourceclaim")),
  "resource.k8s.io/resourceslices": resourceSlice,
  "storage.k8s.io/volumeattachments": (question) => get(question, () => isOnNode(question, "storage.k8s.io/volumeattachments", "")),
  "storage.k8s.io/csinodes": csiNode,
  "coordination.k8s.io/leases": lease,
  "certificates.k8s.io/podcertificaterequests": podCertificateRequest,
};

const declined = (reason: string): Decision => ({ verdict: "no-opinion", reason });

function refers({ attributes, nodeName, graph }: Question, kind: ReferredKind): boolean {
  return graph.refers(nodeName, kind, attributes.namespace, attributes.name);
}

/** Whether the object's `spec.nodeName` is the node's. */
function isOnNode({ attributes, nodeName, find }: Question, resource: string, namespace: string): boolean {
  const found = find(resource, namespace, attributes.name);
  return (found?.["spec"] as { nodeName?: string } | undefined)?.nodeName === nodeName;
}

function ifRelated({ attributes, nodeName }: Question, isRelated: () => boolean): Decision {
  if (attributes.name === "") return declined("No Object name found");
  return isRelated() ? allowed : declined(`no relationship found between node '${nodeName}' and this object`);
}

function get(question: Question, isRelated: () => boolean): Decision {
  if (question.attributes.verb !== "get") return declined("can only get individual resources of this type");
  if (question.attributes.subresource !== "") return declined("cannot get subresource");
  return ifRelated(question, isRelated);
}

function read(question: Question, isRelated: () => boolean): Decision {
  const { verb, subresource, namespace } = question.attributes;
  if (!["get", "list", "watch"].includes(verb)) return declined("can only read resources of this type");
  if (subresource !== "") return declined("cannot read subresource");
  if (namespace === "") return declined("can only read namespaced object of this type");
  return ifRelated(question, isRelated);
}

function writeStatus(question: Question, isRelated: () => boolean): Decision {
  // Reading goes through the whole object, whatever the text says.
  if (!["update", "patch"].includes(question.attributes.verb)) return declined("can only get/update/patch this type");
  return ifRelated(question, isRelated);
}

function serviceAccount(question: Question): Decision {
  const { verb, subresource } = question.attributes;
  if (verb === "get" && subresource === "") return get(question, () => refers(question, "serviceaccount"));
  if (verb !== "create" || subresource !== "token") return declined("can only create tokens for individual service accounts");
  return ifRelated(question, () => refers(question, "serviceaccount"));
}

function lease({ attributes, nodeName }: Question): Decision {
  const { verb, namespace, name } = attributes;
  if (!["get", "create", "update", "patch", "delete"].includes(verb)) return declined("can only get, create, update, patch, or delete a node lease");
  if (namespace !== "kube-node-lease") return declined('can only access leases in the "kube-node-lease" system namespace');
  // The name of a new one is not known here; NodeRestriction looks at it.
  return verb !== "create" && name !== nodeName ? declined("can only access node lease with the same name as the requesting node") : allowed;
}

function csiNode({ attributes, nodeName }: Question): Decision {
  const { verb, subresource, name } = attributes;
  if (!["get", "create", "update", "patch", "delete"].includes(verb)) return declined("can only get, create, update, patch, or delete a CSINode");
  if (subresource !== "") return declined("cannot authorize CSINode subresources");
  return verb !== "create" && name !== nodeName ? declined("can only access CSINode with the same name as the requesting node") : allowed;
}

function resourceSlice(question: Question): Decision {
  const { verb, subresource } = question.attributes;
  if (subresource !== "") return declined("cannot authorize ResourceSlice subresources");
  switch (verb) {
    case "create":
      return allowed;
    case "get":
    case "update":
    case "patch":
    case "delete":
      return ifRelated(question, () => isOnNode(question, "resource.k8s.io/resourceslices", ""));
    case "list":
    case "watch":
    case "deletecollection":
      return selectsNode(question) ? allowed : declined("can only list/watch/deletecollection resourceslices with nodeName field selector");
    default:
      return declined("only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection");
  }
}

function node({ attributes, nodeName }: Question): Decision {
  const { verb, subresource, name } = attributes;
  const isWrite = verb === "update" || verb === "patch";
  if (subresource === "status") return isWrite ? allowed : noOpinion;
  if (subresource !== "") return noOpinion;
  if (verb === "create" || isWrite) return allowed;
  if (!["get", "list", "watch"].includes(verb)) return noOpinion;
  if (name === nodeName) return allowed;
  return declined(
    name === "" ? `node '${nodeName}' cannot read all nodes, only its own Node object` : `node '${nodeName}' cannot read '${name}', only its own Node object`,
  );
}

function pod(question: Question): Decision {
  const { verb, subresource, namespace } = question.attributes;
  switch (subresource) {
    case "":
      if (verb === "create" || verb === "delete") return allowed;
      if (verb === "get") return ifRelated(question, () => isOnNode(question, "/pods", namespace));
      if (verb !== "list" && verb !== "watch") return noOpinion;
      return selectsNode(question) ? allowed : declined("can only list/watch pods with spec.nodeName field selector");
    case "status":
      return verb === "update" || verb === "patch" ? allowed : noOpinion;
    case "eviction":
      return verb === "create" ? allowed : noOpinion;
    default:
      return noOpinion;
  }
}

function podCertificateRequest(question: Question): Decision {
  const { verb, subresource, namespace } = question.attributes;
  if (subresource !== "") return declined("cannot authorize PodCertificateRequest subresources");
  switch (verb) {
    case "create":
      return allowed;
    case "get":
      return ifRelated(question, () => isOnNode(question, "certificates.k8s.io/podcertificaterequests", namespace));
    case "list":
    case "watch":
      return selectsNode(question) ? allowed : declined("can only list/watch podcertificaterequests with nodeName field selector");
    default:
      return noOpinion;
  }
}

function selectsNode({ attributes, nodeName }: Question): boolean {
  return (attributes.fieldSelector ?? []).some(({ field, isEqual, value }) => field === "spec.nodeName" && isEqual && value === nodeName);
}

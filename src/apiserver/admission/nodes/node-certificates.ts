/** Certificates that a kubelet asks for: its own, and those of its pods. */
import type { CertificateSigningRequest, PodCertificateRequest } from "../../../api/certificates-v1/types.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import { notFoundError } from "../../../apimachinery/status.ts";
import { findObject } from "../../registry/rule-context.ts";
import { requestSubject } from "../certificates/request-subject.ts";
import { refuse } from "../refuse.ts";
import type { NodeCheck } from "./node-restriction.ts";

const nodeSigners = new Set(["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"]);

export const checkCertificateRequest: NodeCheck = (request, nodeName) => {
  if (request.operation !== "CREATE" || request.subresource !== "") return;
  const { spec } = request.object as unknown as CertificateSigningRequest;
  if (!nodeSigners.has(spec.signerName)) return;
  const subject = requestSubject(spec.request);
  if (subject === undefined) throw refuse(request, "unable to parse csr");
  if (subject.commonName !== `system:node:${nodeName}`) throw refuse(request, `can only create a node CSR with CN=system:node:${nodeName}`);
};

export const checkPodCertificateRequest: NodeCheck = (request, nodeName) => {
  if (request.operation !== "CREATE" || request.subresource !== "") return;
  const { spec } = request.object as unknown as PodCertificateRequest;
  if (spec.nodeName !== nodeName)
    throw refuse(request, `PodCertificateRequest.Spec.NodeName=${JSON.stringify(spec.nodeName)}, which is not the requesting node ${JSON.stringify(nodeName)}`);
  const pod = findObject(request.context.server, "/pods", request.namespace, spec.podName) as unknown as Pod | undefined;
  if (pod === undefined) throw notFoundError({ group: "", resource: "pod" }, spec.podName);
  if (pod.metadata.uid !== spec.podUID)
    throw refuse(
      request,
      `PodCertificateRequest for pod "${request.namespace}/${spec.podName}" contains pod UID ${JSON.stringify(spec.podUID)} which differs from running pod ${JSON.stringify(pod.metadata.uid)}`,
    );
  if (pod.spec?.nodeName !== nodeName) throw refuse(request, `pod "${request.namespace}/${spec.podName}" is not running on node ${JSON.stringify(nodeName)}`);
  if (pod.spec.serviceAccountName !== spec.serviceAccountName)
    throw refuse(
      request,
      `PodCertificateRequest for pod "${request.namespace}/${spec.podName}" contains serviceAccountName (${JSON.stringify(spec.serviceAccountName)}) that differs from running pod (${JSON.stringify(pod.spec.serviceAccountName)})`,
    );
};

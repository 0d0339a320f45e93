import { deepEqual } from "../../apimachinery/json.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, invalidWithoutValue, notSupported, tooLong } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isDns1123Subdomain, isQualifiedName, subdomainName } from "../../apimachinery/names.ts";
import { validateConditions } from "../meta/conditions.ts";
import { internalForm } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers, restoreMetadata } from "../update-rules.ts";
import { parseCertificate } from "./certificate-request-rules.ts";
import { decodePem } from "./pem.ts";
import { parseCertificationRequest } from "./pkcs10.ts";
import { validateSignerName } from "./signer-name.ts";
import type { PodCertificateRequest, PodCertificateRequestSpec } from "./types.ts";

export const podCertificateRequests = defineKind<PodCertificateRequest>({
  gvk: { group: "certificates.k8s.io", version: "v1", kind: "PodCertificateRequest" },
  nameRule: subdomainName,
  generation: "none",
  defaults(request) {
    const spec = (request.spec ??= {} as PodCertificateRequestSpec);
    spec.maxExpirationSeconds ??= 86_400;
  },
  create: {
    prepare(request) {
      delete request.status;
    },
    validate: ({ spec }) => validateSpec(spec ?? {}),
  },
  update: {
    prepare: (request, old) => restoreMembers(request, old, "status"),
    validate: validateSpecUpdate,
    resetFields: ["status"],
    allowsUnconditional: false,
  },
  status: {
    prepare(request, old) {
      restoreMembers(request, old, "spec");
      restoreMetadata(request, old);
    },
    validate: validateStatus,
    resetFields: ["metadata", "spec"],
  },
  selectableFields: ({ metadata, spec }) => ({
    "metadata.name": metadata.name ?? "",
    "spec.nodeName": spec?.nodeName ?? "",
    "spec.podName": spec?.podName ?? "",
    "spec.signerName": spec?.signerName ?? "",
  }),
});

const path = FieldPath.root("spec");
const maxUidBytes = 128;
const minExpirationSeconds = 3600;
const maxExpirationSeconds = 91 * 86_400;
/** For signers of Kubernetes itself. */
const maxSystemExpirationSeconds = 86_400;
const finalTypes = ["Denied", "Failed", "Issued"];

function validateSpec(spec: Partial<PodCertificateRequestSpec>): FieldError[] {
  const { signerName = "", maxExpirationSeconds: seconds = 0, unverifiedUserAnnotations = {} } = spec;
  const longest = signerName.startsWith("kubernetes.io/") ? maxSystemExpirationSeconds : maxExpirationSeconds;
  const errors = [
    ...validateSignerName(signerName, path.child("signerName")),
    ...validateName(spec.podName, path.child("podName")),
    ...validateUid(spec.podUID, path.child("podUID")),
    ...validateName(spec.serviceAccountName, path.child("serviceAccountName")),
    ...validateUid(spec.serviceAccountUID, path.child("serviceAccountUID")),
    ...validateName(spec.nodeName, path.child("nodeName")),
    ...validateUid(spec.nodeUID, path.child("nodeUID")),
  ];
  if (seconds < minExpirationSeconds || seconds > longest)
    errors.push(invalid(path.child("maxExpirationSeconds"), seconds, `must be in the range [${minExpirationSeconds}, ${longest}]`));
  if (!spec.stubPKCS10Request) errors.push(invalidWithoutValue(path, "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"));
  else if (parseCertificationRequest(Buffer.from(spec.stubPKCS10Request, "base64")) === undefined)
    errors.push(invalidWithoutValue(path.child("stubPKCS10Request"), "must be a valid PKCS#10 CSR"));
  const annotations = Object.keys(unverifiedUserAnnotations).sort();
  return [...errors, ...annotations.flatMap((key) => invalidEach(path.child("unverifiedUserAnnotations"), key, isQualifiedName(key)))];
}

function validateSpecUpdate(request: PodCertificateRequest, old: PodCertificateRequest): FieldError[] {
  if (deepEqual(request.spec, old.spec)) return [];
  // Two fields that only the internal version still has stand before the request.
  const form = Object.entries(internalForm("api.certificates.v1.PodCertificateRequestSpec", request.spec) as object);
  const place = form.findIndex(([name]) => name === "StubPKCS10Request");
  form.splice(place, 0, ["PKIXPublicKey", null], ["ProofOfPossession", null]);
  return [invalid(path, Object.fromEntries(form), "field is immutable")];
}

/** A request is answered once: issued, denied or failed. */
function validateStatus(request: PodCertificateRequest, old: PodCertificateRequest): FieldError[] {
  const at = FieldPath.root("status");
  const conditions = request.status?.conditions ?? [];
  const isFinal = (candidate: PodCertificateRequest) => candidate.status?.conditions?.some(({ type }) => finalTypes.includes(type)) === true;
  if (deepEqual(request.status ?? {}, old.status ?? {})) return [];
  if (!isFinal(request)) return [invalidWithoutValue(at, 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"')];
  const errors = validateConditions(conditions, at.child("conditions"));
  let answers = 0;
  conditions.forEach(({ type, status }, index) => {
    if (!finalTypes.includes(type)) return;
    answers++;
    const place = at.child("conditions", `[${index}]`);
    if (status !== "True") errors.push(notSupported(place.child("status"), status, ["True"]));
    if (answers > 1) errors.push(invalid(place.child("type"), type, 'There may be at most one condition with type "Issued", "Denied", or "Failed"'));
  });
  const isIssued = conditions.some(({ type, status }) => type === "Issued" && status === "True");
  return isIssued ? [...errors, ...validateChain(request, at.child("certificateChain"))] : errors;
}

function validateChain({ spec, status }: PodCertificateRequest, at: FieldPath): FieldError[] {
  const chain = status?.certificateChain ?? "";
  const leaf = decodePem(chain)[0];
  if (leaf === undefined) return [invalid(at, chain, "issued certificate chain must contain at least one certificate")];
  const certificate = leaf.type === "CERTIFICATE" ? parseCertificate(leaf.bytes) : undefined;
  const wanted = parseCertificationRequest(Buffer.from(spec?.stubPKCS10Request ?? "", "base64"));
  const key = certificate?.publicKey.export({ format: "der", type: "spki" });
  const isSameKey = key !== undefined && wanted !== undefined && Buffer.from(wanted.publicKey).equals(Buffer.from(key));
  return isSameKey ? [] : [invalid(at, chain, "leaf certificate was not issued to the requested public key")];
}

function validateName(name = "", at: FieldPath): FieldError[] {
  return invalidEach(at, name, isDns1123Subdomain(name));
}

function validateUid(uid = "", at: FieldPath): FieldError[] {
  if (uid === "") return [invalid(at, uid, "must not be empty")];
  return byteLength(uid) > maxUidBytes ? [tooLong(at, maxUidBytes)] : [];
}

/** Rules of signing requests: what is asked for, and the conditions and certificate that answer it (KEP-1513). */
import { X509Certificate } from "node:crypto";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { duplicate, forbidden, invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { decodePem } from "./pem.ts";
import { parseCertificationRequest } from "./pkcs10.ts";
import { validateSignerName } from "./signer-name.ts";
import type { CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestSpec } from "./types.ts";

/** What the path of an update may set. */
export interface AllowedChanges {
  readonly approval?: boolean;
  readonly certificate?: boolean;
}

export function validateRequest(request: CertificateSigningRequest): FieldError[] {
  return [...validateSpec(request.spec ?? {}), ...validateConditions(request)];
}

export function validateRequestUpdate(request: CertificateSigningRequest, old: CertificateSigningRequest, allowed: AllowedChanges): FieldError[] {
  const path = FieldPath.root("status");
  const errors = validateConditions(request);
  for (const type of finalTypes) {
    if (conditionsOf(request, type).length < conditionsOf(old, type).length)
      errors.push(forbidden(path.child("conditions"), `updates may not remove a condition of type ${JSON.stringify(type)}`));
  }
  for (const type of allowed.approval === true ? [] : approvalTypes) {
    const [now, before] = [conditionsOf(request, type), conditionsOf(old, type)];
    if (now.length > before.length) errors.push(forbidden(path.child("conditions"), `updates may not add a condition of type ${JSON.stringify(type)}`));
    else if (now.length === before.length && !deepEqual(now, before))
      errors.push(forbidden(path.child("conditions"), `updates may not modify a condition of type ${JSON.stringify(type)}`));
  }
  return [...errors, ...validateCertificateUpdate(request, old, allowed)];
}

const approvalTypes = ["Approved", "Denied"];
const finalTypes = [...approvalTypes, "Failed"];
const legacySigner = "kubernetes.io/legacy-unknown";
const minExpirationSeconds = 600;
const usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

function validateSpec(spec: Partial<CertificateSigningRequestSpec>): FieldError[] {
  const path = FieldPath.root("spec");
  const { request, signerName = "", expirationSeconds, usages: wanted = [] } = spec;
  const fault = requestFault(request ?? "");
  const errors = fault === undefined ? [] : [invalid(path.child("request"), request, fault)];
  if (wanted.length === 0) errors.push(required(path.child("usages")));
  wanted.forEach((usage, index) => {
    if (!usages.includes(usage)) errors.push(notSupported(path.child("usages").index(index), usage, usages));
    if (wanted.indexOf(usage) < index) errors.push(duplicate(path.child("usages").index(index), usage));
  });
  if (signerName === legacySigner) errors.push(invalid(path.child("signerName"), signerName, "the legacy signerName is not allowed via this API version"));
  else errors.push(...validateSignerName(signerName, path.child("signerName")));
  if (expirationSeconds !== undefined && expirationSeconds < minExpirationSeconds) {
    errors.push(invalid(path.child("expirationSeconds"), expirationSeconds, "may not specify a duration less than 600 seconds (10 minutes)"));
  }
  return errors;
}

/** `request` is PEM in base64. */
function requestFault(request: string): string | undefined {
  const block = decodePem(Buffer.from(request, "base64").toString("latin1"))[0];
  if (block?.type !== "CERTIFICATE REQUEST") return "PEM block type must be CERTIFICATE REQUEST";
  const parsed = parseCertificationRequest(block.bytes);
  if (parsed === undefined) return structureFault(block.bytes);
  return parsed.isSelfSigned ? undefined : "x509: signature verification failed";
}

/** What Go's ASN.1 decoder says when it finds something else than the sequence that a request is. */
function structureFault([first = 0, length = 0]: Uint8Array): string {
  const found = `{class:${first >> 6} tag:${first & 0x1f} length:${length & 0x7f} isCompound:${(first & 0x20) !== 0}}`;
  const wanted =
    "{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}";
  return first === 0x30 ? "asn1: syntax error: data truncated" : `asn1: structure error: tags don't match (16 vs ${found}) ${wanted} certificateRequest @2`;
}

function validateConditions(request: CertificateSigningRequest): FieldError[] {
  const path = FieldPath.root("status", "conditions");
  const seen = new Set<string>();
  const errors = (request.status?.conditions ?? []).flatMap(({ type = "", status = "" }, index) => {
    const at = path.index(index);
    const faults = type === "" ? [required(at.child("type"))] : [];
    const words = finalTypes.includes(type) ? ["True"] : ["False", "True", "Unknown"];
    if (status === "") faults.push(required(at.child("status")));
    else if (!words.includes(status)) faults.push(notSupported(at.child("status"), status, words));
    if (seen.has(type)) faults.push(duplicate(at.child("type"), type));
    seen.add(type);
    return faults;
  });
  if (approvalTypes.every((type) => seen.has(type))) {
    const members = approvalTypes.map((type) => `conditions[{"type": "${type}"}]`);
    errors.push(invalid(path, `{${members.join(", ")}}`, `must specify at most one of: ${members.map((member) => `\`${member}\``).join(", ")}`));
  }
  return errors;
}

function validateCertificateUpdate(request: CertificateSigningRequest, old: CertificateSigningRequest, allowed: AllowedChanges): FieldError[] {
  const path = FieldPath.root("status", "certificate");
  const certificate = request.status?.certificate ?? "";
  const before = old.status?.certificate ?? "";
  if (certificate === before) return [];
  const fault = certificate === "" ? undefined : certificateFault(certificate);
  const errors = fault === undefined ? [] : [invalid(path, "<certificate data>", fault)];
  if (allowed.certificate !== true) errors.push(forbidden(path, "updates may not set certificate content"));
  else if (before !== "") errors.push(forbidden(path, "updates may not modify existing certificate content"));
  return errors;
}

/** `certificate` is PEM in base64. */
function certificateFault(certificate: string): string | undefined {
  const blocks = decodePem(Buffer.from(certificate, "base64").toString("latin1"));
  if (blocks.length === 0) return "must contain at least one CERTIFICATE PEM block";
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return "no PEM block headers are permitted";
    if (parseCertificate(bytes) === undefined) return "x509: malformed certificate";
  }
  return undefined;
}

/** The certificate in `bytes` (DER), or undefined when it is none. */
export function parseCertificate(bytes: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    // node:crypto tells by throwing; what it says is of no use to the caller.
    return undefined;
  }
}

function conditionsOf(request: CertificateSigningRequest, type: string): CertificateSigningRequestCondition[] {
  return (request.status?.conditions ?? []).filter((condition) => condition.type === type);
}

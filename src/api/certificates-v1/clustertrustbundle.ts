import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, tooLong } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { immutable } from "../update-rules.ts";
import { parseCertificate } from "./certificate-request-rules.ts";
import { decodePem } from "./pem.ts";
import { validateSignerName } from "./signer-name.ts";
import type { ClusterTrustBundle } from "./types.ts";

export const clusterTrustBundles = defineKind<ClusterTrustBundle>({
  gvk: { group: "certificates.k8s.io", version: "v1", kind: "ClusterTrustBundle" },
  // More of the rule depends on the signer: see `validateBundle`.
  // (A whole name is checked together with the signer, below.)
  nameRule: (name, isPrefix) => (isPrefix === true ? subdomainName(name, true) : []),
  generation: "none",
  create: { validate: validateBundle },
  update: {
    validate: (bundle, old) => [
      ...validateBundle(bundle),
      ...immutable(FieldPath.root("spec", "signerName"), bundle.spec?.signerName ?? "", old.spec?.signerName ?? ""),
    ],
    allowsUnconditional: false,
  },
  selectableFields: ({ metadata, spec }) => ({ "metadata.name": metadata.name ?? "", "spec.signerName": spec?.signerName ?? "" }),
});

const maxBundleBytes = 1024 * 1024;

function validateBundle({ metadata, spec }: ClusterTrustBundle): FieldError[] {
  const { signerName = "", trustBundle = "" } = spec ?? {};
  const name = metadata.name ?? "";
  const path = FieldPath.root("spec");
  return [
    ...invalidEach(FieldPath.root("metadata", "name"), name, name === "" ? [] : nameFaults(name, signerName)),
    ...(signerName === "" ? [] : validateSignerName(signerName, path.child("signerName"))),
    ...validateTrustBundle(trustBundle, path.child("trustBundle")),
  ];
}

function nameFaults(name: string, signerName: string): string[] {
  if (signerName === "") return name.includes(":") ? ['ClusterTrustBundle without signer name must not have ":" in its name'] : subdomainName(name);
  const prefix = `${signerName.replaceAll("/", ":")}:`;
  return name.startsWith(prefix)
    ? subdomainName(name.slice(prefix.length))
    : [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`];
}

/** Certificates of authorities, each once. The bundle itself is not shown in faults. */
function validateTrustBundle(bundle: string, path: FieldPath): FieldError[] {
  if (byteLength(bundle) > maxBundleBytes) return [tooLong(path, maxBundleBytes)];
  const places = new Map<string, number[]>();
  const faults = decodePem(bundle).flatMap(({ type, hasHeaders, bytes }, index) => {
    if (type !== "CERTIFICATE") return [`entry ${index} has bad block type: ${type}`];
    if (hasHeaders) return [`entry ${index} has PEM block headers`];
    const certificate = parseCertificate(bytes);
    if (certificate === undefined) return [`entry ${index} does not parse as X.509`];
    if (!certificate.ca) return [`entry ${index} does not have the CA bit set`];
    const key = Buffer.from(bytes).toString("base64");
    places.set(key, [...(places.get(key) ?? []), index]);
    return [];
  });
  if (faults.length === 0) {
    if (places.size === 0) faults.push("at least one trust anchor must be provided");
    for (const indices of places.values()) if (indices.length > 1) faults.push(`duplicate trust anchor (indices [${indices.join(" ")}])`);
  }
  return faults.map((fault) => invalid(path, "<value omitted>", fault));
}

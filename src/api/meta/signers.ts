/** Rules of the names of certificate signers (documentation page "Certificates and Certificate Signing Requests"). */
import { invalid, required, tooLong } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isDns1123Label, isDns1123Subdomain } from "../../apimachinery/names.ts";

/** `example.com/signer-name`. */
export function validateSignerName(name: string, path: FieldPath): FieldError[] {
  if (name === "") return [required(path)];
  const segments = name.split("/");
  if (segments.length !== 2) return [invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  const [domain, signer] = segments as [string, string];
  const errors: FieldError[] = [];
  const inLabel = (segment: string, label: string, faults: readonly string[]) =>
    errors.push(...faults.map((fault) => invalid(path, segment, `validating label ${JSON.stringify(label)}: ${fault}`)));
  if (byteLength(domain) > 253) errors.push(tooLong(path, 253));
  for (const label of domain.split(".")) inLabel(domain, label, isDns1123Label(label));
  if (!domain.includes(".")) errors.push(invalid(path, domain, "should be a domain with at least two segments separated by dots"));
  for (const label of signer.split(".")) inLabel(signer, label, isDns1123Subdomain(label));
  if (byteLength(name) > 507) errors.push(tooLong(path, 507));
  return errors;
}

/** Name of a ClusterTrustBundle: of a signer's it begins with the signer's name, with a colon for the slash, and a colon. */
export function trustBundleNameFaults(name: string, signerName: string): string[] {
  if (signerName === "") return name.includes(":") ? ['ClusterTrustBundle without signer name must not have ":" in its name'] : isDns1123Subdomain(name);
  const prefix = `${signerName.replaceAll("/", ":")}:`;
  if (!name.startsWith(prefix)) return [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`];
  return isDns1123Subdomain(name.slice(prefix.length));
}

/** The signer that the name of a ClusterTrustBundle tells, or an empty text. */
export function signerOfTrustBundle(name: string): string {
  const end = name.lastIndexOf(":");
  return end < 0 ? "" : name.slice(0, end).replace(":", "/");
}

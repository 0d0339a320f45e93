/** Rule of signer names, `example.com/signer-name` (documentation page "Certificates and Certificate Signing Requests"). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, required, tooLong } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isDns1123Label, isDns1123Subdomain } from "../../apimachinery/names.ts";

const maxDomainBytes = 253;
/** A domain, a slash, and a path of a subdomain, a dot and a label. */
const maxNameBytes = maxDomainBytes + 1 + 253 + 1 + 63;

export function validateSignerName(name: string, at: FieldPath): FieldError[] {
  if (name === "") return [required(at)];
  const [domain = "", path, ...more] = name.split("/");
  if (path === undefined || more.length > 0) return [invalid(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  const labelFaults = (labels: string, rule: (label: string) => string[]) =>
    labels.split(".").flatMap((label) => rule(label).map((fault) => `validating label ${JSON.stringify(label)}: ${fault}`));
  const errors = byteLength(domain) > maxDomainBytes ? [tooLong(at, maxDomainBytes)] : [];
  errors.push(...invalidEach(at, domain, labelFaults(domain, isDns1123Label)));
  if (!domain.includes(".")) errors.push(invalid(at, domain, "should be a domain with at least two segments separated by dots"));
  errors.push(...invalidEach(at, path, labelFaults(path, isDns1123Subdomain)));
  if (byteLength(name) > maxNameBytes) errors.push(tooLong(at, maxNameBytes));
  return errors;
}

/** Rules of the options of Windows containers. */
import { invalid, invalidEach } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { rawNumber } from "../../../apimachinery/json.ts";
import { byteLength, isDns1123Subdomain } from "../../../apimachinery/names.ts";
import type { WindowsSecurityContextOptions } from "../types.ts";

const maxCredentialSpecBytes = 64 * 1024;

export function validateWindowsOptions(options: WindowsSecurityContextOptions | undefined, path: FieldPath): FieldError[] {
  if (options === undefined) return [];
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  const errors: FieldError[] = [];
  if (gmsaCredentialSpecName !== undefined)
    errors.push(...invalidEach(path.child("gmsaCredentialSpecName"), gmsaCredentialSpecName, isDns1123Subdomain(gmsaCredentialSpecName)));
  if (gmsaCredentialSpec !== undefined) {
    const at = path.child("gmsaCredentialSpec");
    if (gmsaCredentialSpec === "") errors.push(invalid(at, gmsaCredentialSpec, "gmsaCredentialSpec cannot be an empty string"));
    else if (byteLength(gmsaCredentialSpec) > maxCredentialSpecBytes)
      errors.push(invalid(at, gmsaCredentialSpec, "gmsaCredentialSpec size must be under 64 KiB"));
  }
  if (runAsUserName !== undefined) errors.push(...invalidEach(path.child("runAsUserName"), asJson(runAsUserName), userNameFaults(runAsUserName)));
  return errors;
}

/** Texts behind pointers are shown as Go's JSON, not as Go's quoted strings. */
function asJson(text: string): unknown {
  return rawNumber(JSON.stringify(text).replace(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`));
}

const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsName = /^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)*$/;

/** `DOMAIN\user` or `user`. */
function userNameFaults(name: string): string[] {
  const parts = name.split("\\");
  if (name === "") return ["runAsUserName cannot be an empty string"];
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(name)) return ["runAsUserName cannot contain control characters"];
  if (parts.length > 2) return ["runAsUserName cannot contain more than one backslash"];
  const faults: string[] = [];
  const user = parts.at(-1)!;
  if (parts.length === 2) {
    const domain = parts[0]!;
    if (byteLength(domain) >= 256) faults.push("runAsUserName's Domain length must be under 256 characters");
    if (!netBiosName.test(domain) && !(dnsName.test(domain) && domain.split(".").every((label) => label.length <= 63)))
      faults.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === "") return [...faults, "runAsUserName's User cannot be empty"];
  if (byteLength(user) > 104) faults.push("runAsUserName's User length must not be longer than 104 characters");
  if (/^[. ]+$/.test(user)) faults.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) faults.push("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
  return faults;
}

/** Rules of DNS settings and host aliases. */
import { invalid, invalidEach, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { byteLength, isDns1123Subdomain, isDns1123SubdomainWithUnderscore } from "../../../apimachinery/names.ts";
import { validateIp } from "../../../apimachinery/net.ts";
import type { Strictness } from "../../../apimachinery/net.ts";
import type { HostAlias, PodDNSConfig } from "../types.ts";

const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const maxNameservers = 3;
const maxSearches = 32;
const maxSearchBytes = 2048;

export function validateDnsPolicy(policy: string | undefined, path: FieldPath): FieldError[] {
  if (!policy) return [required(path)];
  return dnsPolicies.includes(policy) ? [] : [notSupported(path, policy, dnsPolicies)];
}

export function validateDnsConfig(config: PodDNSConfig | undefined, policy: string | undefined, strictness: Strictness, path: FieldPath): FieldError[] {
  if (policy === "None") {
    if (config === undefined) return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")];
    if ((config.nameservers ?? []).length === 0)
      return [required(path.child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")];
  }
  if (config === undefined) return [];
  const { nameservers = [], searches = [], options = [] } = config;
  const errors: FieldError[] = [];
  if (nameservers.length > maxNameservers)
    errors.push(invalid(path.child("nameservers"), nameservers, `must not have more than ${maxNameservers} nameservers`));
  nameservers.forEach((address, index) => errors.push(...validateIp(address, path.child("nameservers").index(index), strictness)));
  if (searches.length > maxSearches) errors.push(invalid(path.child("searches"), searches, `must not have more than ${maxSearches} search paths`));
  if (byteLength(searches.join(" ")) > maxSearchBytes)
    errors.push(invalid(path.child("searches"), searches, `must not have more than ${maxSearchBytes} characters (including spaces) in the search list`));
  searches.forEach((search, index) => {
    if (search === ".") return;
    const name = search.replace(/\.$/, "");
    errors.push(...invalidEach(path.child("searches").index(index), name, isDns1123SubdomainWithUnderscore(name)));
  });
  options.forEach(({ name }, index) => {
    if (!name) errors.push(required(path.child("options").index(index), "must not be empty"));
  });
  return errors;
}

export function validateHostAliases(aliases: readonly HostAlias[], strictness: Strictness, path: FieldPath): FieldError[] {
  return aliases.flatMap(({ ip = "", hostnames = [] }, index) => {
    const at = path.index(index);
    return [
      ...validateIp(ip, at.child("ip"), strictness),
      ...hostnames.flatMap((name, host) => invalidEach(at.child("hostnames").index(host), name, isDns1123Subdomain(name))),
    ];
  });
}

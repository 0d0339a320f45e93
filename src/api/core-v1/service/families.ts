/** The address families of a Service: what the client may ask for, and what follows where it does not say (KEP 563). */
import { duplicate, invalid, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { ipFamilyOf, parseCidr, validateIp } from "../../../apimachinery/net.ts";
import type { IpFamily, Strictness } from "../../../apimachinery/net.ts";
import type { Service, ServiceSpec } from "../types.ts";
import { isHeadless } from "./needs.ts";

const spec = FieldPath.root("spec");
const families: readonly string[] = ["IPv4", "IPv6"];
const policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const maxAddresses = 2;

/** Families of the server's ranges, the default one first. */
export function familiesOf(serviceCidrs: readonly string[]): IpFamily[] {
  return serviceCidrs.map((cidr) => parseCidr(cidr)?.family ?? "IPv4");
}

/** Fills `ipFamilyPolicy` and `ipFamilies`. The faults returned are all there are to report: other rules would build on what is wrong. */
export function settleFamilies(service: Service, old: Service | undefined, cluster: readonly IpFamily[], strictness: Strictness): FieldError[] {
  const wanted = (service.spec ??= {});
  if (wanted.type === "ExternalName" || (old !== undefined && isUnchangedPreference(service, old))) return [];
  const isBare = wanted.clusterIP === "None" && Object.keys(wanted.selector ?? {}).length === 0;
  const malformed = validateFamilyFields(service, old, strictness);
  if (malformed.length > 0) return malformed;
  const released = validateReleases(service, old);
  if (released.length > 0) return released;
  const errors = inferFamilies(service, cluster);
  if (errors.length > 0) return errors;
  errors.push(...validateSingleStack({ ...wanted, ipFamilyPolicy: wanted.ipFamilyPolicy ?? (isBare ? "RequireDualStack" : "SingleStack") }));
  if (errors.length > 0) return errors;
  if (isBare) {
    wanted.ipFamilyPolicy ??= "RequireDualStack";
    if ((wanted.ipFamilies ?? []).length === 0) wanted.ipFamilies = [cluster[0] ?? "IPv4"];
    if (wanted.ipFamilyPolicy !== "SingleStack") addOther(wanted.ipFamilies!);
    return [];
  }
  wanted.ipFamilyPolicy ??= "SingleStack";
  errors.push(...validateStacks(service, cluster));
  if (errors.length > 0) return errors;
  if ((wanted.ipFamilies ?? []).length === 0) wanted.ipFamilies = [cluster[0] ?? "IPv4"];
  if (wanted.ipFamilyPolicy !== "SingleStack" && cluster.length > 1) addOther(wanted.ipFamilies!);
  return [];
}

/** What the fields say by themselves and about each other. */
export function validateFamilyFields(service: Service, old: Service | undefined, strictness: Strictness): FieldError[] {
  const { clusterIP = "", clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = service.spec ?? {};
  const path = spec.child("clusterIPs");
  const errors: FieldError[] = [];
  if (clusterIP !== "") {
    if (clusterIPs.length === 0) errors.push(required(path));
    else if (clusterIPs[0] !== clusterIP) errors.push(invalid(path, clusterIPs, "first value must match `clusterIP`"));
  } else if (clusterIPs.length > 0) {
    errors.push(invalid(path, clusterIPs, "must be empty when `clusterIP` is not specified"));
  }
  ipFamilies.forEach((family, index) => {
    const at = spec.child("ipFamilies").index(index);
    if (!families.includes(family)) errors.push(notSupported(at, family, families));
    if (ipFamilies.indexOf(family) < index) errors.push(duplicate(at, family));
  });
  if (ipFamilyPolicy !== undefined && !policies.includes(ipFamilyPolicy)) errors.push(notSupported(spec.child("ipFamilyPolicy"), ipFamilyPolicy, policies));
  const { errors: addressErrors, areValid } = validateAddresses(clusterIPs, old?.spec?.clusterIPs ?? [], strictness);
  errors.push(...addressErrors);
  if (clusterIPs.length > maxAddresses) errors.push(invalid(path, clusterIPs, "may only hold up to 2 values"));
  if (!areValid) return errors;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(ipFamilyOf)).size < 2)
    errors.push(invalid(path, clusterIPs, "may specify no more than one IP for each IP family"));
  if (isHeadless(service)) return errors;
  ipFamilies.slice(0, clusterIPs.length).forEach((family, index) => {
    const address = clusterIPs[index]!;
    if (families.includes(family) && ipFamilyOf(address) !== family)
      errors.push(invalid(path.index(index), address, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``));
  });
  return errors;
}

function validateAddresses(addresses: readonly string[], existing: readonly string[], strictness: Strictness): { errors: FieldError[]; areValid: boolean } {
  const path = spec.child("clusterIPs");
  const errors = addresses.flatMap((address, index) => {
    if (index === 0 && address === "None") return addresses.length > 1 ? [invalid(path, addresses, "'None' must be the first and only value")] : [];
    return existing.includes(address) ? [] : validateIp(address, path.index(index), strictness);
  });
  return { errors, areValid: errors.length === 0 };
}

/** Addresses tell their families; those must be the server's. */
function inferFamilies({ spec: wanted = {} }: Service, cluster: readonly IpFamily[]): FieldError[] {
  const errors: FieldError[] = [];
  const found = [...(wanted.ipFamilies ?? [])];
  (wanted.clusterIPs ?? []).forEach((address, index) => {
    if (address === "None" || index < found.length) return;
    const family = ipFamilyOf(address)!;
    if (cluster.includes(family)) found.push(family);
    else errors.push(invalid(spec.child("clusterIPs").index(index), wanted.clusterIPs, `${family} is not configured on this cluster`));
  });
  if (found.length > 0) wanted.ipFamilies = found;
  return errors;
}

/** A second address or family goes only by a policy that says so. */
function validateReleases({ spec: now = {} }: Service, old: Service | undefined): FieldError[] {
  const policy = now.ipFamilyPolicy;
  if (old === undefined || policy === undefined || policy === "SingleStack") return [];
  const isReleased = (field: "clusterIPs" | "ipFamilies") => (old.spec?.[field] ?? []).length === 2 && (now[field] ?? []).length === 1;
  const fault = (what: string) => [invalid(spec.child("ipFamilyPolicy"), policy, `must be 'SingleStack' to release the secondary ${what}`)];
  if (isReleased("clusterIPs")) return fault("cluster IP");
  return isReleased("ipFamilies") ? fault("IP family") : [];
}

function validateSingleStack({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): FieldError[] {
  if (ipFamilyPolicy !== "SingleStack") return [];
  const path = spec.child("ipFamilyPolicy");
  const text = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  if (clusterIPs.length > 1) return [invalid(path, ipFamilyPolicy, `${text} cluster IPs are specified`)];
  return ipFamilies.length > 1 ? [invalid(path, ipFamilyPolicy, `${text} IP families are specified`)] : [];
}

/** What the policy and the families ask of the cluster. */
function validateStacks({ spec: wanted = {} }: Service, cluster: readonly IpFamily[]): FieldError[] {
  const errors: FieldError[] = [];
  if (wanted.ipFamilyPolicy === "RequireDualStack" && cluster.length < 2) {
    errors.push(invalid(spec.child("ipFamilyPolicy"), wanted.ipFamilyPolicy, "this cluster is not configured for dual-stack services"));
  }
  (wanted.ipFamilies ?? []).forEach((family, index) => {
    if (!cluster.includes(family as IpFamily)) errors.push(invalid(spec.child("ipFamilies").index(index), family, "not configured on this cluster"));
  });
  return errors;
}

function addOther(list: string[]): void {
  if (list.length === 1) list.push(list[0] === "IPv4" ? "IPv6" : "IPv4");
}

/** A preference for two families is looked at again only when something about it changes. */
function isUnchangedPreference({ spec: now = {} }: Service, { spec: before = {} }: Service): boolean {
  const same = (left: readonly string[] | undefined, right: readonly string[] | undefined) => (left ?? []).join() === (right ?? []).join();
  if (now.ipFamilyPolicy !== "PreferDualStack" || before.ipFamilyPolicy !== "PreferDualStack") return false;
  return (
    isHeadless({ metadata: {}, spec: now }) === isHeadless({ metadata: {}, spec: before }) &&
    same(now.clusterIPs, before.clusterIPs) &&
    same(now.ipFamilies, before.ipFamilies)
  );
}

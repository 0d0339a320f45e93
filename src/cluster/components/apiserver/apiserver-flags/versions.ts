/** `--emulated-version`, `--min-compatibility-version` and `--runtime-config` (documentation page "Compatibility Version For Kubernetes Control Plane Components"). */
import { currentRelease } from "../../../../api/feature-gates.ts";
import { goQuote } from "../../../../apimachinery/go/go-quote.ts";
import { allGroups, compareReleases } from "../../../../apiserver/registry/versions/served-versions.ts";
import { apiVersionOf } from "../../../../apimachinery/object.ts";
import { parseBool } from "../../../../api/feature-gates.ts";
import { last, pairsOf } from "./flag-values.ts";
import type { Flags } from "./flag-values.ts";

/** The oldest release that can be emulated. */
const oldestRelease = "1.34";

export interface Releases {
  readonly emulated: string;
  readonly minCompatibility: string;
}

/** The releases that the server passes for, or what is wrong with the flags. */
export function readReleases(flags: Flags): Releases | { readonly faults: readonly string[] } {
  const asked = ["emulated-version", "min-compatibility-version"].map((name) => last(flags, name)?.replace(/^kube=/, ""));
  for (const text of asked) {
    if (text === undefined) continue;
    if (!/^v?\d+\.\d+(\.\d+)?$/.test(text)) return { faults: [`could not parse ${goQuote(text)} as version`] };
    if (text.split(".").length > 2) return { faults: [`patch version not allowed, got: kube=${text}`] };
  }
  const [emulated = currentRelease, minCompatibility] = asked.map((text) => text?.replace(/^v/, ""));
  const oldest = minCompatibility ?? later(previous(emulated), oldestRelease);
  const faults: string[] = [];
  if (!isBetween(emulated, oldestRelease, currentRelease)) faults.push(`emulation version ${emulated} is not between [${oldestRelease}, ${currentRelease}.0]`);
  const newestCompatible = compareReleases(emulated, currentRelease) > 0 ? currentRelease : emulated;
  if (!isBetween(oldest, oldestRelease, newestCompatible))
    faults.push(`minCompatibilityVersion version ${oldest} is not between [${oldestRelease}, ${emulated}]`);
  return faults.length > 0 ? { faults } : { emulated, minCompatibility: oldest };
}

const isBetween = (release: string, first: string, newest: string) => compareReleases(first, release) <= 0 && compareReleases(release, newest) <= 0;
const later = (left: string, right: string) => (compareReleases(left, right) < 0 ? right : left);

function previous(release: string): string {
  const [major, minor] = release.split(".").map(Number);
  return `${major}.${minor! - 1}`;
}

/** What is on and off, or what is wrong with the flag. */
export function readRuntimeConfig(flags: Flags): Readonly<Record<string, boolean>> | { readonly fault: string } {
  const config: Record<string, boolean> = {};
  const pairs = pairsOf(flags, "runtime-config");
  const unknown = new Set<string>();
  for (const [key, text] of pairs) {
    const value = text === "" ? true : parseBool(text);
    if (value === undefined) return { fault: `invalid value ${key}=${text}` };
    config[key] = value;
    const [group = "", version = ""] = key.includes("/") ? key.split("/") : ["", key];
    if (group === "api" && ["all", "ga", "beta", "alpha", "legacy"].includes(version)) continue;
    const versions = allGroups.filter((one) => one.group === group).flatMap((one) => one.versions);
    if (versions.length === 0) unknown.add(apiVersionOf(group, version));
    else if (key.split("/").length < 3 && !versions.some((one) => one.version === version) && !(bygoneVersions[group] ?? []).includes(version))
      return { fault: `group version ${key} that has not been registered` };
  }
  return unknown.size > 0 ? { fault: `unknown api groups ${[...unknown].join(",")}` } : config;
}

/** Versions that are no longer served and that upstream still knows. */
const bygoneVersions: Readonly<Record<string, readonly string[]>> = {
  "admissionregistration.k8s.io": ["v1beta1"],
  apps: ["v1beta1", "v1beta2"],
  "authentication.k8s.io": ["v1alpha1", "v1beta1"],
  "authorization.k8s.io": ["v1beta1"],
  batch: ["v1beta1"],
  "certificates.k8s.io": ["v1alpha1"],
  "discovery.k8s.io": ["v1beta1"],
  "events.k8s.io": ["v1beta1"],
  "flowcontrol.apiserver.k8s.io": ["v1beta1", "v1beta2", "v1beta3"],
  "networking.k8s.io": ["v1beta1"],
  "node.k8s.io": ["v1alpha1", "v1beta1"],
  policy: ["v1beta1"],
  "rbac.authorization.k8s.io": ["v1alpha1", "v1beta1"],
  "storage.k8s.io": ["v1alpha1", "v1beta1"],
};

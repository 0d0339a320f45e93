import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { deprecationText, servedGroups } from "./served-versions.ts";
import type { VersionChoice } from "./served-versions.ts";
import { conversionOf, storedKind } from "./stored-versions.ts";

const choice = (changes: Partial<VersionChoice>): VersionChoice => ({ runtimeConfig: {}, emulatedVersion: "1.37", isEnabled: () => false, ...changes });

/** Versions of a group that have something in them. */
function versionsOf(group: string, changes: Partial<VersionChoice>): string[] {
  const groups = servedGroups(choice(changes)).filter((one) => one.group === group);
  return groups
    .flatMap(({ versions }) => versions)
    .filter(({ resources }) => resources.length > 0)
    .map(({ version }) => version);
}

test("served versions: what flags and gates turn on and off", () => {
  const table: [group: string, changes: Partial<VersionChoice>, expected: string[]][] = [
    ["resource.k8s.io", {}, ["v1"]],
    ["resource.k8s.io", { runtimeConfig: { "api/all": true } }, ["v1", "v1beta2", "v1beta1", "v1alpha3"]],
    ["resource.k8s.io", { runtimeConfig: { "api/beta": true } }, ["v1", "v1beta2", "v1beta1"]],
    ["resource.k8s.io", { runtimeConfig: { "api/all": true, "api/alpha": false } }, ["v1", "v1beta2", "v1beta1"]],
    ["resource.k8s.io", { runtimeConfig: { "api/all": true, "resource.k8s.io/v1beta2": false } }, ["v1", "v1beta1", "v1alpha3"]],
    ["resource.k8s.io", { runtimeConfig: { "resource.k8s.io/v1beta1": true } }, ["v1", "v1beta1"]],
    ["autoscaling", { runtimeConfig: { "autoscaling/v1": false } }, ["v2"]],
    ["", { runtimeConfig: { "api/all": false, v1: true } }, ["v1"]],
    // A version whose kinds are all behind gates is not there without them.
    ["scheduling.k8s.io", { runtimeConfig: { "scheduling.k8s.io/v1beta1": true } }, ["v1"]],
    ["scheduling.k8s.io", { runtimeConfig: { "scheduling.k8s.io/v1beta1": true }, isEnabled: (gate) => gate === "GenericWorkload" }, ["v1", "v1beta1"]],
    ["lifecycle.k8s.io", { runtimeConfig: { "api/all": true } }, []],
    ["lifecycle.k8s.io", { runtimeConfig: { "api/all": true }, isEnabled: () => true }, ["v1alpha1"]],
    ["storagemigration.k8s.io", { emulatedVersion: "1.36" }, []],
    ["storagemigration.k8s.io", {}, ["v1"]],
  ];
  for (const [group, changes, expected] of table) deepEqual(versionsOf(group, changes), expected, `${group} ${JSON.stringify(changes)}`);
});

test("served versions: an emulated release lacks the kinds that came later", () => {
  const kinds = (emulatedVersion: string) =>
    servedGroups(choice({ emulatedVersion }))
      .find(({ group }) => group === "certificates.k8s.io")!
      .versions[0]!.resources.map(({ kind }) => kind);
  deepEqual(kinds("1.37"), ["CertificateSigningRequest", "ClusterTrustBundle", "PodCertificateRequest"]);
  deepEqual(kinds("1.36"), ["CertificateSigningRequest"]);
});

test("served versions: warnings of deprecation", () => {
  const table: [group: string, version: string, kind: string, release: string, expected: string | undefined][] = [
    ["", "v1", "Endpoints", "1.37", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"],
    ["coordination.k8s.io", "v1alpha2", "LeaseCandidate", "1.37", "coordination.k8s.io/v1alpha2 LeaseCandidate is deprecated in v1.35+, unavailable in v1.38+"],
    [
      "certificates.k8s.io",
      "v1beta1",
      "ClusterTrustBundle",
      "1.37",
      "certificates.k8s.io/v1beta1 ClusterTrustBundle is deprecated in v1.37+, unavailable in v1.40+; use certificates.k8s.io/v1 ClusterTrustBundle",
    ],
    ["certificates.k8s.io", "v1beta1", "ClusterTrustBundle", "1.36", undefined],
    ["lifecycle.k8s.io", "v1alpha1", "Eviction", "1.37", undefined],
    ["apps", "v1", "Deployment", "1.37", undefined],
  ];
  for (const [group, version, kind, release, expected] of table)
    equal(deprecationText(group, version, kind, release), expected, `${group}/${version} ${kind} ${release}`);
});

test("stored versions: one per kind, whatever is served", () => {
  const table: [group: string, kind: string, group: string, version: string][] = [
    ["events.k8s.io", "Event", "", "v1"],
    ["autoscaling", "HorizontalPodAutoscaler", "autoscaling", "v2"],
    ["resource.k8s.io", "DeviceTaintRule", "resource.k8s.io", "v1"],
    ["resource.k8s.io", "ResourcePoolStatusRequest", "resource.k8s.io", "v1alpha3"],
    ["coordination.k8s.io", "LeaseCandidate", "coordination.k8s.io", "v1beta1"],
    ["scheduling.k8s.io", "PodGroup", "scheduling.k8s.io", "v1beta1"],
    ["scheduling.k8s.io", "CompositePodGroup", "scheduling.k8s.io", "v1alpha3"],
  ];
  for (const [group, kind, storedGroup, version] of table) deepEqual(storedKind(group, kind), { group: storedGroup, version, kind });
  equal(conversionOf("apps", "v1", "Deployment"), undefined);
  const candidate = { kind: "LeaseCandidate", apiVersion: "coordination.k8s.io/v1alpha2", metadata: { name: "a" } };
  const conversion = conversionOf("coordination.k8s.io", "v1alpha2", "LeaseCandidate")!;
  equal(conversion.toStored(candidate).apiVersion, "coordination.k8s.io/v1beta1");
  deepEqual(conversion.fromStored(conversion.toStored(candidate)), candidate);
});

/** Kinds that are served on request only: their rules. */
import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { fieldErrorText } from "../apimachinery/field-error.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { storageVersions } from "./apiserverinternal-v1alpha1/storageversion.ts";
import { leaseCandidates } from "./coordination-v1beta1/leasecandidate.ts";
import { evictionRequests, evictions } from "./lifecycle-v1alpha1/evictions.ts";
import { resourcePoolStatusRequests } from "./resource-v1alpha3/poolstatusrequest.ts";
import { deviceTaintRules } from "./resource-v1/devicetaintrule.ts";
import { compositePodGroups } from "./scheduling-v1alpha3/compositepodgroup.ts";
import { podGroups } from "./scheduling-v1beta1/podgroup.ts";
import { workloads } from "./scheduling-v1beta1/workload.ts";
import type { KindStrategy, RuleContext } from "./strategy.ts";

const context = { nowMs: 0, isEnabled: () => true } as unknown as RuleContext;

function faults(strategy: KindStrategy, spec: object): string[] {
  const object = { metadata: { name: "a" }, spec } as unknown as KubeObject;
  strategy.defaults?.(object, 0);
  return (strategy.create.validate?.(object, context) ?? []).map(fieldErrorText);
}

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

test("kinds on request: what is refused", () => {
  const table: [strategy: KindStrategy, spec: object, expected: string[]][] = [
    [leaseCandidates, {}, ["spec.leaseName: Required value", "spec.binaryVersion: Required value", "spec.strategy: Required value"]],
    [
      leaseCandidates,
      { leaseName: "l", binaryVersion: "1.36.0", emulationVersion: "1.37.0", strategy: "OldestEmulationVersion" },
      ['spec.binaryVersion: Invalid value: "1.36.0": must be greater than or equal to `emulationVersion`'],
    ],
    [
      leaseCandidates,
      { leaseName: "l", binaryVersion: "x", strategy: "Y" },
      [
        'spec.binaryVersion: Invalid value: "x": must be a valid semantic version',
        'spec.strategy.strategy: Unsupported value: "Y": supported values: "OldestEmulationVersion"',
      ],
    ],
    [leaseCandidates, { leaseName: "l", binaryVersion: "1.10.0", emulationVersion: "1.9.0", strategy: "OldestEmulationVersion" }, []],
    [evictions, {}, ['spec.target: Invalid value: "": must specify one of: `pod`']],
    [
      evictionRequests,
      { target: { pod: { name: "q", uid: "u" } }, requester: "x", intent: "Y" },
      [
        'spec.target.pod.uid: Invalid value: "u": must be a lowercase UUID in 8-4-4-4-12 format',
        "spec.requester: Invalid value: \"x\": must include a prefix (e.g. 'example.com/key')",
        'spec.intent: Unsupported value: "Y": supported values: "Eviction", "Withdrawn"',
      ],
    ],
    [evictionRequests, { target: { pod: { name: "q", uid: "00000000-0000-4000-8000-000000000001" } }, requester: "a.example/b", intent: "Eviction" }, []],
    [resourcePoolStatusRequests, {}, ["spec.driver: Required value"]],
    [resourcePoolStatusRequests, { driver: "d.example", limit: 0 }, ["spec.limit: Invalid value: 0: must be greater than or equal to 1"]],
    [podGroups, {}, ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`']],
    [
      podGroups,
      { schedulingPolicy: { basic: {} }, disruptionMode: { single: {}, all: {} } },
      ['spec.disruptionMode: Invalid value: "{single, all}": must specify exactly one of: `single`, `all`'],
    ],
    [
      podGroups,
      { schedulingPolicy: { basic: {} }, workloadRef: { workloadName: "A_", templateName: "" } },
      [`spec.workloadRef.workloadName: Invalid value: "A_": ${subdomain}`, "spec.workloadRef.templateName: Required value"],
    ],
    [compositePodGroups, {}, ["spec.workloadRef: Required value", 'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`']],
    [workloads, {}, ['spec: Invalid value: "": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`']],
    [
      workloads,
      {
        podGroupTemplates: [
          { name: "g", schedulingPolicy: { gang: { minCount: 0 }, basic: {} } },
          { name: "g", schedulingPolicy: { basic: {} } },
        ],
      },
      [
        'spec.podGroupTemplates[1]: Duplicate value: {"name":"g","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}',
        'spec.podGroupTemplates[0].schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`',
        "spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Required value",
      ],
    ],
  ];
  for (const [strategy, spec, expected] of table) deepEqual(faults(strategy, spec), expected, `${strategy.gvk.kind} ${JSON.stringify(spec)}`);
});

test("kinds on request: templates of a workload stay", () => {
  const old = { metadata: {}, spec: { podGroupTemplates: [{ name: "g", schedulingPolicy: { basic: {} } }] } };
  const changed = { metadata: {}, spec: { podGroupTemplates: [{ name: "h", schedulingPolicy: { basic: {} } }] } };
  deepEqual(workloads.update.validate!(changed, old, context).map(fieldErrorText), ["spec.podGroupTemplates: Forbidden: item may not be removed"]);
  deepEqual(workloads.update.validate!(old, old, context), []);
});

test("kinds on request: what servers say of the version they store", () => {
  const status = (commonEncodingVersion: string | undefined, ...encodings: string[]) => ({
    metadata: {},
    status: {
      ...(commonEncodingVersion !== undefined && { commonEncodingVersion }),
      storageVersions: encodings.map((encodingVersion, index) => ({ apiServerID: `s${index}`, encodingVersion, decodableVersions: ["v1", "v2"] })),
    },
  });
  const said = (object: ReturnType<typeof status>) => storageVersions.status!.validate!(object, object, context).map(fieldErrorText).length;
  deepEqual(
    [
      said(status("v1", "v1", "v1")),
      said(status(undefined, "v1", "v2")),
      said(status("v1", "v1", "v2")),
      said(status("v2", "v1")),
      said(status(undefined, "v3")),
    ],
    [0, 0, 1, 1, 2],
  );
  deepEqual([storageVersions.nameRule("apps.deployments"), storageVersions.nameRule("x").length], [[], 1]);
});

test("device taint rules: the time of a taint", () => {
  const rule = (taint: object) => ({ metadata: {}, spec: { taint: { key: "k", effect: "NoExecute", ...taint } } });
  const before = "2020-01-01T00:00:00Z";
  const table: [given: object, expected: string][] = [
    [{}, before],
    [{ timeAdded: before }, before],
    [{ value: "other" }, "1970-01-01T00:00:01Z"],
    [{ effect: "NoSchedule", timeAdded: before }, "1970-01-01T00:00:01Z"],
    [{ value: "other", timeAdded: before }, before],
    [{ timeAdded: "2021-01-01T00:00:00Z" }, "2021-01-01T00:00:00Z"],
  ];
  for (const [given, expected] of table) {
    const changed = rule(given);
    deviceTaintRules.defaults!(changed, 1000);
    deviceTaintRules.update.prepare!(changed, rule({ timeAdded: before }), { ...context, nowMs: 1000 });
    equal((changed.spec.taint as { timeAdded?: string }).timeAdded, expected, JSON.stringify(given));
  }
});

/** Fields of pod specs behind feature gates: dropped while the gate is off, unless the stored object has them already. */
import type { RuleContext } from "../../strategy.ts";
import type { Container, KeyToPath, PodSpec } from "../types.ts";
import { containersWithPaths } from "./operating-system.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";

type Holder = Record<string, unknown>;
/** The objects that may hold a gated field, with its name. */
type Places = (spec: PodSpec) => readonly (readonly [holder: object | undefined, field: string])[];

const gated: readonly (readonly [gate: string, places: Places])[] = [
  ["AtomicWriteVolumeUserFields", userFields],
  [
    "ContainerRestartRules",
    (spec) => (spec.containers ?? []).flatMap((container) => [[container, "restartPolicyRules"] as const, [container, "restartPolicy"] as const]),
  ],
  ["ContainerStopSignals", (spec) => containersOf(spec).map(({ lifecycle }) => [lifecycle, "stopSignal"])],
  ["EmptyDirVolumeMode", (spec) => (spec.volumes ?? []).map(({ emptyDir }) => [emptyDir, "mode"])],
  ["EnvFiles", (spec) => containersOf(spec).flatMap(({ env = [] }) => env.map(({ valueFrom }) => [valueFrom, "fileKeyRef"] as const))],
  ["EvictionRequestAPI", (spec) => [[spec, "evictionResponders"]]],
  ["GenericWorkload", (spec) => [[spec, "schedulingGroup"]]],
  ["PodLevelResources", (spec) => [[spec, "resources"]]],
  ["GRPCContainerProbeTLS", (spec) => probesOf(spec).map(({ grpc }) => [grpc, "mode"])],
  ["H2CContainerProbe", (spec) => probesOf(spec).map(({ httpGet }) => [httpGet, "protocol"])],
];

/** `old`: the stored spec, absent on creation. */
export function dropDisabledFields(spec: PodSpec, old: PodSpec | undefined, context: Pick<RuleContext, "isEnabled">): void {
  for (const [gate, places] of gated) {
    if (context.isEnabled(gate) || (old !== undefined && places(old).some(isUsed))) continue;
    const signalling = gate === "ContainerStopSignals" ? containersOf(spec).filter(({ lifecycle }) => lifecycle?.stopSignal !== undefined) : [];
    for (const [holder, field] of places(spec)) if (holder !== undefined) delete (holder as Holder)[field];
    dropEmptied(signalling);
  }
}

/** A lifecycle that held nothing but a signal goes with it. */
function dropEmptied(containers: readonly Container[]): void {
  for (const container of containers) if (Object.keys(container.lifecycle ?? {}).length === 0) delete container.lifecycle;
}

function isUsed([holder, field]: readonly [object | undefined, string]): boolean {
  return holder !== undefined && (holder as Holder)[field] !== undefined;
}

function containersOf(spec: PodSpec) {
  return containersWithPaths(spec, FieldPath.root()).map(({ container }) => container);
}

function probesOf(spec: PodSpec) {
  return containersOf(spec).flatMap(({ livenessProbe, readinessProbe, startupProbe }) =>
    [livenessProbe, readinessProbe, startupProbe].filter((probe) => probe !== undefined),
  );
}

function userFields(spec: PodSpec): [object | undefined, string][] {
  const items = (list: readonly (KeyToPath | object)[] | undefined): [object, string][] => (list ?? []).map((item) => [item, "user"]);
  return (spec.volumes ?? []).flatMap(({ configMap, secret, downwardAPI, projected }) => [
    ...[configMap, secret, downwardAPI, projected].map((source): [object | undefined, string] => [source, "defaultUser"]),
    ...[configMap, secret, downwardAPI].flatMap((source) => items(source?.items)),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...[source.serviceAccountToken, source.clusterTrustBundle, source.podCertificate].map((member): [object | undefined, string] => [member, "user"]),
      ...[source.configMap, source.secret, source.downwardAPI].flatMap((member) => items(member?.items)),
    ]),
  ]);
}
